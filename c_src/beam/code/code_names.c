/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions and source files that frames of stacks name. Both get numbers, which are never
 * taken back: a frame can be told when its code is long gone. The same function or file gets the
 * same number, so that code which is loaded again and again takes no more room. Where there is none
 * left a frame is the function alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/term/atom_text.h"
#include "beam/vm/vm_facts.h"
#include "hash.h"
#include "code_names.h"

/* ---- functions ------------------------------------------------------------------------- */

#define FUNCTIONS (1u << FUNCTION_BITS)

struct code_function *code_functions[FUNCTIONS / FUNCTION_CHUNK];
static uint32_t most_functions = FUNCTIONS - 1;
static uint32_t nfunctions = 1; /* the first is none */
static uint32_t function_bucket[1u << 16];

uint32_t code_function_number(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	uint32_t *bucket = &function_bucket[beam_hash_fn(mod, fun, arity << 4) & 0xffff], n;
	struct code_function **chunk = &code_functions[nfunctions / FUNCTION_CHUNK];

	for (n = *bucket; n != 0; n = code_function_of(n)->next) {
		const struct code_function *f = code_function_of(n);

		if (f->mod == mod && f->fun == fun && f->arity == arity)
			return n;
	}
	if (nfunctions >= most_functions)
		return 0;
	if (*chunk == NULL)
		*chunk = calloc(FUNCTION_CHUNK, sizeof(struct code_function));
	if (*chunk == NULL)
		return 0;
	(*chunk)[nfunctions % FUNCTION_CHUNK] =
		(struct code_function){.mod = mod, .fun = fun, .arity = arity, .next = *bucket};
	*bucket = nfunctions;
	return nfunctions++;
}

/* ---- files ----------------------------------------------------------------------------- */

#define FILES	   (1u << FILE_BITS)
#define FILE_CHUNK 1024
#define FILE_BYTES (16u << 20) /* of all names */

struct code_file_name {
	uint32_t next; /* of its bucket */
	char name[];
};
static struct code_file_name **files[FILES / FILE_CHUNK];
static uint32_t nfiles = 1; /* the first is none */
static uint32_t most_files = FILES - 1;
static size_t file_bytes;
static uint32_t file_bucket[1u << 12];

static struct code_file_name *file_of(uint32_t number)
{
	return files[number / FILE_CHUNK][number % FILE_CHUNK];
}

uint32_t code_file_number(const char *name, size_t len)
{
	uint32_t *bucket = &file_bucket[hash_bytes(name, len) & 0xfff], n;
	struct code_file_name ***chunk = &files[nfiles / FILE_CHUNK], *f;

	for (n = *bucket; n != 0; n = file_of(n)->next)
		if (strlen(file_of(n)->name) == len && memcmp(file_of(n)->name, name, len) == 0)
			return n;
	if (nfiles >= most_files || file_bytes + len > FILE_BYTES || len == 0 ||
		memchr(name, '\0', len) != NULL)
		return 0;
	if (*chunk == NULL)
		*chunk = calloc(FILE_CHUNK, sizeof(**chunk));
	f = malloc(sizeof(*f) + len + 1);
	if (*chunk == NULL || f == NULL) {
		free(f);
		return 0;
	}
	f->next = *bucket;
	memcpy(f->name, name, len);
	f->name[len] = '\0';
	file_bytes += len;
	(*chunk)[nfiles % FILE_CHUNK] = f;
	*bucket = nfiles;
	return nfiles++;
}

void code_names_room(unsigned functions, unsigned nnames)
{
	most_functions = functions < FUNCTIONS - 1 ? functions : FUNCTIONS - 1;
	most_files = nnames < FILES - 1 ? nnames : FILES - 1;
}

/* ---- frames ---------------------------------------------------------------------------- */

static bool line_parts(
	uint64_t frame, struct code_function *f, const char **file, unsigned *line)
{
	uint32_t function = (uint32_t)(frame >> (FILE_BITS + LINE_BITS)) & (FUNCTIONS - 1);
	uint32_t name = (uint32_t)(frame >> LINE_BITS) & (FILES - 1);

	if (function == 0 || code_functions[function / FUNCTION_CHUNK] == NULL || name == 0 ||
		files[name / FILE_CHUNK] == NULL || file_of(name) == NULL)
		return false;
	*f = *code_function_of(function);
	*file = file_of(name)->name;
	*line = (unsigned)(frame & LINE_MASK);
	return true;
}

bool code_frame_parts(uint64_t frame, struct code_function *f, const char **file, unsigned *line)
{
	const uint64_t tag = atom_ok & 0x3f;

	if (!(frame & FRAME))
		return false;
	if (frame & FRAME_LINE)
		return line_parts(frame, f, file, line);
	f->mod = (frame >> (ATOM_BITS + 8) & ATOM_MASK) << 6 | tag;
	f->fun = (frame >> 8 & ATOM_MASK) << 6 | tag;
	f->arity = frame & 0xff;
	*file = NULL;
	return true;
}

bool code_frame_text(uint64_t frame, char *buf, size_t size)
{
	struct code_function f;
	const char *file;
	unsigned line;
	size_t n;

	if (!code_frame_parts(frame, &f, &file, &line))
		return false;
	n = beam_function_text(f.mod, f.fun, (unsigned)f.arity, buf, size);
	if (file != NULL && n < size)
		snprintf(buf + n, size - n, " (%s:%u)", file, line);
	return true;
}
