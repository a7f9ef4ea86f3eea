/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verifier: abstract interpretation of a program. It accepts a program only if, for any data,
 * the program terminates, accesses nothing but its stack, its context and the memory of its
 * environment, calls only functions of the environment with arguments of the right kinds, and can
 * neither forge nor leak an address.
 *
 * Jumps go forward only. One pass in program order therefore visits every instruction after all its
 * predecessors: the abstract state that reaches an instruction is the join of the state that falls
 * through to it and of those that jumps have left in pending[]. There are no loops, so no fixpoint
 * iteration and no widening are needed. Time is linear in the size of the program, memory is
 * bounded by MAX_STATES. Unreachable code must be well formed and is not examined further.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "verify.h"

/* Limit of jump targets that are pending at one time. */
#define MAX_STATES 4096

int vf_refuse(struct verifier *v, const char *fmt, ...)
{
	struct ebpf_insn insn[2] = {v->insns[v->at]}; /* a bad lddw may lack its second half */
	char text[128], why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (v->at + 1 < v->n)
		insn[1] = v->insns[v->at + 1];
	ebpf_disasm(insn, v->env, text, sizeof(text));
	return et_err(v->err, D_VERIFY, "instruction %u (%s): %s", v->at, text, why);
}

static int no_memory(struct verifier *v)
{
	return et_err(v->err, D_VERIFY, "out of memory");
}

/* ---- structure ------------------------------------------------------------------------ */

/* In pending[], marks the second half of a lddw: nothing may jump there. */
static struct state second_half;

static int check_insn(struct verifier *v)
{
	const struct ebpf_insn *insn = &v->insns[v->at];
	const char *wrong = ebpf_malformed(insn);

	if (wrong != NULL)
		return vf_refuse(v, "%s", wrong);
	if (insn->code == EBPF_CALL && (uint32_t)insn->imm >= v->env->nfns)
		return vf_refuse(v, "no such function");
	if (insn->code == EBPF_LDDW) {
		const struct ebpf_insn *next = insn + 1;

		if (v->at + 1 == v->n || next->code || next->dst || next->src || next->off)
			return vf_refuse(v, "its second half is missing");
		if (insn->src == EBPF_LDDW_STR && ebpf_imm64(insn) >= v->env->nstrs)
			return vf_refuse(v, "no such string");
		v->pending[++v->at] = &second_half;
	}
	return 0;
}

static unsigned target_of(const struct verifier *v, unsigned at)
{
	const struct ebpf_insn *insn = &v->insns[at];

	/* A negative distance wraps around to far out of range. */
	return at + 1 + (unsigned)(insn->code == EBPF_JA32 ? insn->imm : insn->off);
}

static int check_target(struct verifier *v)
{
	unsigned target = target_of(v, v->at);

	if (target <= v->at)
		return vf_refuse(v, "jumps back");
	if (target >= v->n)
		return vf_refuse(v, "jumps out of the program");
	if (v->pending[target] == &second_half)
		return vf_refuse(v, "jumps into the middle of an instruction");
	return 0;
}

static int check_structure(struct verifier *v)
{
	unsigned last = 0;

	for (v->at = 0; v->at < v->n; v->at++) {
		last = v->at;
		if (check_insn(v) < 0)
			return -1;
	}
	v->at = last;
	if (v->insns[last].code != EBPF_EXIT)
		return vf_refuse(v, "the program does not end by exit");
	for (v->at = 0; v->at < v->n; v->at++) {
		if (v->pending[v->at] == &second_half)
			continue;
		if ((ebpf_decode(&v->insns[v->at])->flags & EBPF_JUMPS) && check_target(v) < 0)
			return -1;
	}
	return 0;
}

/* ---- states --------------------------------------------------------------------------- */

static struct state *state_get(struct verifier *v)
{
	struct state *s = v->free;

	if (s != NULL) {
		v->free = s->next;
		return s;
	}
	if (v->nstates >= MAX_STATES) {
		vf_refuse(v, "too many jumps are open");
		return NULL;
	}
	s = malloc(sizeof(*s));
	if (s == NULL)
		no_memory(v);
	else
		v->nstates++;
	return s;
}

static void state_put(struct verifier *v, struct state *s)
{
	s->next = v->free;
	v->free = s;
}

/* Propagate s to the instruction at target. Takes ownership of s. */
static void flow_to(struct verifier *v, struct state *s, unsigned target)
{
	if (v->pending[target] == NULL) {
		v->pending[target] = s;
		return;
	}
	vf_join_state(v, v->pending[target], s);
	state_put(v, s);
}

/* ---- jumps ---------------------------------------------------------------------------- */

/* A MEM_OR_NULL was compared with 0: refine each copy of it. */
static void resolve_null(struct val *a, uint32_t id, bool null)
{
	if (a->kind != EBPF_MEM_OR_NULL || a->id != id)
		return;
	if (null)
		*a = vf_range(0, 0);
	else
		a->kind = EBPF_MEM;
}

static void resolve_null_all(struct state *s, uint32_t id, bool null)
{
	for (int i = R0; i <= R9; i++)
		resolve_null(&s->reg[i], id, null);
	for (unsigned i = 0; i < s->depth; i++)
		resolve_null(&s->slot[i], id, null);
}

/* Refine s for one edge of a conditional jump; false: that edge is never taken. */
static bool refine_branch(
	struct state *s, const struct ebpf_insn *insn, const struct ebpf_info *info, bool taken)
{
	struct val *a = &s->reg[insn->dst], b;

	if (a->kind == EBPF_MEM_OR_NULL)
		resolve_null_all(s, a->id, taken == (info->op == EBPF_O_JEQ));
	if (a->kind != EBPF_SCALAR)
		return true;
	if (info->form == EBPF_F_JMP_REG) {
		if (insn->src == insn->dst)
			return true;
		return vf_refine(info->op, info->bits, taken, a, &s->reg[insn->src]);
	}
	b = vf_range(ebpf_zext(ebpf_imm(insn), info->bits), ebpf_zext(ebpf_imm(insn), info->bits));
	return vf_refine(info->op, info->bits, taken, a, &b);
}

static int check_operands(
	struct verifier *v, const struct ebpf_insn *insn, const struct ebpf_info *info)
{
	const struct val *a = &v->cur->reg[insn->dst], *b = &v->cur->reg[insn->src];

	if (vf_is_pointer(a) && info->form == EBPF_F_JMP_IMM && insn->imm == 0 &&
		info->bits == 64 && (info->op == EBPF_O_JEQ || info->op == EBPF_O_JNE))
		return 0;
	if (vf_is_pointer(a))
		return vf_refuse(
			v, "r%d is %s, which can be compared with 0 only", insn->dst, vf_kind(a));
	if (info->form == EBPF_F_JMP_REG && vf_is_pointer(b))
		return vf_refuse(
			v, "r%d is %s, which can be compared with 0 only", insn->src, vf_kind(b));
	return 0;
}

/* *on: is the next instruction reachable from here? */
static int jump(
	struct verifier *v, const struct ebpf_insn *insn, const struct ebpf_info *info, bool *on)
{
	struct state *s;

	*on = (info->flags & EBPF_CONDITIONAL) != 0;
	if (*on && check_operands(v, insn, info) < 0)
		return -1;
	s = state_get(v);
	if (s == NULL)
		return -1;
	vf_copy_state(s, v->cur);
	if (!*on || refine_branch(s, insn, info, true))
		flow_to(v, s, target_of(v, v->at));
	else
		state_put(v, s);
	if (*on)
		*on = refine_branch(v->cur, insn, info, false);
	return 0;
}

/* ---- arithmetic ----------------------------------------------------------------------- */

static int move_pointer(struct verifier *v, struct val *p, unsigned op, const struct val *by)
{
	int64_t off = p->off;
	uint64_t span = by->max - by->min;

	if (p->kind != EBPF_MEM)
		return vf_refuse(v, "arithmetic with %s", vf_kind(p));
	if (vf_is_const(by) && (int64_t)by->min < OFF_LIMIT && (int64_t)by->min > -OFF_LIMIT)
		off += op == EBPF_O_ADD ? (int64_t)by->min : -(int64_t)by->min;
	else if (by->max < OFF_LIMIT)
		off += op == EBPF_O_ADD ? (int64_t)by->min : -(int64_t)by->max;
	else
		return vf_refuse(v, "a pointer is moved by a number without a known bound");
	if (off >= OFF_LIMIT || off <= -OFF_LIMIT || p->max + span >= OFF_LIMIT)
		return vf_refuse(v, "a pointer is moved too far");
	p->off = (int32_t)off;
	p->max += span;
	return 0;
}

static int alu(struct verifier *v, const struct ebpf_insn *insn, const struct ebpf_info *info)
{
	struct val *reg = v->cur->reg, *dst = &reg[insn->dst];
	struct val a = vf_range(0, 0), b = a;

	if (info->flags & EBPF_READS_DST)
		a = *dst;
	if (info->flags & EBPF_READS_SRC)
		b = reg[insn->src];
	else if (info->form == EBPF_F_ALU_IMM || info->form == EBPF_F_MOV_IMM)
		b = vf_range(ebpf_imm(insn), ebpf_imm(insn));
	if (info->row == EBPF_I_MOV64_REG) {
		*dst = b;
		return 0;
	}
	if (info->row == EBPF_I_ADD64_REG && a.kind == EBPF_SCALAR && vf_is_pointer(&b)) {
		if (move_pointer(v, &b, EBPF_O_ADD, &a) < 0)
			return -1;
		*dst = b;
		return 0;
	}
	if (vf_is_pointer(&b))
		return vf_refuse(v, "arithmetic with %s", vf_kind(&b));
	if (vf_is_pointer(&a)) {
		if (info->bits == 64 && (info->op == EBPF_O_ADD || info->op == EBPF_O_SUB))
			return move_pointer(v, dst, info->op, &b);
		return vf_refuse(v, "arithmetic with %s", vf_kind(&a));
	}
	*dst = vf_arith(info->op, info->bits, a, b);
	return 0;
}

static void lddw(struct verifier *v, const struct ebpf_insn *insn)
{
	uint64_t value = ebpf_imm64(insn);

	if (insn->src == EBPF_LDDW_STR)
		v->cur->reg[insn->dst] = (struct val){.kind = EBPF_STR};
	else
		v->cur->reg[insn->dst] = vf_range(value, value);
}

/* ---- the pass ------------------------------------------------------------------------- */

/* One instruction; *on: is the next one reachable from it? */
static int step(struct verifier *v, bool *on)
{
	const struct ebpf_insn *insn = &v->insns[v->at];
	const struct ebpf_info *info = ebpf_decode(insn);
	const struct val *reg = v->cur->reg;

	if ((info->flags & EBPF_READS_DST) && reg[insn->dst].kind == EBPF_NONE)
		return vf_refuse(v, "r%d is not initialised", insn->dst);
	if ((info->flags & EBPF_READS_SRC) && reg[insn->src].kind == EBPF_NONE)
		return vf_refuse(v, "r%d is not initialised", insn->src);
	switch ((enum ebpf_form)info->form) {
	case EBPF_F_ALU_IMM:
	case EBPF_F_ALU_REG:
	case EBPF_F_MOV_IMM:
	case EBPF_F_MOV_REG:
	case EBPF_F_UNARY:
	case EBPF_F_END: return alu(v, insn, info);
	case EBPF_F_LDDW: lddw(v, insn); return 0;
	case EBPF_F_LDX:
	case EBPF_F_ST:
	case EBPF_F_STX:
	case EBPF_F_ATOMIC: return vf_memory(v, insn, info);
	case EBPF_F_JA:
	case EBPF_F_JA32:
	case EBPF_F_JMP_IMM:
	case EBPF_F_JMP_REG: return jump(v, insn, info, on);
	case EBPF_F_CALL: return vf_call(v, (uint32_t)insn->imm);
	case EBPF_F_EXIT:
		*on = false;
		if (reg[R0].kind != EBPF_SCALAR)
			return vf_refuse(v, "the result in r0 is %s", vf_kind(&reg[R0]));
		return 0;
	case EBPF_NFORMS: break;
	}
	return vf_refuse(v, "unknown instruction");
}

static int walk(struct verifier *v)
{
	bool on = true; /* control can fall through to the instruction */

	for (v->at = 0; v->at < v->n; v->at++) {
		struct state *from = v->pending[v->at];

		if (from == &second_half)
			continue;
		if (from != NULL) {
			v->pending[v->at] = NULL;
			if (on)
				vf_join_state(v, v->cur, from);
			else
				vf_copy_state(v->cur, from);
			state_put(v, from);
			on = true;
		}
		if (on && step(v, &on) < 0)
			return -1;
	}
	return 0;
}

static void clean_up(struct verifier *v)
{
	for (unsigned i = 0; v->pending != NULL && v->nstates > 0 && i < v->n; i++)
		if (v->pending[i] != NULL && v->pending[i] != &second_half)
			free(v->pending[i]);
	while (v->free != NULL) {
		struct state *s = v->free;

		v->free = s->next;
		free(s);
	}
	free(v->pending);
}

int ebpf_verify(
	const struct ebpf_insn *insns, unsigned n, const struct ebpf_env *env, struct et_error *e)
{
	struct state first = {.depth = 0};
	struct verifier v = {.insns = insns, .n = n, .env = env, .err = e, .cur = &first};
	int rc;

	if (n == 0 || n > EBPF_MAX_INSNS)
		return et_err(e, D_VERIFY, "a program of %u instructions, 1 to %d are possible",
			n, EBPF_MAX_INSNS);
	if (env->nregions > EBPF_MAX_REGION)
		return et_err(e, D_VERIFY, "an environment of %u regions", env->nregions);
	v.next_id = n + 1;
	v.pending = calloc(n, sizeof(struct state *));
	if (v.pending == NULL)
		return no_memory(&v);
	first.reg[R1].kind = EBPF_CTX;
	first.reg[R10] = (struct val){.kind = EBPF_MEM, .in = IN_STACK};
	rc = check_structure(&v);
	if (rc == 0)
		rc = walk(&v);
	clean_up(&v);
	return rc;
}
