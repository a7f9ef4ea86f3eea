/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs of entries.def: program.c. */
#ifndef K_PROGRAM_H
#define K_PROGRAM_H

#include "entries.h"
#include "error.h"

struct en;

enum { K_UPROBE_MULTI = 48 }; /* an attach type newer than the headers may be */
enum { K_CLAUSES = 1, K_SLEEPS = 2, K_RETURN = 4 };

struct k_program {
	const char *function; /* of bpf/ */
	int type, attach;     /* BPF_PROG_TYPE_*; the attach type, or 0 */
	unsigned flags;
	const char *probes;	   /* for messages */
	const char *tracepoint[3]; /* NULL behind the last */
};
extern const struct k_program k_programs[ENTRY_COUNT_];

/* Link and load one; all probes are shared before. Its fd, which k_detach closes, or -1. */
int k_load(struct en *en, enum k_entry entry, struct et_error *e);

#endif
