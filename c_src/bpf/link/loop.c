/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that the kernel's helper bpf_loop() runs, where there is no arena: of any number of turns,
 * and the verifier need not follow them.
 *
 * A loop that calls no functions but helpers, with those inside it, becomes a function of its own,
 * a callback. The function that has it goes through its instructions once, up to a jump back. There
 * it stores the registers that are live into its frame, and where the loop goes on (its state), and
 * has the callback called. That takes them from there, goes on up to the next jump back, stores them
 * and returns; or up to an instruction outside of the loop, where its function goes on.
 *
 *	function                                  callback(n, frame)
 *	    ... as far as a jump back                 registers from the frame
 *	    registers, state to its frame             ... as far as a jump: back, or out
 *	    bpf_loop(MOST_TURNS, callback, frame)     registers, state to the frame
 *	    to where the state says                   return 0: once more, 1: done
 *
 * So there are no jumps back. The state is the number of an instruction: one that jumps back lead
 * to, a head, or one that is outside.
 *
 * Before Linux 6.7 the verifier looks at one turn only, and removes what it takes for dead: what it
 * knows there has to hold for every turn. So it must know nothing of what turns change. To numbers
 * that are stored a 0 of memory is added; words of the frame become any numbers on a way that the
 * verifier goes first and that is never gone (forget_words()), and so does the state, so that it
 * sees every head. Loops that change pointers are not for us (changes_pointers()). Later verifiers
 * look at turns until there is nothing new, which by the same means is soon.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "piece.h"

enum {
	MOST_TURNS = 65535, /* as many as there are with an arena */
	KNOWN_WORDS = 48,   /* of a frame, of which flow_kinds() says what they hold */
};

static unsigned next_of(const struct piece *p, unsigned i)
{
	return i + (p->insns[i].code == EBPF_LDDW ? 2 : 1);
}

static bool is_store(const struct ebpf_insn *in)
{
	return (in->code & 7) == CLASS_ST || (in->code & 7) == CLASS_STX;
}

/* ---- which there are -------------------------------------------------------------------- */

/* Where control goes from an instruction; n of them. The end of the function is behind it. */
static unsigned ways_from(const struct piece *p, unsigned i, unsigned to[2])
{
	const struct ebpf_insn *in = &p->insns[i];
	unsigned n = 0;

	if (in->code == EBPF_EXIT)
		to[n++] = p->n;
	else if (flow_goes_on(in))
		to[n++] = next_of(p, i);
	if (flow_is_jump(in))
		to[n++] = flow_target(in, i);
	return n;
}

/* Marks what control reaches from an instruction, unless it is shut: bit 1. */
static void mark_reached(const struct piece *p, unsigned from, const bool *shut, uint8_t *marks)
{
	bool changed = true;
	unsigned to[2];

	marks[from] |= 1;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < p->n; i = next_of(p, i))
			for (unsigned n = marks[i] & 1 ? ways_from(p, i, to) : 0; n-- > 0;)
				if (!(marks[to[n]] & 1) && !shut[to[n]]) {
					marks[to[n]] |= 1;
					changed |= to[n] < i;
				}
	}
}

/* And of these what leads back to it: bit 2. Is there any? */
static bool mark_cycle(const struct piece *p, unsigned from, const bool *shut, uint8_t *marks)
{
	bool changed = true, any = false;
	unsigned to[2];

	memset(marks, 0, p->n + 1);
	mark_reached(p, from, shut, marks);
	while (changed) {
		changed = false;
		for (unsigned i = p->n; i-- > 0;)
			for (unsigned n = marks[i] == 1 ? ways_from(p, i, to) : 0; n-- > 0;)
				if (to[n] == from || (marks[to[n]] & 2)) {
					marks[i] |= 2;
					changed = any = true;
				}
	}
	return any;
}

static bool is_jump_back(const struct piece *p, unsigned i)
{
	return flow_is_jump(&p->insns[i]) && flow_target(&p->insns[i], i) <= i;
}

static bool is_head(const struct piece *p, unsigned head)
{
	for (unsigned i = head; i < p->n; i = next_of(p, i))
		if (is_jump_back(p, i) && flow_target(&p->insns[i], i) == head)
			return true;
	return false;
}

bool loop_may_call(const struct link *l, const struct ebpf_func *func)
{
	for (unsigned i = 0; l->in->deep != NULL && l->in->deep[i] != NULL; i++)
		if (strcmp(func->name, l->in->deep[i]) == 0)
			return true;
	return false;
}

/* Calls go eight deep at most: a callback's are one deeper. */
static bool calls_functions(const struct piece *p, const uint8_t *marks)
{
	for (unsigned i = 0; i < p->n; i = next_of(p, i))
		if ((marks[i] & 2) && p->insns[i].code == EBPF_CALL &&
			p->insns[i].src == PSEUDO_CALL)
			return true;
	return false;
}

static void add_target(struct link *l, unsigned **list, unsigned *n, unsigned target)
{
	for (unsigned i = 0; i < *n; i++)
		if ((*list)[i] == target)
			return;
	if (!ARRAY_ROOM(*list, *n))
		link_no_memory(l);
	else
		(*list)[(*n)++] = target;
}

/* A loop of what is marked. */
static void take(struct body *b, const uint8_t *marks)
{
	const struct piece *p = b->p;
	struct loop *o;
	unsigned to[2];

	if (!ARRAY_ROOM(b->loops, b->nloops)) {
		link_no_memory(b->l);
		return;
	}
	o = &b->loops[b->nloops++];
	*o = (struct loop){0};
	for (unsigned i = 0; i < p->n; i = next_of(p, i)) {
		if (!(marks[i] & 2))
			continue;
		b->loop_of[i] = b->nloops;
		o->writes |= flow_writes(&p->insns[i]);
		if (is_store(&p->insns[i]) && p->insns[i].dst == R10)
			o->words |= 1ULL << (-p->insns[i].off - 1) / 8;
		for (unsigned n = ways_from(p, i, to); n-- > 0;) {
			if (to[n] == p->n || !(marks[to[n]] & 2))
				add_target(b->l, &o->exits, &o->nexits, to[n]);
			else if (to[n] <= i)
				add_target(b->l, &o->heads, &o->nheads, to[n]);
		}
	}
}

const struct loop *loop_at(const struct body *b, unsigned at)
{
	return b->loop_of[at] != 0 ? &b->loops[b->loop_of[at] - 1] : NULL;
}

/*
 * Does the loop change pointers that it goes on with, in registers or in words? Then it is not for
 * us: those that the verifier has not seen would be numbers to it.
 */
static bool changes_pointers(const struct body *b, const struct loop *o)
{
	for (unsigned i = 0; i < o->nheads; i++) {
		unsigned head = o->heads[i];

		if ((b->live[head] & o->writes & (unsigned)b->kinds[head]) ||
			(o->words & flow_pointer_words(b->kinds[head])))
			return true;
	}
	return false;
}

static void drop(struct body *b)
{
	struct loop *o = &b->loops[b->nloops - 1];

	for (unsigned i = 0; i < b->p->n; i++)
		if (b->loop_of[i] == b->nloops)
			b->loop_of[i] = 0;
	free(o->heads);
	free(o->exits);
	b->nloops--;
}

/* Words of the function's own that the loop may write to: directly, or by their address. */
static uint64_t words_of(const struct body *b, const struct loop *o)
{
	const struct piece *p = b->p;

	for (unsigned i = 0; i < p->n; i = next_of(p, i))
		if (p->insns[i].code == EBPF_MOV64_REG && p->insns[i].src == R10)
			return (1ULL << flow_frame(p) / 8) - 1;
	return o->words;
}

static bool is_wanted(const struct body *b)
{
	return b->l->in->loops && b->p->func != NULL && !b->p->is_entry &&
	       !b->l->counted[b->p->func - b->l->in->object->funcs] && b->frame <= 8 * KNOWN_WORDS;
}

/*
 * A loop is all that is on cycles with the instruction that it begins with. If it calls functions
 * it is not for us; those inside it may be, which are on cycles without that instruction.
 */
static void find(struct body *b)
{
	const struct piece *p = b->p;
	uint8_t *marks = calloc(p->n + 1, 1);
	bool *shut = calloc(p->n + 1, sizeof(*shut));

	for (unsigned i = 0; i < p->n && marks != NULL && shut != NULL; i = next_of(p, i)) {
		if (b->loop_of[i] != 0 || !is_head(p, i) || !mark_cycle(p, i, shut, marks))
			continue;
		for (unsigned k = i; k < p->n; k = next_of(p, k))
			b->turns[k] |= is_jump_back(p, k) && (marks[k] & 2) &&
				       (marks[flow_target(&p->insns[k], k)] & 2);
		if (is_wanted(b) && (loop_may_call(b->l, p->func) || !calls_functions(p, marks)))
			take(b, marks);
		shut[i] = loop_at(b, i) == NULL;
		if (!shut[i] && changes_pointers(b, loop_at(b, i))) {
			drop(b);
			shut[i] = true;
		}
	}
	if (marks == NULL || shut == NULL)
		link_no_memory(b->l);
	free(marks);
	free(shut);
}

/* What the function itself goes through: up to jumps back, and on where loops lead. */
static void walk(struct body *b)
{
	const struct piece *p = b->p;
	bool changed = true;
	unsigned to[2];

	b->reached[0] = true;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < p->n; i = next_of(p, i)) {
			const struct loop *o = loop_at(b, i);

			if (!b->reached[i])
				continue;
			b->reached[next_of(p, i) - 1] = true; /* both halves of a constant */
			for (unsigned n = ways_from(p, i, to); n-- > 0;)
				if (!b->reached[to[n]] &&
					(o == NULL || !loop_takes(b, i) || to[n] > i))
					changed = b->reached[to[n]] = true;
			for (unsigned e = 0; o != NULL && e < o->nexits; e++)
				if (!b->reached[o->exits[e]])
					changed = b->reached[o->exits[e]] = true;
		}
	}
}

/* ---- where registers are kept ------------------------------------------------------------- */

/* That are live where a loop goes on; R0 is where its function ends. */
static unsigned live_at(const struct body *b, unsigned target)
{
	unsigned own = (b->window >= 0 ? 1u << b->window : 0) |
		       (b->parent >= 0 ? 1u << b->parent : 0) | 1u << R10;

	return target == b->p->n ? 1u << R0 : b->live[target] & ~own;
}

/* In the frame of the function; the state is below all of them. */
static int place_of(const struct body *b, int reg)
{
	return -b->state + 8 * __builtin_popcount(b->saved >> reg);
}

void loop_open(struct body *b)
{
	b->window = b->parent = -1;
	if (b->l->in->window == 0)
		return;
	find(b);
	walk(b);
	for (unsigned i = 0; i < b->nloops; i++) {
		struct loop *o = &b->loops[i];

		for (unsigned k = 0; k < o->nheads; k++)
			o->saved |= live_at(b, o->heads[k]);
		for (unsigned k = 0; k < o->nexits; k++) {
			o->saved |= live_at(b, o->exits[k]);
			b->joins[o->exits[k]] = true;
		}
		b->saved |= o->saved;
	}
	if (b->p->loop > 0)
		b->callback = &b->loops[b->p->loop - 1];
}

/* Behind what else is in the frame. A callback has a frame of its own. */
void loop_frame(struct body *b)
{
	if (b->nloops == 0)
		return;
	b->state = b->frame + 8 * __builtin_popcount(b->saved) + 8;
	b->frame = b->callback != NULL ? 0 : b->state;
}

void loop_close(struct body *b)
{
	for (unsigned i = 0; i < b->nloops; i++) {
		free(b->loops[i].heads);
		free(b->loops[i].exits);
	}
	free(b->loops);
	free(b->fixes);
}

/* ---- jumps to instructions that are not laid out yet ---------------------------------------- */

/* ja to where an instruction is. */
static void jump_to(struct body *b, unsigned insn)
{
	if (!b->l->failed && !ARRAY_ROOM(b->fixes, b->nfixes))
		link_no_memory(b->l);
	if (b->l->failed)
		return;
	b->fixes[b->nfixes++] = (struct fix){b->l->n, insn};
	link_emit(b->l, EBPF_JA, 0, 0, 0, 0);
}

/* A jump of the output leads here. */
static void here(struct link *l, unsigned at)
{
	if (!l->failed)
		l->out[at].off = (int16_t)(l->n - at - 1);
}

bool loop_takes(const struct body *b, unsigned at)
{
	unsigned to = flow_target(&b->p->insns[at], at);

	if (!flow_is_jump(&b->p->insns[at]) || loop_at(b, at) == NULL)
		return false;
	if (b->callback != NULL && loop_at(b, to) != b->callback)
		return true;
	return loop_at(b, to) == loop_at(b, at) && to <= at;
}

/* ---- storing, going on -------------------------------------------------------------------- */

/* The 0 of memory of which the verifier does not know that it is one. */
static void load_zero(struct link *l, int reg)
{
	pointer_constant(l, reg, l->in->zero);
	link_emit(l, EBPF_LDXDW, reg, reg, 0, 0);
}

/* A register that is not one of these, and of no other use; -1: there is none. */
static int free_of(const struct body *b, unsigned regs)
{
	for (int r = R0; r < R10; r++)
		if (!(regs >> r & 1) && r != b->window && r != b->parent)
			return r;
	return -1;
}

/*
 * Registers that are live there to the frame at base, and where that is. What the verifier knows of
 * numbers is not to count: that 0 is added to them. Those that are not live become 0. So all ways
 * to the same instruction, by whatever turns, are one way to it.
 */
static void save(struct body *b, const struct loop *o, int base, unsigned target)
{
	struct link *l = b->l;
	unsigned live = live_at(b, target), numbers = live, from = b->callback ? o->writes : ~0u,
		 dead;
	int zero = free_of(b, live | 1u << base), reg;

	if (target < b->p->n)
		numbers &= ~(unsigned)b->kinds[target];
	if (zero >= 0)
		load_zero(l, zero);
	for (int r = R0; r < R10; r++) {
		if (!(live & from & 1u << r))
			continue;
		if (zero >= 0 && numbers >> r & 1)
			link_emit(l, EBPF_ADD64_REG, r, zero, 0, 0);
		link_emit(l, EBPF_STXDW, base, r, place_of(b, r), 0);
	}
	reg = free_of(b, 1u << base);
	zero = zero >= 0 ? -1 : free_of(b, 1u << base | 1u << reg);
	if (zero >= 0)
		load_zero(l, zero);
	for (int r = R0; r < R10 && zero >= 0; r++) {
		if (!(live & from & numbers & 1u << r))
			continue;
		link_emit(l, EBPF_LDXDW, reg, base, place_of(b, r), 0);
		link_emit(l, EBPF_ADD64_REG, reg, zero, 0, 0);
		link_emit(l, EBPF_STXDW, base, reg, place_of(b, r), 0);
	}
	dead = o->saved & o->writes & ~live;
	if (dead != 0)
		link_emit(l, EBPF_MOV64_IMM, reg, 0, 0, 0);
	for (int r = R0; r < R10; r++)
		if (dead >> r & 1)
			link_emit(l, EBPF_STXDW, base, reg, place_of(b, r), 0);
	link_emit(l, EBPF_MOV64_IMM, reg, 0, 0, (int32_t)target);
	link_emit(l, EBPF_STXDW, base, reg, -b->state, 0);
}

static void restore(struct body *b, int base, unsigned target)
{
	unsigned regs = live_at(b, target);

	for (int r = R0; r < R10; r++)
		if ((regs >> r & 1) && r != base)
			link_emit(b->l, EBPF_LDXDW, r, base, place_of(b, r), 0);
	if (regs >> base & 1)
		link_emit(b->l, EBPF_LDXDW, base, base, place_of(b, base), 0);
}

/*
 * So that the verifier keeps what it knows here, and compares it with what it knows when it comes
 * again: it does only after so many instructions. The kernel takes them out.
 */
static void keep_state(struct link *l)
{
	for (int i = 0; i < 8; i++)
		link_emit(l, EBPF_JA, 0, 0, 0, 0);
}

/* ---- the function's part -------------------------------------------------------------------- */

static void call(struct body *b, unsigned piece)
{
	struct link *l = b->l;

	link_emit(l, EBPF_MOV64_IMM, R1, 0, 0, MOST_TURNS);
	link_function(l, R2, piece);
	link_emit(l, EBPF_MOV64_REG, R3, R10, 0, 0);
	link_emit(l, EBPF_MOV64_IMM, R4, 0, 0, 0);
	link_emit(l, EBPF_CALL, 0, 0, 0, HELPER_bpf_loop);
	link_emit(l, EBPF_LDXDW, R0, R10, -b->state, 0);
}

/* To where the loop has led, if it has led outside. */
static void leave(struct body *b, const struct loop *o)
{
	struct link *l = b->l;
	unsigned next;

	for (unsigned i = 0; i < o->nexits; i++) {
		unsigned e = o->exits[i];

		next = l->n;
		link_emit(l, EBPF_JNE_IMM, R0, 0, 0, (int32_t)e);
		restore(b, R10, e);
		if (e == b->p->n) {
			link_emit(l, EBPF_EXIT, 0, 0, 0, 0);
		} else {
			bound_enter(b, o->heads[0], e);
			jump_to(b, e);
		}
		here(l, next);
	}
}

/* Is there a jump that is laid out, and leads there? */
static bool leads_to(const struct body *b, const struct loop *o, unsigned target)
{
	const struct piece *p = b->p;
	unsigned to[2];

	for (unsigned i = 0; i < p->n; i = next_of(p, i)) {
		if (!loop_lays_out(b, i) || loop_at(b, i) != o)
			continue;
		for (unsigned n = ways_from(p, i, to); n-- > 0;)
			if (to[n] == target && (b->callback != NULL || to[n] <= i))
				return true;
	}
	return false;
}

static void run_loop(struct body *b, unsigned number)
{
	const struct loop *o = &b->loops[number];
	struct link *l = b->l;
	unsigned piece = link_add_callback(l, b->p, number), n = 0,
		 *begin = calloc(o->nheads + 1, sizeof(*begin));

	for (unsigned i = 0; i < o->nheads && begin != NULL; i++) {
		if (!leads_to(b, o, o->heads[i]))
			continue;
		b->stub[o->heads[i]] = l->n;
		save(b, o, R10, o->heads[i]);
		begin[n++] = l->n;
		link_emit(l, EBPF_JA, 0, 0, 0, 0);
	}
	while (n > 0)
		here(l, begin[--n]);
	keep_state(l);
	call(b, piece);
	leave(b, o);
	jump_to(b, b->p->n); /* too many turns */
	if (begin == NULL)
		link_no_memory(l);
	free(begin);
}

/* ---- the callback's part -------------------------------------------------------------------- */

/*
 * Words of the frame that the loop changes, and the state, which stays in r0: what the verifier
 * knows of them is not to count. So first it goes another way, which is never gone, where they
 * become any numbers, each read anew where r1 points to.
 */
static void forget_words(struct body *b)
{
	const struct loop *o = b->callback;
	struct link *l = b->l;
	uint64_t words = words_of(b, o);
	unsigned known;

	for (unsigned i = 0; i < o->nheads; i++)
		words &= ~flow_pointer_words(b->kinds[o->heads[i]]);
	if (words == 0 && o->nheads == 1)
		return;
	pointer_constant(l, R1, l->in->zero);
	link_emit(l, EBPF_LDXDW, R3, R1, 0, 0);
	known = l->n;
	link_emit(l, EBPF_JEQ_IMM, R3, 0, 0, 0);
	for (int i = 0; i < KNOWN_WORDS; i++) {
		if (!(words >> i & 1))
			continue;
		link_emit(l, EBPF_LDXDW, R0, R1, 0, 0);
		link_emit(l, EBPF_STXDW, R2, R0, -8 * (i + 1), 0);
	}
	link_emit(l, EBPF_LDXDW, R0, R1, 0, 0);
	here(l, known);
}

void loop_begin(struct body *b)
{
	const struct loop *o = b->callback;
	struct link *l = b->l;
	unsigned next;

	if (b->parent >= 0) {
		link_emit(l, EBPF_MOV64_REG, b->parent, R2, 0, 0);
	} else {
		b->frame = 8;
		link_emit(l, EBPF_STXDW, R10, R2, -8, 0);
	}
	link_emit(l, EBPF_LDXDW, R0, R2, -b->state, 0);
	forget_words(b);
	for (unsigned i = 0; i < o->nheads; i++) {
		next = l->n;
		link_emit(l, EBPF_JNE_IMM, R0, 0, 0, (int32_t)o->heads[i]);
		restore(b, R2, o->heads[i]);
		keep_state(l);
		jump_to(b, o->heads[i]);
		here(l, next);
	}
	/* the verifier does not know that there is no turn behind the last one */
	link_emit(l, EBPF_MOV64_IMM, R0, 0, 0, 1);
	link_emit(l, EBPF_EXIT, 0, 0, 0, 0);
}

/* Where a jump back leads, or one out. */
static void return_to(struct body *b, unsigned target, bool done)
{
	struct link *l = b->l;
	unsigned regs = live_at(b, target);
	int base = b->parent;

	if (!leads_to(b, b->callback, target))
		return;
	b->stub[target] = l->n;
	if (base < 0) {
		for (base = R0; base < R10 && (regs >> base & 1);)
			base++;
		if (base == R10) {
			l->failed = true;
			et_err(l->e, ET_KERNEL, "%s has a loop with too many registers",
				b->p->func->name);
			return;
		}
		link_emit(l, EBPF_LDXDW, base, R10, -8, 0);
	}
	save(b, b->callback, base, target);
	link_emit(l, EBPF_MOV64_IMM, R0, 0, 0, done);
	link_emit(l, EBPF_EXIT, 0, 0, 0, 0);
}

/* An instruction that goes by the frame of the function. */
bool loop_of_frame(struct body *b, unsigned at)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	struct link *l = b->l;
	unsigned class = in->code & 7;
	bool store = class == CLASS_ST || class == CLASS_STX, lent;
	int reg = b->parent;

	if (b->callback == NULL || (store ? in->dst : in->src) != R10 ||
		!(store || class == CLASS_LDX || in->code == EBPF_MOV64_REG))
		return false;
	if (reg >= 0) {
		link_emit(l, in->code, store ? reg : in->dst, store ? in->src : reg, in->off,
			in->imm);
	} else if (!store) {
		link_emit(l, EBPF_LDXDW, in->dst, R10, -8, 0);
		if (class == CLASS_LDX)
			link_emit(l, in->code, in->dst, in->dst, in->off, 0);
	} else {
		reg = pointer_free(b, at, in->src);
		lent = reg < 0;
		if (lent)
			pointer_lend(b, reg = in->src == R0 ? R1 : R0, LOCAL_LENT);
		else
			access_forget(b, 1u << reg);
		link_emit(l, EBPF_LDXDW, reg, R10, -8, 0);
		link_emit(l, in->code, reg, in->src, in->off, in->imm);
		if (lent)
			pointer_return(b, reg, LOCAL_LENT);
	}
	return true;
}

/* Behind an instruction: what comes next may be outside of the loop. */
void loop_fall(struct body *b, unsigned at)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	unsigned next = in->code == EBPF_EXIT ? b->p->n : next_of(b->p, at);

	if (b->callback != NULL && (flow_goes_on(in) || in->code == EBPF_EXIT) &&
		loop_at(b, next) != b->callback)
		jump_to(b, next);
}

/* ---- both ------------------------------------------------------------------------------- */

bool loop_lays_out(const struct body *b, unsigned at)
{
	if (b->callback != NULL)
		return loop_at(b, at) == b->callback;
	return b->l->in->window == 0 || b->reached[at];
}

/* Behind the instructions. */
void loop_end(struct body *b)
{
	const struct loop *o = b->callback;

	if (o == NULL) {
		for (unsigned i = 0; i < b->nloops && !b->l->failed; i++)
			run_loop(b, i);
		return;
	}
	for (unsigned i = 0; i < o->nheads; i++)
		return_to(b, o->heads[i], false);
	for (unsigned i = 0; i < o->nexits; i++)
		return_to(b, o->exits[i], true);
}

/* When all is laid out. end: where the function ends that has turned too often. */
void loop_aim(struct body *b, unsigned end)
{
	for (unsigned i = 0; i < b->nfixes && !b->l->failed; i++) {
		unsigned to = b->fixes[i].insn, at = b->fixes[i].at;
		bool outside = b->callback != NULL && loop_at(b, to) != b->callback;
		int distance = (int)((to == b->p->n && !outside ? end
					     : outside		? b->stub[to]
								: b->start[to]) -
				     at - 1);

		b->l->out[at].off = (int16_t)distance;
		if (b->l->out[at].off != distance)
			link_too_long(b->l, b->p);
	}
}
