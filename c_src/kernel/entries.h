/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs by number: entries.def. */
#ifndef K_ENTRIES_H
#define K_ENTRIES_H

enum k_entry {
#define ENTRY(name, ...) ENTRY_##name,
#include "entries.def"
	ENTRY_COUNT_
};
_Static_assert(ENTRY_COUNT_ <= 32, "a clause has a bit for each: struct kernel");

enum { K_UPROBE_MULTI = 48 }; /* an attach type newer than the headers may be */
enum { K_CLAUSES = 1, K_SLEEPS = 2, K_RETURN = 4 };

struct k_program {
	const char *function; /* of bpf/ */
	int type, attach;     /* BPF_PROG_TYPE_*; the attach type, or 0 */
	unsigned flags;
	const char *probes;	   /* for messages */
	const char *tracepoint[3]; /* NULL behind the last */
};
extern const struct k_program k_programs[ENTRY_COUNT_]; /* load.c */

#endif
