/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links one image from an entry function, the functions that it reaches and the programs.
 *
 * To the kernel's verifier memory is apart: an access needs a pointer that was made just before
 * (pointer.c), and what is loaded is a number. So every access gets one here, but for those to the
 * stack, to the context and to maps; everywhere else pointers stay the numbers that user space
 * knows. Every backward jump gets a bound (bound.c), which proves to the verifier that the image
 * ends; where it is reached, the function returns 0.
 *
 * Programs pass keys as words on their stack, which no other function can read as arena memory:
 * they are copied into the context before the call.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "piece.h"

/* ---- emitting ------------------------------------------------------------------------- */

void link_no_memory(struct link *l)
{
	l->failed = true;
	et_err(l->e, ET_NOMEM, "out of memory for the kernel's program");
}

void link_emit(struct link *l, uint8_t code, int dst, int src, int off, int32_t imm)
{
	if (!l->failed && !ARRAY_ROOM(l->out, l->n))
		link_no_memory(l);
	if (l->failed)
		return;
	l->out[l->n++] = (struct ebpf_insn){.code = code,
		.dst = (uint8_t)(dst & 15),
		.src = (uint8_t)(src & 15),
		.off = (int16_t)off,
		.imm = imm};
}

void link_constant(struct link *l, int dst, int kind, uint64_t v)
{
	link_emit(l, EBPF_LDDW, dst, kind, 0, (int32_t)v);
	link_emit(l, 0, 0, 0, 0, (int32_t)(v >> 32));
}

static void emit_call(struct link *l, unsigned piece)
{
	if (!l->failed && !ARRAY_ROOM(l->calls, l->ncalls))
		link_no_memory(l);
	if (l->failed)
		return;
	l->calls[l->ncalls++] = (struct call){l->n, piece};
	link_emit(l, EBPF_CALL, 0, PSEUDO_CALL, 0, 0);
}

void link_function(struct link *l, int dst, unsigned piece)
{
	if (!l->failed && !ARRAY_ROOM(l->calls, l->ncalls))
		link_no_memory(l);
	if (l->failed)
		return;
	l->calls[l->ncalls++] = (struct call){l->n, piece};
	link_constant(l, dst, PSEUDO_FUNC, 0);
}

static int add_piece(struct link *l, struct piece p)
{
	if (!l->failed && !ARRAY_ROOM(l->pieces, l->npieces))
		link_no_memory(l);
	if (l->failed)
		return 0;
	l->pieces[l->npieces] = p;
	return (int)l->npieces++;
}

/* The piece of a function of the object, made on demand. */
static int piece_of(struct link *l, int func, bool is_entry)
{
	const struct ebpf_func *f;

	if (l->of_func[func] == 0) {
		f = &l->in->object->funcs[func];
		l->of_func[func] = 1 + add_piece(l, (struct piece){f->insns, f->n, f, is_entry,
							    false, 0, flow_args_of(l, func), 0});
	}
	return l->of_func[func] - 1;
}

unsigned link_add_callback(struct link *l, const struct piece *p, unsigned loop)
{
	return (unsigned)add_piece(l, (struct piece){.insns = p->insns,
					      .n = p->n,
					      .func = p->func,
					      .is_entry = p->is_entry,
					      .nargs = 2,
					      .loop = loop + 1});
}

const struct ebpf_symbol *link_symbol(const struct link *l, const struct ebpf_reloc *r)
{
	const struct ebpf_symbol *s = l->in->symbol;

	if (r == NULL || r->kind != EBPF_REL_SYMBOL || r->name == NULL)
		return NULL;
	for (unsigned i = 0; i < l->in->nsymbols; i++)
		if (strcmp(r->name, s[i].name) == 0)
			return &s[i];
	return NULL;
}

/* ---- calls of programs ---------------------------------------------------------------- */

/* r1, the context, becomes a pointer. */
static void copy_to_context(struct body *b, unsigned at, bool keep)
{
	if (keep)
		pointer_lend(b, R1, LOCAL_LENT_TOO);
	pointer_make(b, at, R1, R1);
}

/*
 * The words of a key, from the program's stack into the context. r0 is free before a call; r1 is
 * the context, which the program has in another register too (its last instruction before the
 * call).
 */
static void copy_key(struct body *b, unsigned at, unsigned fn, uint64_t id, int reg)
{
	struct link *l = b->l;
	const struct ebpf_insn *last = &b->p->insns[at - 1];
	struct ebpf_keypart part[EBPF_MAX_KEYS];
	int n = l->in->env->key(l->in->env, fn, id, part), to = R1;
	int off = (int)l->in->key;
	bool window = l->in->window != 0, known = at > 0 && last->code == EBPF_MOV64_REG &&
						  last->dst == R1 && last->off == 0 &&
						  last->src >= R6;

	if (n <= 0)
		return;
	if (known && access_pointer(b, last->src) > R5)
		to = access_pointer(b, last->src);
	else
		copy_to_context(b, at, !known && window);
	for (int i = 0; i < n; i++) {
		link_emit(l, EBPF_LDXDW, R0, reg, 8 * i, 0);
		link_emit(l, EBPF_STXDW, to, R0, off + 8 * i, 0);
	}
	if (to == R1 && known)
		link_emit(l, EBPF_MOV64_REG, R1, last->src, 0, 0);
	else if (to == R1 && window)
		pointer_return(b, R1, LOCAL_LENT_TOO);
	else if (to == R1)
		link_emit(l, OP_CAST, R1, R1, 1, TO_USER);
	link_emit(l, EBPF_MOV64_REG, reg, R1, 0, 0);
	link_emit(l, EBPF_ADD64_IMM, reg, 0, 0, off);
}

/* A load instead of a call; false: it is a call. */
static bool read_directly(struct body *b, unsigned call)
{
	struct link *l = b->l;
	const struct ebpf_direct *d =
		ebpf_direct_of(l->in->direct, l->in->ndirect, b->p->insns, call);

	if (d == NULL)
		return false;
	pointer_make(b, call, R0, R1);
	link_emit(l, EBPF_LDXDW, R0, R0, (int)d->pointer, 0);
	pointer_make(b, call, R0, R0);
	link_emit(l, d->size == 8 ? EBPF_LDXDW : EBPF_LDXW, R0, R0, (int)d->off, 0);
	if (d->tag != 0) {
		link_constant(l, R1, 0, d->tag);
		link_emit(l, EBPF_OR64_REG, R0, R1, 0, 0);
	}
	return true;
}

/* By its number, as programs call a function. */
static void program_call(struct body *b, unsigned at)
{
	struct link *l = b->l;
	unsigned fn = (unsigned)b->p->insns[at].imm;
	const struct ebpf_fn *f = &l->in->env->fns[fn];
	int func;

	if (read_directly(b, at))
		return;
	for (unsigned a = 1; a < EBPF_MAX_ARGS; a++)
		if (f->arg[a] == EBPF_KEY) /* of which object: the constant before it */
			copy_key(b, at, fn, (uint64_t)ebpf_const_arg(b->p->insns, at, R1 + a - 1),
				(int)(R1 + a));
	func = ebpf_object_find(l->in->object, l->in->fns[fn]);
	if (func < 0) {
		l->failed = true;
		et_err(l->e, ET_KERNEL, "%s() does not work in the kernel", f->name);
		return;
	}
	emit_call(l, (unsigned)piece_of(l, func, false));
}

/* ---- programs ------------------------------------------------------------------------- */

/*
 * The kernel takes 256 functions. So programs that are many share some: one behind the other, each
 * behind a look at the index that is asked for.
 */
enum { MOST_GROUPS = 96 };

static bool add_group(struct link *l, unsigned from, unsigned to)
{
	const struct ebpf_program *p = l->in->programs;
	unsigned n = 2, at = 0;
	struct ebpf_insn *all;

	for (unsigned i = from; i < to; i++)
		n += p[i].n + 2;
	all = calloc(n, sizeof(*all));
	if (all == NULL) {
		link_no_memory(l);
		return false;
	}
	for (unsigned i = from; i < to; i++) {
		/* its jump is a long one: a program may be */
		all[at++] = (struct ebpf_insn){
			.code = EBPF_JEQ_IMM, .dst = R2, .off = 1, .imm = (int32_t)p[i].index};
		if (l->in->window == 0)
			all[at++] = (struct ebpf_insn){.code = EBPF_JA32, .imm = (int32_t)p[i].n};
		else
			all[at++] = (struct ebpf_insn){.code = EBPF_JA, .off = (int16_t)p[i].n};
		memcpy(all + at, p[i].insns, p[i].n * sizeof(*all));
		at += p[i].n;
	}
	all[at++] = (struct ebpf_insn){.code = EBPF_MOV64_IMM, .dst = R0};
	all[at++] = (struct ebpf_insn){.code = EBPF_EXIT};
	add_piece(l, (struct piece){.insns = all, .n = at, .nargs = 2, .own = true});
	return !l->failed;
}

static void add_programs(struct link *l)
{
	unsigned n = l->in->nprograms, each = (n + MOST_GROUPS - 1) / MOST_GROUPS;

	l->first_program = (int)l->npieces;
	l->per_group = each;
	for (unsigned i = 0; i < n && !l->failed; i += each)
		if (each == 1)
			add_piece(l, (struct piece){.insns = l->in->programs[i].insns,
					     .n = l->in->programs[i].n,
					     .nargs = 1});
		else
			add_group(l, i, i + each < n ? i + each : n);
}

/* Halves by halves to the function that has it. */
static void choose(struct link *l, unsigned lo, unsigned hi, unsigned *ends)
{
	unsigned mid = (lo + hi) / 2, at = l->n;
	const struct ebpf_program *p = l->in->programs;

	if (hi - lo > 1) {
		link_emit(l, EBPF_JGE_IMM, R2, 0, 0, (int32_t)p[mid * l->per_group].index);
		choose(l, lo, mid, ends);
		if (!l->failed)
			l->out[at].off = (int16_t)(l->n - at - 1);
		choose(l, mid, hi, ends);
		return;
	}
	if (l->per_group == 1)
		link_emit(l, EBPF_JNE_IMM, R2, 0, 1, (int32_t)p[lo].index);
	emit_call(l, (unsigned)l->first_program + lo);
	ends[lo] = l->n;
	link_emit(l, EBPF_JA, 0, 0, 0, 0);
}

/* EBPF_SYM_RUN, inline: calls go eight deep at most. */
static void choose_program(struct link *l)
{
	unsigned ends[MOST_GROUPS], n = l->in->nprograms;

	if (n == 0)
		return;
	n = (n + l->per_group - 1) / l->per_group;
	choose(l, 0, n, ends);
	for (unsigned i = 0; i < n && !l->failed; i++)
		l->out[ends[i]].off = (int16_t)(l->n - ends[i] - 1);
}

/* ---- one function --------------------------------------------------------------------- */

static void helper_call(struct link *l, const struct piece *p, const struct ebpf_insn *in)
{
	if (flow_helper_args(in->imm) < 0) {
		l->failed = true;
		et_err(l->e, ET_KERNEL,
			"%s calls the kernel's helper %d, which is not in helpers.def",
			p->func->name, in->imm);
	} else if (in->imm == HELPER_bpf_copy_from_user && !l->in->sleeps) {
		link_emit(l, EBPF_MOV64_IMM, R0, 0, 0, -1);
	} else {
		link_emit(l, in->code, 0, 0, 0, in->imm);
	}
}

static bool is_left_out(const struct link *l, int func)
{
	for (unsigned i = 0; i < EBPF_MAX_LEFT_OUT; i++)
		if (l->left_out[i] == func)
			return true;
	return false;
}

static void function_call(struct link *l, const struct piece *p, unsigned at)
{
	const struct ebpf_insn *in = &p->insns[at];
	const struct ebpf_reloc *r = flow_reloc(p, at);
	const struct ebpf_symbol *s = link_symbol(l, r);

	if (in->src != PSEUDO_CALL) {
		helper_call(l, p, in);
		return;
	}
	if (s != NULL && s->kind == EBPF_SYM_RUN) {
		choose_program(l);
		return;
	}
	if (r == NULL || r->kind != EBPF_REL_FUNC) {
		l->failed = true;
		et_err(l->e, ET_KERNEL, "the kernel's half has no function %s, which %s calls",
			r != NULL && r->name != NULL ? r->name : "?", p->func->name);
		return;
	}
	if (is_left_out(l, r->index)) {
		link_emit(l, EBPF_MOV64_IMM, R0, 0, 0, 0);
		return;
	}
	emit_call(l, (unsigned)piece_of(l, r->index, false));
}

static void load_constant(struct link *l, const struct piece *p, unsigned at)
{
	const struct ebpf_insn *in = &p->insns[at];
	const struct ebpf_reloc *r = flow_reloc(p, at);
	const struct ebpf_symbol *s = link_symbol(l, r);
	uint64_t v = (uint32_t)in->imm | (uint64_t)(uint32_t)in[1].imm << 32;

	if (p->func == NULL && in->src == EBPF_LDDW_STR) {
		link_constant(l, in->dst, 0, l->in->strs[in->imm]);
	} else if (r == NULL) {
		link_constant(l, in->dst, 0, v);
	} else if (r->kind == EBPF_REL_DATA) {
		link_constant(l, in->dst, 0, l->in->object->data[r->index].addr + r->off);
	} else if (s != NULL && s->kind == EBPF_SYM_NUMBER) {
		link_constant(l, in->dst, 0, s->value + v);
	} else if (s != NULL && s->kind == EBPF_SYM_MAP) {
		link_constant(l, in->dst, PSEUDO_MAP_VALUE, (uint32_t)s->value | v << 32);
	} else {
		l->failed = true;
		et_err(l->e, ET_KERNEL, "the kernel's half has no %s", r->name ? r->name : "data");
	}
}

/* A constant that the verifier does not know: by a 0 that is in memory. */
static void hidden_constant(struct link *l, const struct ebpf_insn *in)
{
	pointer_constant(l, in->dst, l->in->zero);
	link_emit(l, EBPF_LDXDW, in->dst, in->dst, 0, 0);
	link_emit(l, in->code == EBPF_MOV64_IMM ? EBPF_ADD64_IMM : EBPF_ADD32_IMM, in->dst, 0, 0,
		in->imm);
}

static void one(struct body *b, unsigned i)
{
	const struct ebpf_insn *in = &b->p->insns[i];
	struct link *l = b->l;
	unsigned class = in->code & 7;

	if (class == CLASS_LDX && !(b->kinds[i] >> in->src & 1))
		access_load(b, i);
	else if ((class == CLASS_ST || class == CLASS_STX) && !(b->kinds[i] >> in->dst & 1))
		access_store(b, i);
	else if (loop_of_frame(b, i) || (l->in->window != 0 && older_insn(b, i)))
		;
	else if (b->callback != NULL && in->code == EBPF_EXIT)
		; /* loop_fall() */
	else if (in->code == EBPF_LDDW)
		load_constant(l, b->p, i);
	else if (in->code == EBPF_CALL && b->p->func == NULL)
		program_call(b, i);
	else if (in->code == EBPF_CALL)
		function_call(l, b->p, i);
	else if (l->in->window == 0 && b->p->func != NULL && flow_is_constant(in) &&
		 flow_begins_loop(b->p, i, b->heads))
		hidden_constant(l, in);
	else
		link_emit(l, in->code, in->dst, in->src, in->off, in->imm);
	access_forget(b, flow_writes(in));
}

void link_too_long(struct link *l, const struct piece *p)
{
	l->failed = true;
	et_err(l->e, ET_KERNEL, "%s%s too long for the kernel%s",
		p->func != NULL ? p->func->name : "its clauses",
		p->func != NULL ? "() is" : " are",
		l->in->window != 0 ? " before Linux 6.9" : "");
}

/* A jump whose distance is 32 bits wide. */
static void far_jump(struct link *l, const struct piece *p, const struct ebpf_insn *in)
{
	if (l->in->window != 0) { /* a kernel without arenas need not have it */
		link_too_long(l, p);
		return;
	}
	if (flow_goes_on(in)) {
		link_emit(l, in->code, in->dst, in->src, 1, in->imm);
		link_emit(l, EBPF_JA, 0, 0, 1, 0);
	}
	link_emit(l, EBPF_JA32, 0, 0, 0, 0);
}

/* One jump of the output. false: it is too far for its instruction. */
static bool set_jump(struct link *l, unsigned at, unsigned to)
{
	struct ebpf_insn *in = &l->out[at];
	int distance = (int)(to - at - 1);

	if (in->code == EBPF_JA32)
		in->imm = distance;
	else
		in->off = (int16_t)distance;
	return in->code == EBPF_JA32 || in->off == distance;
}

/*
 * Jumps, when all instructions are laid out: those of bounds lead to the end. false: some are too
 * far, and are now marked.
 */
static bool aim(struct body *b, unsigned end)
{
	const struct ebpf_insn *insns = b->p->insns;
	struct link *l = b->l;
	bool all = true;
	unsigned to;

	for (unsigned i = 0; i < b->p->n && !l->failed; i++) {
		if (b->bound[i] != 0 && !set_jump(l, b->bound[i], end)) {
			link_too_long(l, b->p);
			return true;
		}
		if (insns[i].code == EBPF_LDDW) {
			i++;
			continue;
		}
		if (!flow_is_jump(&insns[i]) || !loop_lays_out(b, i))
			continue;
		to = flow_target(&insns[i], i);
		if (loop_takes(b, i)) {
			to = b->stub[to];
		} else if (b->way_in[to] != 0 && bound_enters(b, i)) {
			all &= set_jump(l, b->way_in[to] + 1, b->start[to]);
			to = b->way_in[to];
		} else {
			to = b->start[to];
		}
		if (!set_jump(l, b->jump[i], to)) {
			b->far[i] = true;
			all = false;
		}
	}
	loop_aim(b, end);
	return all;
}

static bool body_open(struct body *b, struct link *l, const struct piece *p, bool *far)
{
	*b = (struct body){.l = l, .p = p, .frame = flow_frame(p), .far = far};
	b->kinds = flow_kinds(l, p);
	b->live = flow_live(l, p);
	b->joins = flow_joins(l, p);
	b->heads = b->live != NULL ? flow_heads(l, p, b->live) : NULL;
	b->start = calloc(p->n + 1, sizeof(*b->start));
	b->jump = calloc(p->n + 1, sizeof(*b->jump));
	b->bound = calloc(p->n + 1, sizeof(*b->bound));
	b->nest = calloc(p->n + 1, sizeof(*b->nest));
	b->way_in = calloc(p->n + 1, sizeof(*b->way_in));
	b->reached = calloc(p->n + 1, sizeof(*b->reached));
	b->turns = calloc(p->n + 1, sizeof(*b->turns));
	b->loop_of = calloc(p->n + 1, sizeof(*b->loop_of));
	b->stub = calloc(p->n + 1, sizeof(*b->stub));
	for (unsigned i = 0; i < p->n; i++)
		b->uses |= flow_writes(&p->insns[i]);
	return b->kinds != NULL && b->live != NULL && b->joins != NULL && b->heads != NULL &&
	       b->start != NULL && b->jump != NULL && b->bound != NULL && b->nest != NULL &&
	       b->way_in != NULL && b->reached != NULL && b->turns != NULL &&
	       b->loop_of != NULL && b->stub != NULL;
}

static void body_close(struct body *b)
{
	free(b->kinds);
	free(b->live);
	free(b->joins);
	free(b->heads);
	free(b->start);
	free(b->jump);
	free(b->bound);
	free(b->nest);
	free(b->way_in);
	free(b->reached);
	free(b->turns);
	free(b->loop_of);
	free(b->stub);
	loop_close(b);
}

/* All instructions of a function; where they end, before what is added. */
static unsigned put_insns(struct body *b)
{
	const struct piece *p = b->p;
	struct link *l = b->l;
	bool loops = false, gives_nothing = !flow_returns(p);
	unsigned end;

	for (unsigned i = 0; i < p->n && !l->failed; i++) {
		if (!loop_lays_out(b, i))
			continue;
		bound_fall(b, i);
		if (l->in->window != 0 && b->joins[i] && i > 0 && loop_lays_out(b, i - 1) &&
			flow_goes_on(&p->insns[i - 1]))
			link_emit(l, EBPF_JA, 0, 0, 0, 0); /* bound.c */
		b->start[i] = l->n;
		if (b->joins[i])
			access_forget(b, ~0u);
		bound_head(b, i);
		if (flow_is_jump(&p->insns[i]) && flow_target(&p->insns[i], i) <= i) {
			bound_turn(b, i);
			loops |= l->in->window == 0 || b->turns[i];
		}
		if (gives_nothing && p->insns[i].code == EBPF_EXIT)
			link_emit(l, EBPF_MOV64_IMM, R0, 0, 0, 0); /* the verifier wants a number */
		if (b->far[i])
			far_jump(l, p, &p->insns[i]);
		else
			one(b, i);
		b->jump[i] = l->n - 1; /* if it is one */
		loop_fall(b, i);
		if (p->insns[i].code == EBPF_LDDW)
			i++;
	}
	end = l->n;
	if ((loops || b->nloops > 0) && b->callback == NULL)
		bound_end(b);
	bound_ways_in(b);
	loop_end(b);
	return end;
}

/* false: once more, with the jumps that have been found to be far. */
static bool try_piece(struct link *l, const struct piece *p, bool *far)
{
	struct body b;
	bool all = true;

	if (!body_open(&b, l, p, far)) {
		link_no_memory(l);
	} else {
		loop_open(&b);
		bound_open(&b);
		loop_frame(&b);
		pointer_open(&b);
		if (b.callback != NULL)
			loop_begin(&b);
		all = aim(&b, put_insns(&b));
	}
	body_close(&b);
	return all;
}

static void put_piece(struct link *l, unsigned number)
{
	struct piece p = l->pieces[number]; /* others are added meanwhile */
	unsigned ncalls = l->ncalls;
	uint64_t follows = l->follows;
	bool *far = calloc(p.n + 1, sizeof(*far));

	l->pieces[number].at = l->n;
	if (far == NULL)
		link_no_memory(l);
	while (!l->failed && !try_piece(l, &p, far)) {
		l->n = l->pieces[number].at;
		l->ncalls = ncalls;
		l->follows = follows;
	}
	free(far);
}

static int give(struct link *l, struct ebpf_image *im)
{
	im->parts = calloc(l->npieces + 1, sizeof(*im->parts));
	if (im->parts == NULL) {
		link_no_memory(l);
		return -1;
	}
	for (unsigned i = 0; i < l->npieces; i++) {
		const struct piece *p = &l->pieces[i];

		im->parts[i] = (struct ebpf_part){
			.name = p->func ? p->func->name : NULL,
			.at = p->at,
			.nargs = p->nargs,
			.callback = p->loop > 0};
	}
	im->nparts = l->npieces;
	im->follows = l->follows;
	im->insns = l->out;
	im->ninsns = l->n;
	l->out = NULL;
	return 0;
}

static void forget_pieces(struct link *l)
{
	for (unsigned i = 0; i < l->npieces; i++)
		if (l->pieces[i].own)
			free((void *)(uintptr_t)l->pieces[i].insns);
	l->npieces = l->ncalls = l->n = 0;
	l->follows = 0;
	memset(l->of_func, 0, l->in->object->n * sizeof(*l->of_func));
}

static void link_all(struct link *l, int entry)
{
	do {
		forget_pieces(l);
		piece_of(l, entry, true);
		add_programs(l);
		for (unsigned i = 0; i < l->npieces && !l->failed; i++)
			put_piece(l, i);
	} while (!l->failed && l->in->loops && depth_exceeds(l));
	for (unsigned i = 0; i < l->ncalls && !l->failed; i++)
		l->out[l->calls[i].at].imm =
			(int32_t)(l->pieces[l->calls[i].piece].at - l->calls[i].at - 1);
}

int ebpf_link(const struct ebpf_link_input *in, struct ebpf_image *im, struct et_error *e)
{
	struct link l = {.in = in, .e = e};
	int entry = ebpf_object_find(in->object, in->entry), rc;

	*im = (struct ebpf_image){0};
	if (entry < 0)
		return et_err(e, ET_KERNEL, "no %s for the kernel", in->entry);
	memset(l.left_out, 0xff, sizeof(l.left_out));
	for (unsigned i = 0; i < EBPF_MAX_LEFT_OUT && in->left_out[i] != NULL; i++)
		l.left_out[i] = ebpf_object_find(in->object, in->left_out[i]);
	l.of_func = calloc(in->object->n + 1, sizeof(*l.of_func));
	l.nargs = calloc(in->object->n + 1, sizeof(*l.nargs));
	l.counted = calloc(in->object->n + 1, sizeof(*l.counted));
	if (l.of_func == NULL || l.nargs == NULL || l.counted == NULL)
		link_no_memory(&l);
	else
		link_all(&l, entry);
	rc = l.failed ? -1 : give(&l, im);
	if (l.of_func != NULL)
		forget_pieces(&l);
	free(l.of_func);
	free(l.nargs);
	free(l.counted);
	free(l.pieces);
	free(l.calls);
	free(l.out);
	return rc;
}

void ebpf_image_free(struct ebpf_image *im)
{
	free(im->insns);
	free(im->parts);
	*im = (struct ebpf_image){0};
}
