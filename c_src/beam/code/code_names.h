/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of Erlang stacks as words that outlive their code (code_names.c). Two words are equal if
 * and only if their texts are.
 *
 *   a function	     2^63, the numbers of two atoms (26 bits each), the arity (8)
 *   with its line   2^63, 2^62, the function (20), the file (18), the line (24), the former two as
 *		     they are numbered here
 */
#ifndef BEAM_CODE_NAMES_H
#define BEAM_CODE_NAMES_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/atoms.h"
#include "compiler.h"

#pragma GCC visibility push(hidden)

#define FRAME	       (1ULL << 63)
#define FRAME_LINE     (1ULL << 62)
#define ATOM_BITS      26
#define ATOM_MASK      ((1ULL << ATOM_BITS) - 1)
#define LINE_BITS      24
#define LINE_MASK      ((1ULL << LINE_BITS) - 1)
#define FILE_BITS      18
#define FUNCTION_BITS  20

/*
 * Functions and files are numbered from 1 on, and stay. Numbers are given by one thread at a time.
 */
struct code_function {
	ERL_NIF_TERM mod, fun, arity; /* as they lie in front of a function: arity is no term */
	uint32_t next;		      /* of its bucket */
};
#define FUNCTION_CHUNK 4096
extern struct code_function *code_functions[(1u << FUNCTION_BITS) / FUNCTION_CHUNK];
uint32_t code_function_number(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity); /* 0: no room */
uint32_t code_file_number(const char *name, size_t len); /* 0: no room */

static inline const struct code_function *code_function_of(uint32_t number)
{
	return &code_functions[number / FUNCTION_CHUNK][number % FUNCTION_CHUNK];
}

/* The function alone; 0: this is none. (probe path) */
PROBE_PATH static inline uint64_t code_frame(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	const uint64_t tag = atom_ok & 0x3f;

	if ((mod & 0x3f) != tag || (fun & 0x3f) != tag || mod >> 6 > ATOM_MASK ||
		fun >> 6 > ATOM_MASK)
		return 0;
	return FRAME | mod >> 6 << (ATOM_BITS + 8) | fun >> 6 << 8 | (arity & 0xff);
}

/* None of the three is 0. (probe path) */
static inline uint64_t code_frame_line(uint32_t function, uint32_t file, uint32_t line)
{
	return FRAME | FRAME_LINE | (uint64_t)function << (FILE_BITS + LINE_BITS) |
	       (uint64_t)file << LINE_BITS | line;
}

/* A frame without its file and line. (probe path) */
static inline uint64_t code_frame_function(uint64_t frame)
{
	const struct code_function *f;

	if ((frame & (FRAME | FRAME_LINE)) != (FRAME | FRAME_LINE))
		return frame;
	f = code_function_of((uint32_t)(frame >> (FILE_BITS + LINE_BITS)) &
			     ((1u << FUNCTION_BITS) - 1));
	return code_frame(f->mod, f->fun, (unsigned)f->arity);
}

void code_names_room(unsigned functions, unsigned files); /* tests: for so many */
/* *file: NULL: without its line. false: no frame. */
bool code_frame_parts(uint64_t frame, struct code_function *f, const char **file, unsigned *line);
/* 'mod:fun/1', or 'mod:fun/1 (file.erl:12)'; false: no frame. */
bool code_frame_text(uint64_t frame, char *buf, size_t size);

#pragma GCC visibility pop
#endif
