/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address -> module`symbol+offset, from /proc/PID/maps and the symbol tables of the files mapped
 * there (elf.c). What cannot be told stays 0xADDR. Files are read when an address
 * of theirs first turns up; maps again when an address is in none, at most once a second.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "co.h"
#include "elf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_MAPS 65536

struct sy_file {
	struct sy_file *next;
	char *path;
	bool read;
	struct elf elf;
};
struct sy_map {
	uint64_t start, end, off;
	struct sy_file *file;
};
struct sy {
	int pid;
	struct sy_map *maps;
	size_t nmaps;
	struct sy_file *files;
	time_t read_at;
	bool read;
	const struct en *en; /* asked first: a frame may be none of C's */
};

struct sy *sy_new(int pid, const struct en *en)
{
	struct sy *sy = calloc(1, sizeof(*sy));

	if (sy != NULL) {
		sy->pid = pid;
		sy->en = en;
	}
	return sy;
}

void sy_free(struct sy *sy)
{
	struct sy_file *f;

	if (sy == NULL)
		return;
	while ((f = sy->files) != NULL) {
		sy->files = f->next;
		free(f->path);
		elf_free(&f->elf);
		free(f);
	}
	free(sy->maps);
	free(sy);
}

/* ---- files ---------------------------------------------------------------------------- */

static void read_file(struct sy *sy, struct sy_file *f)
{
	char path[4200];
	struct stat st;
	int fd;

	f->read = true;
	if (sy->pid)
		snprintf(path, sizeof(path), "/proc/%d/root%s", sy->pid, f->path);
	else
		snprintf(path, sizeof(path), "%s", f->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		elf_read(&f->elf, fd);
	close(fd);
}

/* ---- maps ----------------------------------------------------------------------------- */

static struct sy_file *file_of(struct sy *sy, const char *path)
{
	struct sy_file *f;

	for (f = sy->files; f != NULL; f = f->next)
		if (strcmp(f->path, path) == 0)
			return f;
	f = calloc(1, sizeof(*f));
	if (f == NULL || (f->path = strdup(path)) == NULL) {
		free(f);
		return NULL;
	}
	f->next = sy->files;
	sy->files = f;
	return f;
}

static void add_map(struct sy *sy, char *line)
{
	uint64_t start, end, off;
	struct sy_map *maps;
	char *path = strchr(line, '/');

	if (path == NULL ||
		sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &off) != 3 ||
		sy->nmaps >= MAX_MAPS)
		return;
	path[strcspn(path, "\n")] = '\0';
	if ((sy->nmaps & (sy->nmaps - 1)) == 0) {
		maps = realloc(sy->maps, (sy->nmaps ? sy->nmaps * 2 : 1) * sizeof(*maps));
		if (maps == NULL)
			return;
		sy->maps = maps;
	}
	sy->maps[sy->nmaps] = (struct sy_map){start, end, off, file_of(sy, path)};
	if (sy->maps[sy->nmaps].file != NULL)
		sy->nmaps++;
}

static void read_maps(struct sy *sy)
{
	struct timespec now;
	char path[64], *line = NULL;
	size_t cap = 0;
	FILE *fp;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (sy->read && now.tv_sec == sy->read_at)
		return;
	sy->read = true;
	sy->read_at = now.tv_sec;
	sy->nmaps = 0;
	if (sy->pid)
		snprintf(path, sizeof(path), "/proc/%d/maps", sy->pid);
	else
		snprintf(path, sizeof(path), "/proc/self/maps");
	fp = fopen(path, "re");
	if (fp == NULL)
		return;
	while (getline(&line, &cap, fp) > 0)
		add_map(sy, line);
	free(line);
	fclose(fp);
}

static struct sy_map *find_map(struct sy *sy, uint64_t addr)
{
	size_t lo = 0, hi = sy->nmaps, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (addr < sy->maps[mid].start)
			hi = mid;
		else if (addr >= sy->maps[mid].end)
			lo = mid + 1;
		else
			return &sy->maps[mid];
	}
	return NULL;
}

/* ---- the search ----------------------------------------------------------------------- */

enum sy_form sy_form_of(unsigned act)
{
	return act == ACT_MOD || act == ACT_UMOD ? SY_MOD : act == ACT_UADDR ? SY_ADDR : SY_SYM;
}

void sy_format(struct sy *sy, uint64_t addr, enum sy_form form, char *buf, size_t size)
{
	const struct elf_sym *s = NULL;
	struct sy_map *m;
	const char *mod;
	uint64_t at = 0;

	if (sy != NULL && sy->en != NULL && en_frame(sy->en, addr, buf, size))
		return;
	m = sy ? find_map(sy, addr) : NULL;
	if (m == NULL && sy != NULL && addr != 0) {
		read_maps(sy);
		m = find_map(sy, addr);
	}
	if (m == NULL) {
		snprintf(buf, size, "0x%" PRIx64, addr);
		return;
	}
	mod = strrchr(m->file->path, '/') + 1;
	if (form == SY_MOD) {
		snprintf(buf, size, "%s", mod);
		return;
	}
	if (!m->file->read)
		read_file(sy, m->file);
	if (elf_address(&m->file->elf, addr - m->start + m->off, &at))
		s = elf_symbol(&m->file->elf, at);
	if (s == NULL)
		snprintf(buf, size, "%s`0x%" PRIx64, mod, addr);
	else if (form == SY_SYM || at == s->value)
		snprintf(buf, size, "%s`%s", mod, m->file->elf.strs + s->name);
	else
		snprintf(
			buf, size, "%s`%s+0x%" PRIx64, mod, m->file->elf.strs + s->name, at - s->value);
}
