/* SPDX-License-Identifier: Apache-2.0 */
/* What clauses need of the engine: the shapes of their keys, and whether they read memory. */
#include "internal.h"

void en_key_init(struct en_key *k, const struct prog_val *keys, unsigned n, bool self)
{
	struct ebpf_keypart part[EBPF_MAX_KEYS];

	*k = (struct en_key){.n = (uint8_t)n, .self = self, .fixed = self ? 8 : 0};
	prog_key_parts(keys, n, part);
	for (unsigned i = 0; i < n; i++) {
		k->kind[i] = part[i].kind;
		k->size[i] = part[i].kind == EBPF_MEM ? part[i].size : 8;
		k->nstr += part[i].kind == EBPF_STR;
		k->fixed += part[i].kind == EBPF_STR ? 4 : k->size[i];
	}
}

static bool walks_stack(int64_t bi)
{
	return bi == BI_CALLER || bi == BI_UCALLER || bi == BI_STACKDEPTH || bi == BI_USTACKDEPTH;
}

static bool clause_reads_memory(const struct prog_clause *c)
{
	int64_t r2 = -1; /* the last constant put there: which built-in variable a call means */

	for (unsigned i = 0; i < c->ninsns; i++) {
		const struct ebpf_insn *in = &c->insns[i];

		if (in->code == EBPF_LDDW)
			i++;
		else if (in->code == EBPF_MOV64_IMM && in->dst == R2)
			r2 = in->imm;
		if (in->code != EBPF_CALL || in->imm < 0 || in->imm >= RT_COUNT_)
			continue;
		if ((rt_flags((enum rt_fn)in->imm) & RT_FAULTS) || in->imm == RT_stack ||
			(in->imm == RT_var && walks_stack(r2)))
			return true;
	}
	return false;
}

/* Does it call anything that reads or writes memory which may not be there? */
bool en_reads_memory(const struct prog *p)
{
	for (unsigned i = 0; i < p->nclauses; i++)
		if (clause_reads_memory(p->clauses[i]))
			return true;
	return false;
}
