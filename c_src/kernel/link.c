/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program for the kernel out of a beginning, the runtime functions it reaches and the clauses.
 *
 * To the kernel's verifier the arena is memory of its own kind: an access needs a pointer that was
 * cast to it just before, and what is loaded is a number. So every access but those of the stack,
 * of the event's context and of the buffer gets its cast here, and pointers everywhere else stay
 * the numbers that user space knows. Every jump backwards gets a may_goto, which lets the verifier
 * see that the program ends; where that ever happens, the function returns 0.
 *
 * Clauses give keys to the runtime as words on their stack, which no other function can read as
 * arena: they are copied into the slot before the call.
 */
#include <stdlib.h>
#include <string.h>

#include "../engine/internal.h"
#include "root.h"
#include "kernel.h"

enum {
	OP_CAST = 0xbf,	    /* mov with off 1: between address spaces */
	TO_KERNEL = 1,	    /* its imm */
	TO_USER = 1 << 16,
	OP_MAY_GOTO = 0xe5,
	PSEUDO_MAP_FD = 1,    /* src of lddw */
	PSEUDO_MAP_VALUE = 2,
	PSEUDO_CALL = 1,      /* src of call */
	CLASS_LDX = 1, CLASS_ST = 2, CLASS_STX = 3, CLASS_JMP = 5, CLASS_JMP32 = 6, CLASS_ALU64 = 7,
	MODE_MEMSX = 0x80, MODE_ATOMIC = 0xc0,
	COPY_FROM_USER = 148, /* a function of the kernel that may wait */
};

/* A function of the program to be: of the object, or a clause. */
struct piece {
	const struct ebpf_insn *insns;
	unsigned n;
	const struct k_func *func; /* NULL: a clause */
	bool is_entry;
	unsigned at;	/* where it begins in the program */
	unsigned nargs;
};

struct link {
	const struct k_input *in;
	struct piece *pieces;
	unsigned npieces, room;
	int *of_func;	 /* by function of the object: its piece + 1, or 0 */
	unsigned *nargs; /* the same: arguments + 1 */
	int first_clause;
	struct ebpf_insn *out;
	unsigned n, out_room;
	struct call {
		unsigned at;
		unsigned piece;
	} *calls;
	unsigned ncalls, call_room;
	struct et_error *e;
	bool failed;
};

/* ---- emitting ------------------------------------------------------------------------- */

static void *grow(struct link *l, void *mem, unsigned n, unsigned *room, size_t size)
{
	void *more;

	if (n < *room)
		return mem;
	*room = *room ? 2 * *room : 256;
	more = realloc(mem, *room * size);
	if (more == NULL) {
		l->failed = true;
		et_err(l->e, "ET_MEMORY", "out of memory for the kernel's program");
		*room /= 2;
		return mem;
	}
	return more;
}

static void emit(struct link *l, uint8_t code, int dst, int src, int off, int32_t imm)
{
	l->out = grow(l, l->out, l->n, &l->out_room, sizeof(*l->out));
	if (l->failed)
		return;
	l->out[l->n++] = (struct ebpf_insn){.code = code,
		.dst = (uint8_t)(dst & 15),
		.src = (uint8_t)(src & 15),
		.off = (int16_t)off,
		.imm = imm};
}

static void emit_lddw(struct link *l, int dst, int kind, uint64_t v)
{
	emit(l, EBPF_LDDW, dst, kind, 0, (int32_t)v);
	emit(l, 0, 0, 0, 0, (int32_t)(v >> 32));
}

static void emit_call(struct link *l, unsigned piece)
{
	l->calls = grow(l, l->calls, l->ncalls, &l->call_room, sizeof(*l->calls));
	if (l->failed)
		return;
	l->calls[l->ncalls++] = (struct call){l->n, piece};
	emit(l, EBPF_CALL, 0, PSEUDO_CALL, 0, 0);
}

static int add_piece(struct link *l, struct piece p)
{
	l->pieces = grow(l, l->pieces, l->npieces, &l->room, sizeof(*l->pieces));
	if (l->failed)
		return 0;
	l->pieces[l->npieces] = p;
	return (int)l->npieces++;
}

static unsigned args_of_func(struct link *l, int func);

/* The piece of a function of the object, made on demand. */
static int piece_of(struct link *l, int func, bool is_entry)
{
	const struct k_func *f;

	if (l->of_func[func] == 0) {
		f = &l->in->object->funcs[func];
		l->of_func[func] = 1 + add_piece(l, (struct piece){f->insns, f->n, f, is_entry, 0,
						    args_of_func(l, func)});
	}
	return l->of_func[func] - 1;
}

/* ---- which registers are not the arena's ---------------------------------------------- */

/* Bits 0-10: the register points to the stack, the context, or the buffer. 16-: stack slots do. */
typedef uint64_t kinds;
enum { SLOTS = 16, NSLOTS = 48 };

static kinds bit(unsigned reg)
{
	return 1ULL << reg;
}

static kinds slot_bit(int off)
{
	unsigned slot = (unsigned)(-off + 7) / 8;

	return off < 0 && slot <= NSLOTS ? 1ULL << (SLOTS + slot - 1) : 0;
}

static kinds set_to(kinds k, kinds which, bool on)
{
	return on ? k | which : k & ~which;
}

static bool is_constant_sym(const char *s)
{
	return strcmp(s, "k_root") == 0 || strcmp(s, "k_buf_mask") == 0;
}

static const struct k_reloc *reloc_at(const struct piece *p, unsigned at)
{
	for (unsigned i = 0; p->func != NULL && i < p->func->nrelocs; i++)
		if (p->func->relocs[i].at == at)
			return &p->func->relocs[i];
	return NULL;
}

/* What one instruction makes of it. */
static kinds step(const struct piece *p, unsigned at, kinds k)
{
	const struct ebpf_insn *in = &p->insns[at];
	const struct k_reloc *r;
	unsigned class = in->code & 7;

	if (in->code == EBPF_LDDW) {
		r = reloc_at(p, at);
		return set_to(k, bit(in->dst), r != NULL && r->sym != NULL && !is_constant_sym(r->sym));
	}
	switch (class) {
	case CLASS_LDX:
		if (in->src == R10)
			return set_to(k, bit(in->dst), (in->code & 0x18) == 0x18 && (k & slot_bit(in->off)));
		/* what the context holds is the kernel's */
		return set_to(k, bit(in->dst), p->is_entry && (k & bit(in->src)));
	case CLASS_STX:
		if (in->dst == R10 && (in->code & 0xe0) != MODE_ATOMIC)
			return set_to(k, slot_bit(in->off), k & bit(in->src));
		return k;
	case CLASS_ALU64:
		if (in->code == EBPF_MOV64_REG && in->off == 0)
			return set_to(k, bit(in->dst), k & bit(in->src));
		if (in->code == EBPF_ADD64_REG)
			return set_to(k, bit(in->dst), k & (bit(in->dst) | bit(in->src)));
		if (in->code == EBPF_ADD64_IMM || in->code == EBPF_SUB64_IMM)
			return k;
		return set_to(k, bit(in->dst), false);
	case 4: /* 32 bits */ return set_to(k, bit(in->dst), false);
	case CLASS_JMP:
		if (in->code == EBPF_CALL)
			return k & ~(bit(0) | bit(1) | bit(2) | bit(3) | bit(4) | bit(5));
		return k;
	default: return k;
	}
}

static bool is_jump(const struct ebpf_insn *in)
{
	unsigned class = in->code & 7, op = in->code & 0xf0;

	return (class == CLASS_JMP || class == CLASS_JMP32) && op != 0x80 && op != 0x90;
}

static unsigned target(const struct ebpf_insn *in, unsigned at)
{
	return at + 1 + (unsigned)(in->code == 0x06 ? in->imm : in->off);
}

/* What is known before each instruction: joined over all ways there, until nothing changes. */
static kinds *all_kinds(struct link *l, const struct piece *p)
{
	kinds *k = calloc(p->n + 1, sizeof(*k));
	bool changed = true;

	if (k == NULL) {
		l->failed = true;
		et_err(l->e, "ET_MEMORY", "out of memory for the kernel's program");
		return NULL;
	}
	k[0] = bit(R10) | (p->is_entry ? bit(R1) : 0);
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < p->n; i++) {
			const struct ebpf_insn *in = &p->insns[i];
			kinds out = step(p, i, k[i]);
			unsigned next = i + (in->code == EBPF_LDDW ? 2 : 1);

			if (is_jump(in)) {
				unsigned to = target(in, i);

				if (to < p->n && (out & ~k[to])) {
					k[to] |= out;
					changed |= to <= i;
				}
			}
			/* not behind ja and exit */
			if ((in->code & 0xf7) != 0x05 && in->code != 0x06 && in->code != EBPF_EXIT &&
				next <= p->n)
				k[next] |= out;
			if (in->code == EBPF_LDDW)
				i++;
		}
	}
	return k;
}

/* ---- what a function takes and gives -------------------------------------------------- */

/* Of the kernel's own functions, those that bpf/ calls. */
static unsigned helper_args(int32_t id)
{
	switch (id) {
	case 5: case 7: case 8: case 14: case 15: case 35: return 0;
	case 109: case 174: return 1;
	case 16: return 2;
	case 36: case 112: case 113: case 114: case 115: case COPY_FROM_USER: return 3;
	default: return 4;
	}
}

static unsigned args_of_call(struct link *l, const struct piece *p, unsigned at);

/* The registers that an instruction reads; of calls those that the function takes. */
static unsigned reads(struct link *l, const struct piece *p, unsigned at)
{
	const struct ebpf_insn *in = &p->insns[at];
	unsigned dst = 1u << in->dst, src = 1u << in->src, op = in->code & 0xf0;

	switch (in->code & 7) {
	case CLASS_LDX: return src;
	case CLASS_ST: return dst;
	case CLASS_STX: return dst | src | ((in->code & 0xe0) == MODE_ATOMIC && in->imm == 0xf1);
	case 4:
	case CLASS_ALU64: return (op == 0xb0 ? 0 : dst) | (in->code & 8 ? src : 0);
	case CLASS_JMP:
	case CLASS_JMP32:
		if (in->code == EBPF_CALL)
			return (2u << args_of_call(l, p, at)) - 2;
		if (op == 0x00 || op == 0x90)
			return 0;
		return dst | (in->code & 8 ? src : 0);
	default: return 0;
	}
}

static unsigned writes(const struct ebpf_insn *in)
{
	switch (in->code & 7) {
	case 0: /* lddw */
	case CLASS_LDX:
	case 4:
	case CLASS_ALU64: return 1u << in->dst;
	case CLASS_JMP: return in->code == EBPF_CALL ? 0x3f : 0;
	default: return 0;
	}
}

/* The registers before each instruction that are still to be read. NULL: out of memory. */
static unsigned *liveness(struct link *l, const struct piece *p)
{
	unsigned *live = calloc(p->n + 1, sizeof(*live));
	bool changed = live != NULL;

	while (changed) {
		changed = false;
		for (unsigned i = p->n; i-- > 0;) {
			const struct ebpf_insn *in = &p->insns[i];
			unsigned now = 0;

			if (i > 0 && p->insns[i - 1].code == EBPF_LDDW) {
				live[i] = live[i + 1]; /* the second half of one */
				continue;
			}
			if (in->code != EBPF_EXIT && (in->code & 0xf7) != 0x05 && in->code != 0x06)
				now = live[i + 1];
			if (is_jump(in))
				now |= live[target(in, i)];
			now = (now & ~writes(in)) | reads(l, p, i);
			changed |= now != live[i];
			live[i] = now;
		}
	}
	return live;
}

/* Arguments: the registers that are read before anything is written to them. */
static unsigned count_args(struct link *l, const struct piece *p)
{
	unsigned *live = liveness(l, p), n = 0;

	for (unsigned r = 1; live != NULL && r <= 5; r++)
		if (live[0] >> r & 1)
			n = r;
	free(live);
	return n;
}

static unsigned args_of_func(struct link *l, int func)
{
	const struct k_func *f;

	if (l->nargs[func] == 0) {
		f = &l->in->object->funcs[func];
		l->nargs[func] = 1 + count_args(l, &(struct piece){f->insns, f->n, f, false, 0, 0});
	}
	return l->nargs[func] - 1;
}

static unsigned args_of_call(struct link *l, const struct piece *p, unsigned at)
{
	const struct ebpf_insn *in = &p->insns[at];
	const struct k_reloc *r = reloc_at(p, at);
	int func;

	if (p->func == NULL)
		return 5; /* of a clause: its one argument is known */
	if (in->src != PSEUDO_CALL)
		return helper_args(in->imm);
	if (r != NULL && r->sym != NULL && strcmp(r->sym, "k_clause") == 0)
		return 2;
	func = r == NULL ? -1 : r->sym != NULL ? k_object_find(l->in->object, r->sym) : r->func;
	return func < 0 ? 0 : args_of_func(l, func);
}

/*
 * By the first instruction of each loop: the registers that it goes on with, which it changes and
 * reads again in its next turn. What the verifier knows of one it would follow turn by turn.
 */
static unsigned *carried(struct link *l, const struct piece *p)
{
	unsigned *live = liveness(l, p), *heads = calloc(p->n + 1, sizeof(*heads));

	for (unsigned i = 0; live != NULL && heads != NULL && i < p->n; i++) {
		unsigned changed = 0, head;

		if (p->insns[i].code == EBPF_LDDW) {
			i++;
			continue;
		}
		if (!is_jump(&p->insns[i]) || (head = target(&p->insns[i], i)) > i)
			continue;
		for (unsigned k = head; k <= i; k++) {
			changed |= writes(&p->insns[k]);
			if (p->insns[k].code == EBPF_LDDW)
				k++;
		}
		heads[head] |= changed & live[head];
	}
	free(live);
	return heads;
}

/* Does what the instruction puts into its register begin a loop that goes on with it? */
static bool begins_loop(const struct piece *p, unsigned at, const unsigned *heads)
{
	unsigned reg = 1u << p->insns[at].dst, n = 0;
	unsigned *todo = calloc(p->n + 2, sizeof(*todo));
	bool *seen = calloc(p->n + 1, sizeof(*seen)), found = false;

	if (todo != NULL && seen != NULL)
		todo[n++] = at + 1;
	while (n > 0 && !found) {
		unsigned i = todo[--n];

		for (; i < p->n && !seen[i]; i++) {
			const struct ebpf_insn *in = &p->insns[i];

			seen[i] = true;
			found |= (heads[i] & reg) != 0;
			if (is_jump(in) && !seen[target(in, i)])
				todo[n++] = target(in, i);
			if ((writes(in) & reg) || in->code == EBPF_EXIT || (in->code & 0xf7) == 0x05 ||
				in->code == 0x06)
				break;
			if (in->code == EBPF_LDDW)
				i++;
		}
	}
	free(todo);
	free(seen);
	return found;
}

/* Is r0 set wherever it ends? */
static bool returns(const struct piece *p)
{
	uint8_t *unset = calloc(p->n + 1, 1);
	bool changed = unset != NULL, all = true;

	if (unset != NULL)
		unset[0] = 1;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < p->n; i++) {
			const struct ebpf_insn *in = &p->insns[i];
			bool out = unset[i] && !(writes(in) & 1);
			unsigned next = i + (in->code == EBPF_LDDW ? 2 : 1);

			if (in->code == EBPF_EXIT)
				all &= !unset[i];
			if (out && is_jump(in) && !unset[target(in, i)]) {
				unset[target(in, i)] = 1;
				changed = true;
			}
			if (out && in->code != EBPF_EXIT && (in->code & 0xf7) != 0x05 &&
				in->code != 0x06 && !unset[next]) {
				unset[next] = 1;
				changed = true;
			}
			if (in->code == EBPF_LDDW)
				i++;
		}
	}
	free(unset);
	return all;
}

/* ---- one function --------------------------------------------------------------------- */

/* The words of a clause's key, from its stack into the slot. r0 is free before a call. */
static void copy_key(struct link *l, unsigned fn, uint64_t id, int reg)
{
	struct ebpf_keypart part[EBPF_MAX_KEYS];
	int n = l->in->env->key(l->in->env, fn, id, part);
	int off = (int)offsetof(struct fire, key);

	if (n <= 0)
		return;
	emit(l, OP_CAST, R1, R1, 1, TO_KERNEL);
	for (int i = 0; i < n; i++) {
		emit(l, EBPF_LDXDW, R0, reg, 8 * i, 0);
		emit(l, EBPF_STXDW, R1, R0, off + 8 * i, 0);
	}
	emit(l, OP_CAST, R1, R1, 1, TO_USER);
	emit(l, EBPF_MOV64_REG, reg, R1, 0, 0);
	emit(l, EBPF_ADD64_IMM, reg, 0, 0, off);
}

/* A call of a clause: of a runtime function by its number. */
static void clause_call(struct link *l, const struct piece *p, unsigned at)
{
	unsigned fn = (unsigned)p->insns[at].imm;
	const struct ebpf_fn *f = &l->in->env->fns[fn];
	char name[64];
	int func;

	for (int a = 1; a < EBPF_MAX_ARGS; a++)
		if (f->arg[a] == EBPF_KEY)
			for (unsigned i = at; i-- > 0;) /* which object: the constant before it */
				if (p->insns[i].code == EBPF_MOV64_IMM && p->insns[i].dst == R1 + a - 1) {
					copy_key(l, fn, (uint64_t)p->insns[i].imm, R1 + a);
					break;
				}
	snprintf(name, sizeof(name), "rt_%s", f->name);
	func = k_object_find(l->in->object, name);
	if (func < 0) {
		l->failed = true;
		et_err(l->e, "ET_KERNEL", "%s() does not work in the kernel", f->name);
		return;
	}
	emit_call(l, (unsigned)piece_of(l, func, false));
}

/* k_clause(fire, index), in place: calls go eight deep at most. */
static void choose_clause(struct link *l)
{
	unsigned n = l->in->nclauses;

	for (unsigned i = 0; i < n; i++) {
		emit(l, EBPF_JNE_IMM, R2, 0, 2, (int32_t)l->in->clauses[i].index);
		emit_call(l, (unsigned)l->first_clause + i);
		emit(l, EBPF_JA, 0, 0, (int)(3 * (n - i - 1)), 0);
	}
}

static void function_call(struct link *l, const struct piece *p, unsigned at)
{
	const struct ebpf_insn *in = &p->insns[at];
	const struct k_reloc *r = reloc_at(p, at);
	int func;

	if (in->src != PSEUDO_CALL && in->imm == COPY_FROM_USER && !l->in->may_wait) {
		emit(l, EBPF_MOV64_IMM, R0, 0, 0, -1);
		return;
	}
	if (in->src != PSEUDO_CALL) { /* the kernel's own */
		emit(l, in->code, 0, 0, 0, in->imm);
		return;
	}
	if (r != NULL && r->sym != NULL && strcmp(r->sym, "k_clause") == 0) {
		choose_clause(l);
		return;
	}
	func = r == NULL ? -1 : r->sym != NULL ? k_object_find(l->in->object, r->sym) : r->func;
	if (func < 0) {
		l->failed = true;
		et_err(l->e, "ET_KERNEL", "the kernel's half has no function %s, which %s calls",
			r != NULL && r->sym != NULL ? r->sym : "?", p->func->name);
		return;
	}
	emit_call(l, (unsigned)piece_of(l, func, false));
}

static void load_constant(struct link *l, const struct piece *p, unsigned at)
{
	const struct ebpf_insn *in = &p->insns[at];
	const struct k_reloc *r = reloc_at(p, at);
	uint64_t v = (uint32_t)in->imm | (uint64_t)(uint32_t)in[1].imm << 32;

	if (p->func == NULL)
		emit_lddw(l, in->dst, 0, in->src == EBPF_LDDW_STR ? l->in->strs[in->imm] : v);
	else if (r == NULL)
		emit_lddw(l, in->dst, 0, v);
	else if (r->data >= 0)
		emit_lddw(l, in->dst, 0, l->in->object->data[r->data].addr + r->off);
	else if (r->sym != NULL && strcmp(r->sym, "k_root") == 0)
		emit_lddw(l, in->dst, 0, l->in->root + v);
	else if (r->sym != NULL && strcmp(r->sym, "k_buf_mask") == 0)
		emit_lddw(l, in->dst, 0, l->in->nbufs - 1 + v);
	else if (r->sym != NULL && strcmp(r->sym, "k_buf") == 0)
		emit_lddw(l, in->dst, PSEUDO_MAP_VALUE, (uint32_t)l->in->buf_fd | v << 32);
	else {
		l->failed = true;
		et_err(l->e, "ET_KERNEL", "the kernel's half has no %s", r->sym ? r->sym : "data");
	}
}

static void load(struct link *l, const struct ebpf_insn *in)
{
	bool extends = (in->code & 0xe0) == MODE_MEMSX;
	unsigned shift = (in->code & 0x18) == 0x10 ? 56 : (in->code & 0x18) == 8 ? 48 : 32;

	emit(l, OP_CAST, in->dst, in->src, 1, TO_KERNEL);
	emit(l, (uint8_t)(extends ? (in->code & 0x1f) | 0x60 : in->code), in->dst, in->dst, in->off, 0);
	if (extends) {
		emit(l, EBPF_LSH64_IMM, in->dst, 0, 0, (int32_t)shift);
		emit(l, EBPF_ARSH64_IMM, in->dst, 0, 0, (int32_t)shift);
	}
}

/* The base is cast and cast back; one that is stored into its own memory goes by another. */
static void store(struct link *l, const struct ebpf_insn *in, int frame)
{
	int base = in->dst, other;

	if ((in->code & 7) != CLASS_STX || in->src != in->dst) {
		emit(l, OP_CAST, base, base, 1, TO_KERNEL);
		emit(l, in->code, base, in->src, in->off, in->imm);
		emit(l, OP_CAST, base, base, 1, TO_USER);
		return;
	}
	other = base == R0 ? R1 : R0;
	emit(l, EBPF_STXDW, R10, other, -frame - 8, 0);
	emit(l, OP_CAST, other, base, 1, TO_KERNEL);
	emit(l, in->code, other, in->src, in->off, in->imm);
	emit(l, EBPF_LDXDW, other, R10, -frame - 8, 0);
}

/* How much stack it uses. */
static int frame_of(const struct piece *p)
{
	int frame = 0;

	for (unsigned i = 0; i < p->n; i++) {
		const struct ebpf_insn *in = &p->insns[i];
		unsigned class = in->code & 7;
		bool here = class == CLASS_LDX ? in->src == R10
					       : (class == CLASS_ST || class == CLASS_STX) && in->dst == R10;

		if (here && -in->off > frame)
			frame = -in->off;
		if (in->code == EBPF_ADD64_IMM && in->imm < 0 && -in->imm > frame && -in->imm <= 512)
			frame = -in->imm;
		if (in->code == EBPF_LDDW)
			i++;
	}
	return (frame + 7) / 8 * 8;
}

/* A constant that the verifier does not know: by a 0 that is in memory. */
static void hidden_constant(struct link *l, const struct ebpf_insn *in)
{
	emit_lddw(l, in->dst, 0, l->in->root + offsetof(struct k_root, zero));
	emit(l, OP_CAST, in->dst, in->dst, 1, TO_KERNEL);
	emit(l, EBPF_LDXDW, in->dst, in->dst, 0, 0);
	emit(l, (in->code & 7) == CLASS_ALU64 ? EBPF_ADD64_IMM : 0x04, in->dst, 0, 0, in->imm);
}

static bool is_constant(const struct ebpf_insn *in)
{
	return in->code == EBPF_MOV64_IMM || in->code == 0xb4;
}

static void one(struct link *l, const struct piece *p, unsigned i, kinds k, int frame)
{
	const struct ebpf_insn *in = &p->insns[i];

	switch (in->code & 7) {
	case CLASS_LDX:
		if (!(k & bit(in->src))) {
			load(l, in);
			return;
		}
		break;
	case CLASS_ST:
	case CLASS_STX:
		if (!(k & bit(in->dst))) {
			store(l, in, frame);
			return;
		}
		break;
	}
	if (in->code == EBPF_LDDW)
		load_constant(l, p, i);
	else if (in->code == EBPF_CALL && p->func == NULL)
		clause_call(l, p, i);
	else if (in->code == EBPF_CALL)
		function_call(l, p, i);
	else
		emit(l, in->code, in->dst, in->src, in->off, in->imm);
}

static void put_piece(struct link *l, unsigned number)
{
	struct piece p = l->pieces[number];
	kinds *k = all_kinds(l, &p);
	unsigned *place = calloc(p.n + 1, sizeof(*place)), *jump = calloc(p.n + 1, sizeof(*jump));
	unsigned end, *heads = carried(l, &p);
	bool loops = false, gives_nothing = !returns(&p);
	int frame = frame_of(&p);

	l->pieces[number].at = l->n;
	if (place == NULL || jump == NULL || k == NULL || heads == NULL) {
		l->failed = true;
		goto out;
	}
	if (p.is_entry) /* so that the kernel knows which arena */
		emit_lddw(l, R0, PSEUDO_MAP_FD, (uint32_t)l->in->arena_fd);
	for (unsigned i = 0; i < p.n && !l->failed; i++) {
		place[i] = l->n;
		if (is_jump(&p.insns[i]) && target(&p.insns[i], i) <= i) {
			emit(l, OP_MAY_GOTO, 0, 0, 0, 0);
			loops = true;
		}
		jump[i] = l->n;
		if (gives_nothing && p.insns[i].code == EBPF_EXIT)
			emit(l, EBPF_MOV64_IMM, R0, 0, 0, 0); /* the verifier wants a number */
		if (p.func != NULL && is_constant(&p.insns[i]) && begins_loop(&p, i, heads))
			hidden_constant(l, &p.insns[i]);
		else
			one(l, &p, i, k[i], frame);
		if (p.insns[i].code == EBPF_LDDW)
			i++;
	}
	end = l->n;
	if (loops) {
		emit(l, EBPF_MOV64_IMM, R0, 0, 0, 0);
		emit(l, EBPF_EXIT, 0, 0, 0, 0);
	}
	for (unsigned i = 0; i < p.n && !l->failed; i++) {
		if (p.insns[i].code == EBPF_LDDW) {
			i++;
			continue;
		}
		if (!is_jump(&p.insns[i]))
			continue;
		if (jump[i] != place[i])
			l->out[place[i]].off = (int16_t)(end - place[i] - 1);
		if (p.insns[i].code == 0x06)
			l->out[jump[i]].imm = (int32_t)(place[target(&p.insns[i], i)] - jump[i] - 1);
		else
			l->out[jump[i]].off = (int16_t)(place[target(&p.insns[i], i)] - jump[i] - 1);
	}
out:
	free(k);
	free(heads);
	free(place);
	free(jump);
}

static int give(struct link *l, struct k_output *out)
{
	out->parts = calloc(l->npieces + 1, sizeof(*out->parts));
	if (out->parts == NULL)
		return et_err(l->e, "ET_MEMORY", "out of memory for the kernel's program");
	for (unsigned i = 0; i < l->npieces; i++)
		out->parts[i] = (struct k_part){l->pieces[i].at, l->pieces[i].nargs};
	out->nparts = l->npieces;
	out->insns = l->out;
	out->ninsns = l->n;
	l->out = NULL;
	return 0;
}

int k_link(const struct k_input *in, struct k_output *out, struct et_error *e)
{
	struct link l = {.in = in, .e = e};
	int entry = k_object_find(in->object, in->entry), rc = -1;

	*out = (struct k_output){0};
	l.of_func = calloc(in->object->n + 1, sizeof(*l.of_func));
	l.nargs = calloc(in->object->n + 1, sizeof(*l.nargs));
	if (l.of_func == NULL || l.nargs == NULL || entry < 0) {
		et_err(e, "ET_KERNEL", "no %s for the kernel", in->entry);
		goto out;
	}
	piece_of(&l, entry, true);
	l.first_clause = (int)l.npieces;
	for (unsigned i = 0; i < in->nclauses; i++)
		add_piece(&l, (struct piece){
				      .insns = in->clauses[i].insns, .n = in->clauses[i].n, .nargs = 1});
	for (unsigned i = 0; i < l.npieces && !l.failed; i++)
		put_piece(&l, i);
	for (unsigned i = 0; i < l.ncalls && !l.failed; i++)
		l.out[l.calls[i].at].imm =
			(int32_t)(l.pieces[l.calls[i].piece].at - l.calls[i].at - 1);
	rc = l.failed ? -1 : give(&l, out);
out:
	free(l.of_func);
	free(l.nargs);
	free(l.pieces);
	free(l.calls);
	free(l.out);
	return rc;
}
