/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /tmp/perf-PID.map: a line "start size name", hexadecimal, for each piece of JIT-compiled code;
 * the BEAM writes it with +JPperf true, and other VMs do too. The process appends to it, so each
 * call reads what is new. It may contain anything: the length of lines, their number and the total
 * size are limited.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc_file.h"
#include "perfmap.h"

#define MAX_LINES (1u << 20)
#define MAX_BYTES (128 << 20)
enum { CHUNK = 1 << 16, MAX_LINE = 4096 };

static void add_line(struct perfmap *m, char *line, size_t len)
{
	struct pm_code c, *more;
	int at = 0;

	line[len] = '\0';
	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &c.start, &c.size, &at) < 2 || at == 0)
		return;
	if (m->n == m->room) {
		size_t room = m->room ? 2 * m->room : 64;

		more = realloc(m->code, room * sizeof(*more));
		if (more == NULL)
			return;
		m->code = more;
		m->room = room;
	}
	c.name = strdup(line + at);
	if (c.name != NULL)
		m->code[m->n++] = c;
}

/* Parse the lines of a chunk; returns how much of it was consumed. */
static size_t add_lines(struct perfmap *m, char *buf, size_t len)
{
	size_t at = 0;
	char *end;

	while (m->n < MAX_LINES && (end = memchr(buf + at, '\n', len - at)) != NULL) {
		if (!m->skipping && (size_t)(end - buf) - at < MAX_LINE)
			add_line(m, buf + at, (size_t)(end - buf) - at);
		m->skipping = false;
		at = (size_t)(end - buf) + 1;
	}
	if (m->n < MAX_LINES && len - at >= MAX_LINE) {
		m->skipping = true;
		at = len;
	}
	return at;
}

static int by_start(const void *a, const void *b)
{
	const struct pm_code *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void read_more(struct perfmap *m, int fd)
{
	char *buf = malloc(CHUNK + 1);
	size_t done = 1;
	ssize_t n;

	while (buf != NULL && done > 0 && m->at < MAX_BYTES && m->n < MAX_LINES) {
		n = pread(fd, buf, CHUNK, m->at);
		if (n <= 0)
			break;
		done = add_lines(m, buf, (size_t)n);
		m->at += (off_t)done;
	}
	m->cut |= m->at >= MAX_BYTES || m->n >= MAX_LINES;
	free(buf);
}

/* If the process has ended, or the file was removed, what was read before stays. */
void pm_read(struct perfmap *m, int pid)
{
	int fd = fi_open_perf_map(pid);
	size_t before = m->n;
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0) {
		if (st.st_dev != m->dev || st.st_ino != m->ino || st.st_size < m->at) {
			pm_free(m);
			m->dev = st.st_dev;
			m->ino = st.st_ino;
			before = 0;
		}
		read_more(m, fd);
	}
	close(fd);
	if (m->n > before)
		qsort(m->code, m->n, sizeof(*m->code), by_start);
}

const struct pm_code *pm_find(const struct perfmap *m, uint64_t addr)
{
	size_t lo = 0, hi = m->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (m->code[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && addr - m->code[lo - 1].start < m->code[lo - 1].size ? &m->code[lo - 1]
									     : NULL;
}

void pm_free(struct perfmap *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->code[i].name);
	free(m->code);
	*m = (struct perfmap){0};
}
