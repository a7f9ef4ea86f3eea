/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and clauses made one program: link.c. */
#ifndef K_LINK_H
#define K_LINK_H

#include "object.h"

struct k_clause {
	const struct ebpf_insn *insns;
	unsigned n;
	unsigned index; /* of the clause in its program */
};
struct k_input {
	const struct k_object *object;
	const struct ebpf_env *env; /* of the clauses: what their calls take */
	const uint64_t *strs;	    /* constant strings of the program */
	const struct k_clause *clauses;
	unsigned nclauses;
	enum k_entry entry; /* where it begins */
	bool erlang;	    /* there are Erlang VMs whose stacks are wanted */
	int arena_fd, buf_fd;
	uint64_t root;	/* k_root */
	unsigned nbufs; /* a power of two */
};
struct k_part {		  /* a function of the program */
	const char *name; /* NULL: a clause */
	unsigned at;	  /* its first instruction */
	unsigned nargs;	  /* numbers all; it gives one too */
};
struct k_output {
	struct ebpf_insn *insns;
	struct k_part *parts; /* the first is where it begins */
	unsigned ninsns, nparts;
};
/* The caller frees both arrays. */
int k_link(const struct k_input *in, struct k_output *out, struct et_error *e);

#endif
