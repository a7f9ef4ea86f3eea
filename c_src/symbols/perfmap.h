/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code that a process made itself, as it tells perf: perfmap.c. */
#ifndef PERFMAP_H
#define PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pm_code {
	uint64_t start, size;
	char *name;
};
struct perfmap {
	struct pm_code *code; /* by start */
	size_t n, room;
	dev_t dev;
	ino_t ino;
	off_t at;      /* what was read of the file */
	bool skipping; /* the rest of a line that is too long */
	bool cut;      /* there is more than is taken */
};

void pm_read(struct perfmap *m, int pid); /* what it has got since the last time */
const struct pm_code *pm_find(const struct perfmap *m, uint64_t addr); /* NULL: none */
void pm_free(struct perfmap *m);

#endif
