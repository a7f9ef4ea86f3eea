/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs of entries.def: program.c. */
#ifndef K_PROGRAM_H
#define K_PROGRAM_H

#include "entries.h"
#include "error.h"

struct en;

enum { K_UPROBE_MULTI = 48 }; /* an attach type newer than the headers may be */
enum { K_CLAUSES = 1, K_SLEEPS = 2, K_RETURN = 4, K_OWN = 8 };

struct k_program {
	const char *function; /* of bpf/ */
	int type, attach;     /* BPF_PROG_TYPE_*; the attach type, or 0 */
	unsigned flags;
	const char *probes;	   /* for messages */
	const char *tracepoint[3]; /* NULL behind the last */
};
extern const struct k_program k_programs[ENTRY_COUNT_];

/* A program of one probe (K_OWN): its clauses are those of the probe. */
struct k_own {
	struct en_probe *probe; /* as k_share_probe() gave it: k_probe, in the kernel's half */
	uint32_t words;		/* of its context that it reads: k_words, a bit for each */
	uint32_t btf_id;	/* of what it is attached to, if that is said when it is loaded */
	int btf_fd;		/* of the module that has it; 0: vmlinux */
};

/*
 * Link and load one; all probes are shared before. own: NULL, but for K_OWN. Its fd, which k_detach
 * closes, or -1.
 */
int k_load(struct en *en, enum k_entry entry, const struct k_own *own, struct et_error *e);

#endif
