/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops, so that the verifier sees that they end.
 *
 * With an arena every jump back counts by an instruction of the kernel's, may_goto, whose count the
 * verifier does not follow. A verifier without it follows each turn. So a function has a count on
 * its stack, which goes down where a loop begins; loops in one another, a nest, share it, and it is
 * set where the nest is entered. The turns are so many that the instructions in them stay within a
 * budget. A function that takes more of them ends, and is counted in memory (link.h: cut). One that
 * runs programs may run as many as there are: if the verifier does not follow so many, it says so.
 * Where the kernel has bpf_loop(), most loops are its (loop.c); these are those that call
 * functions, and those that the stack is too short for (depth.c).
 *
 * All ways that lead to the same count are one way to the verifier only if it knows the same of
 * registers there. So where a loop begins it forgets what it knows of numbers that the loop
 * changes: a 0 of memory is added to them, of which it does not know that it is one.
 *
 * Old verifiers do not take it that a loop is closed by anything but a jump: so one goes before
 * each instruction that others jump to (link.c), which the kernel takes out again.
 */
#include <stdlib.h>

#include "piece.h"

enum {
	LEAST_TURNS = 24,
	MOST_TURNS = 4096,
	MOST_BRANCHES = 6000, /* the verifier keeps 8192 ways that it has not gone yet */
};

static bool turns_back(const struct body *b, unsigned at)
{
	return b->turns[at] && loop_at(b, at) == NULL;
}

/* The last jump back to an instruction; 0: no loop begins there. */
static unsigned last_turn(const struct body *b, unsigned head)
{
	for (unsigned i = b->p->n; i-- > head;)
		if (!(i > 0 && b->p->insns[i - 1].code == EBPF_LDDW) && turns_back(b, i) &&
			flow_target(&b->p->insns[i], i) == head)
			return i + 1;
	return 0;
}

/* ---- nests of loops --------------------------------------------------------------------- */

/* By instruction: the number of the nest that it is in, from 1 on; 0: in none. */
static void find_nests(struct body *b)
{
	unsigned id = 0, end = 0;

	for (unsigned i = 0; i < b->p->n; i++) {
		unsigned last = last_turn(b, i);

		if (i >= end && last > 0)
			id++;
		if (last > end)
			end = last;
		b->nest[i] = i < end ? id : 0;
	}
}

/* A nest: its instructions, their branches and jumps back; does it run programs? */
struct nest {
	unsigned insns, branches, turns;
	bool runs;
};

static struct nest nest_of(const struct body *b, unsigned id)
{
	struct nest all = {0, 0, 0, false};

	for (unsigned i = 0; i < b->p->n; i++) {
		const struct ebpf_insn *in = &b->p->insns[i];
		const struct ebpf_symbol *s = link_symbol(b->l, flow_reloc(b->p, i));

		if (b->nest[i] == id) {
			all.insns++;
			all.branches += flow_is_jump(in) && flow_goes_on(in);
			all.turns += turns_back(b, i);
			all.runs |= s != NULL && s->kind == EBPF_SYM_RUN;
		}
		if (in->code == EBPF_LDDW)
			i++;
	}
	return all;
}

/* About so many instructions does the verifier follow for one: an access is several. */
enum { INSNS_OF_ONE = 3 };

/* Are they counted only because the stack is short (depth.c)? These are few, and may be long. */
enum { OF_FEW = 4 };
static bool is_for_depth(const struct body *b)
{
	return b->l->in->loops && b->p->func != NULL &&
	       b->l->counted[b->p->func - b->l->in->object->funcs];
}

/* The count of a nest, where it begins: how many turns it may take. */
static void set_turns(struct body *b, unsigned id)
{
	struct link *l = b->l;
	struct nest all = nest_of(b, id);
	unsigned turn = INSNS_OF_ONE * all.insns * (all.turns > 1 ? 2 : 1),
		 turns = l->in->budget * (is_for_depth(b) ? OF_FEW : 1) / turn;

	if (turns > MOST_BRANCHES / (all.branches + 1))
		turns = MOST_BRANCHES / (all.branches + 1);
	if (turns > MOST_TURNS)
		turns = MOST_TURNS;
	if (turns < LEAST_TURNS)
		turns = LEAST_TURNS;
	if (all.runs && (l->in->loops || turns < LEAST_TURNS + l->in->runs))
		turns = (l->in->loops ? 2 : LEAST_TURNS) + l->in->runs;
	if (id > b->nests) { /* not seen before */
		l->follows += (uint64_t)turns * turn;
		b->nests = id;
	}
	link_emit(l, EBPF_STDW, R10, 0, -b->count, (int32_t)turns);
}

void bound_open(struct body *b)
{
	if (b->l->in->window == 0)
		return;
	find_nests(b);
	for (unsigned i = 0; i < b->p->n; i++)
		if (b->nest[i] != 0) { /* a word for the count, below the function's own */
			b->count = b->frame += 8;
			break;
		}
}

/* From the instruction before; a nest's first instruction has been entered from outside. */
void bound_fall(struct body *b, unsigned at)
{
	if (b->nest[at] != 0 && b->callback == NULL &&
		(at == 0 || (b->nest[at - 1] != b->nest[at] && loop_lays_out(b, at - 1) &&
				    flow_goes_on(&b->p->insns[at - 1]))))
		set_turns(b, b->nest[at]);
}

void bound_enter(struct body *b, unsigned from, unsigned to)
{
	if (b->nest[to] != 0 && b->nest[to] != b->nest[from])
		set_turns(b, b->nest[to]);
}

bool bound_enters(const struct body *b, unsigned at)
{
	unsigned to = flow_target(&b->p->insns[at], at);

	return b->nest[to] != 0 && b->nest[to] != b->nest[at];
}

/* Jumps into a nest go by here: to an instruction, which aim() is told of. */
void bound_ways_in(struct body *b)
{
	for (unsigned i = 0; i < b->p->n && b->l->in->window != 0 && b->callback == NULL; i++) {
		const struct ebpf_insn *in = &b->p->insns[i];
		unsigned to = flow_is_jump(in) ? flow_target(in, i) : 0;

		if (flow_is_jump(in) && loop_lays_out(b, i) && !loop_takes(b, i) &&
			bound_enters(b, i) && b->way_in[to] == 0) {
			b->way_in[to] = b->l->n;
			set_turns(b, b->nest[to]);
			link_emit(b->l, EBPF_JA, 0, 0, 0, 0);
		}
		if (in->code == EBPF_LDDW)
			i++;
	}
}

/* ---- numbers on the stack that a loop changes ------------------------------------------- */

enum { WORDS = 64 }; /* of a stack, from the top */

static int word_of(const struct ebpf_insn *in, unsigned base)
{
	return base == R10 && in->off < 0 && in->off % 8 == 0 && (in->code & 0x18) == 0x18
		       ? -in->off / 8 - 1
		       : -1;
}

/* Words that are written and read between two instructions. */
static uint64_t changed_words(const struct piece *p, unsigned from, unsigned to)
{
	uint64_t read = 0, written = 0;

	for (unsigned i = from; i < to; i++) {
		const struct ebpf_insn *in = &p->insns[i];
		unsigned class = in->code & 7;
		int word = class == CLASS_LDX	? word_of(in, in->src)
			   : class == CLASS_STX ? word_of(in, in->dst)
						: -1;

		if (word >= 0 && class == CLASS_LDX)
			read |= 1ULL << word;
		else if (word >= 0)
			written |= 1ULL << word;
		if (in->code == EBPF_LDDW)
			i++;
	}
	return read & written;
}

/* Words that have been written whole on every way to the instruction. */
static uint64_t sure_words(const struct piece *p, unsigned head)
{
	uint64_t *sure = malloc((p->n + 1) * sizeof(*sure)), found = 0;
	bool changed = sure != NULL;

	for (unsigned i = 0; sure != NULL && i <= p->n; i++)
		sure[i] = i == 0 ? 0 : UINT64_MAX;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < p->n; i++) {
			const struct ebpf_insn *in = &p->insns[i];
			unsigned next = i + (in->code == EBPF_LDDW ? 2 : 1), to = next;
			uint64_t out = sure[i];
			int word = (in->code & 7) == CLASS_STX ? word_of(in, in->dst) : -1;

			if (word >= 0)
				out |= 1ULL << word;
			if (flow_is_jump(in))
				to = flow_target(in, i);
			if (sure[to] & ~out && (flow_is_jump(in) || flow_goes_on(in))) {
				sure[to] &= out;
				changed = true;
			}
			if (flow_goes_on(in) && (sure[next] & ~out)) {
				sure[next] &= out;
				changed = true;
			}
			if (in->code == EBPF_LDDW)
				i++;
		}
	}
	if (sure != NULL)
		found = sure[head];
	free(sure);
	return found;
}

/* ---- where a loop begins ---------------------------------------------------------------- */

static int take(struct body *b, unsigned at, int besides, int local, bool *lent)
{
	int reg = pointer_free(b, at, besides);

	*lent = reg < 0;
	if (*lent)
		pointer_lend(b, reg = besides == R0 ? R1 : R0, local);
	return reg;
}

/* The verifier is to forget what it knows of them. */
static void forget(struct body *b, unsigned at, unsigned regs, uint64_t words)
{
	struct link *l = b->l;
	bool lent, lent_too = false;
	int zero, other;

	if (regs == 0 && words == 0)
		return;
	zero = take(b, at, R10, LOCAL_LENT, &lent);
	pointer_constant(l, zero, l->in->zero);
	link_emit(l, EBPF_LDXDW, zero, zero, 0, 0);
	for (int r = R0; r < R10; r++)
		if ((regs >> r & 1) && r != zero)
			link_emit(l, EBPF_ADD64_REG, r, zero, 0, 0);
	if (words != 0) {
		other = take(b, at, zero, LOCAL_LENT_TOO, &lent_too);
		for (int word = 0; word < WORDS; word++) {
			if (!(words >> word & 1))
				continue;
			link_emit(l, EBPF_LDXDW, other, R10, -8 * (word + 1), 0);
			link_emit(l, EBPF_ADD64_REG, other, zero, 0, 0);
			link_emit(l, EBPF_STXDW, R10, other, -8 * (word + 1), 0);
		}
		if (lent_too)
			pointer_return(b, other, LOCAL_LENT_TOO);
	}
	if (lent)
		pointer_return(b, zero, LOCAL_LENT);
}

void bound_head(struct body *b, unsigned at)
{
	struct link *l = b->l;
	unsigned end = l->in->window != 0 ? last_turn(b, at) : 0;
	kinds pointers = b->kinds[at];
	uint64_t words;
	bool lent;
	int reg;

	if (end == 0)
		return;
	words = changed_words(b->p, at, end) & sure_words(b->p, at) & ~flow_pointer_words(pointers);
	forget(b, at, b->heads[at] & ~(unsigned)pointers, words);
	reg = take(b, at, R10, LOCAL_LENT, &lent);
	link_emit(l, EBPF_LDXDW, reg, R10, -b->count, 0);
	link_emit(l, EBPF_SUB64_IMM, reg, 0, 0, 1);
	link_emit(l, EBPF_STXDW, R10, reg, -b->count, 0);
	b->bound[at] = l->n;
	link_emit(l, EBPF_JEQ_IMM, reg, 0, 0, 0);
	if (lent)
		pointer_return(b, reg, LOCAL_LENT);
}

void bound_turn(struct body *b, unsigned at)
{
	if (b->l->in->window != 0)
		return;
	b->bound[at] = b->l->n;
	link_emit(b->l, OP_MAY_GOTO, 0, 0, 0, 0);
}

void bound_end(struct body *b)
{
	struct link *l = b->l;

	if (l->in->window != 0) {
		link_emit(l, EBPF_CALL, 0, 0, 0, HELPER_bpf_get_smp_processor_id);
		link_emit(l, EBPF_AND64_IMM, R0, 0, 0, EBPF_CUTS - 1);
		link_emit(l, EBPF_LSH64_IMM, R0, 0, 0, 3);
		pointer_constant(l, R1, l->in->cut);
		link_emit(l, EBPF_ADD64_REG, R1, R0, 0, 0);
		link_emit(l, EBPF_MOV64_IMM, R0, 0, 0, 1);
		link_emit(l, EBPF_ATOMIC64, R1, R0, 0, EBPF_ATOMIC_ADD);
	}
	link_emit(l, EBPF_MOV64_IMM, R0, 0, 0, 0);
	link_emit(l, EBPF_EXIT, 0, 0, 0, 0);
}
