/* SPDX-License-Identifier: Apache-2.0 */
/* Names of JIT-compiled code, from the map that a process writes for perf: perfmap.c. */
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
	off_t at;      /* offset read up to */
	bool skipping; /* inside a line that is too long */
	bool cut;      /* truncated by a limit */
};

void pm_read(struct perfmap *m, int pid); /* read what was appended since */
const struct pm_code *pm_find(const struct perfmap *m, uint64_t addr); /* NULL: none */
void pm_free(struct perfmap *m);

#endif
