/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables by which the kernel's half walks stacks: one for each program or library, whatever
 * number of processes has it. They are in memory that is bounded, and stay there as long as the
 * script runs. Rules are few and repeat in all files, so all tables share those.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"
#include "engine/region.h"
#include "engine/state.h"
#include "symbols/eh_frame.h"
#include "unwind_tables.h"

#define POOL	  (16u << 20) /* bytes for all tables */
#define LATE_POOL (4u << 20)  /* where the kernel takes all of it at once */
enum { MOST_RULES = 16384, HASHES = 2 * MOST_RULES };
enum { MOST_OF_POOL = 2 }; /* a file may have a half of it */

bool k_tables_init(struct en *en, struct k_unwind_tables *t)
{
	*t = (struct k_unwind_tables){.size = en->shared.late ? LATE_POOL : POOL};
	t->pool = en_alloc_pages(en, t->size, 0);
	t->by_hash = calloc(HASHES, sizeof(*t->by_hash));
	if (t->pool == NULL || t->by_hash == NULL)
		return false;
	t->rules = k_pool_alloc(t, MOST_RULES * sizeof(*t->rules));
	t->nrules = 1; /* the first is UNWIND_NONE */
	return t->rules != NULL;
}

void k_tables_free(struct k_unwind_tables *t)
{
	struct k_unwind_file *f;

	while ((f = t->files) != NULL) {
		t->files = f->next;
		elf_free(&f->elf);
		free(f);
	}
	free(t->by_hash);
}

void *k_pool_alloc(struct k_unwind_tables *t, size_t size)
{
	void *at = t->pool + t->used;

	size = align_up(size, 8);
	if (size > t->size - t->used) {
		t->cut = true;
		return NULL;
	}
	t->used += size;
	return at;
}

/* ---- rules ------------------------------------------------------------------------------ */

static uint16_t number_of(struct k_unwind_tables *t, const struct unwind_rule *r)
{
	uint64_t word = unwind_word(r), h = word * 0x9e3779b97f4a7c15 >> 49;

	if (r->cfa == UNWIND_NONE)
		return 0;
	for (;; h = (h + 1) % HASHES) {
		uint16_t n = t->by_hash[h % HASHES];

		if (n != 0 && unwind_word(&t->rules[n]) == word)
			return n;
		if (n == 0)
			break;
	}
	if (t->nrules == MOST_RULES) {
		t->cut = true;
		return 0;
	}
	t->rules[t->nrules] = *r;
	t->by_hash[h % HASHES] = (uint16_t)t->nrules;
	return (uint16_t)t->nrules++;
}

/* ---- tables ----------------------------------------------------------------------------- */

/* All of a table: its parts one behind the other. NULL: no room, or a file wants too much of it. */
static struct k_table *new_table(struct k_unwind_tables *t, size_t rows, size_t blocks)
{
	size_t index = (blocks + 1) * sizeof(uint32_t), rules = rows * sizeof(uint16_t);
	size_t size = sizeof(struct k_table) + index + rules + rows;
	struct k_table *table = NULL;
	uint64_t at;

	if (size > t->size / MOST_OF_POOL)
		t->cut = true;
	else
		table = k_pool_alloc(t, size);
	if (table == NULL)
		return NULL;
	at = (uint64_t)(uintptr_t)(table + 1);
	*table = (struct k_table){
		.index = at, .rules = at + index, .at = at + index + rules, .blocks = blocks};
	return table;
}

static const struct k_table *make_table(struct k_unwind_tables *t, const struct unwind_rows *rows)
{
	size_t n = rows->n, row = 0;
	struct k_table *table = new_table(t, n, (rows->row[n - 1].pc >> K_BLOCK_SHIFT) + 1);
	uint32_t *index;
	uint16_t *rules;
	uint8_t *at;

	if (table == NULL)
		return NULL;
	index = (uint32_t *)(uintptr_t)table->index;
	rules = (uint16_t *)(uintptr_t)table->rules;
	at = (uint8_t *)(uintptr_t)table->at;
	for (size_t i = 0; i < n; i++) {
		at[i] = (uint8_t)rows->row[i].pc;
		rules[i] = number_of(t, &rows->row[i].rule);
	}
	for (size_t b = 0; b <= table->blocks; b++) {
		while (row < n && rows->row[row].pc >> K_BLOCK_SHIFT < b)
			row++;
		index[b] = (uint32_t)row;
	}
	return table;
}

/* ---- files ------------------------------------------------------------------------------ */

static struct k_unwind_file *find(const struct k_unwind_tables *t, const struct stat *st)
{
	struct k_unwind_file *f = t->files;

	while (f != NULL &&
		(f->dev != st->st_dev || f->inode != st->st_ino ||
			f->size != (uint64_t)st->st_size || f->changed != (uint64_t)st->st_mtime))
		f = f->next;
	return f;
}

static const struct k_unwind_file *add(struct k_unwind_tables *t, int fd, const struct stat *st)
{
	struct k_unwind_file *f = calloc(1, sizeof(*f));
	struct unwind_rows rows;

	if (f == NULL)
		return NULL;
	f->dev = st->st_dev;
	f->inode = st->st_ino;
	f->size = (uint64_t)st->st_size;
	f->changed = (uint64_t)st->st_mtime;
	f->next = t->files;
	t->files = f;
	if (!elf_read_segments(&f->elf, fd) || !unwind_read(&rows, fd))
		return f;
	t->cut |= rows.cut;
	f->base = rows.base;
	f->table = make_table(t, &rows);
	unwind_free(&rows);
	return f;
}

const struct k_unwind_file *k_unwind_file(struct k_unwind_tables *t, int fd)
{
	const struct k_unwind_file *f;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	f = find(t, &st);
	return f != NULL ? f : add(t, fd, &st);
}

/* Every process has the same; our own can be read. */
const struct k_unwind_file *k_unwind_vdso(struct k_unwind_tables *t, size_t size)
{
	const void *image = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const struct stat none = {0};
	const struct k_unwind_file *f = find(t, &none);
	int fd;

	if (f != NULL || image == NULL)
		return f;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (write(fd, image, size) == (ssize_t)size) /* fails where less of it is mapped here */
		f = add(t, fd, &none);
	close(fd);
	return f;
}
