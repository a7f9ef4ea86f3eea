/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame instructions: where a function's frame is, from one instruction of its code to the
 * next. All that a stack's walk needs is kept: the CFA, the return address, rbp and rbx. Of DWARF's
 * expressions those are known that compilers and the C library have: of the PLT, of a signal's
 * handler, of a stack that was realigned.
 */
#include "cfi.h"

enum {
	ADVANCE = 1, OFFSET = 2, RESTORE = 3, /* in the two highest bits */

	NOP = 0, SET_LOC, ADVANCE1, ADVANCE2, ADVANCE4, OFFSET_EXTENDED, RESTORE_EXTENDED, UNDEFINED,
	SAME_VALUE, REGISTER, REMEMBER_STATE, RESTORE_STATE, DEF_CFA, DEF_CFA_REGISTER,
	DEF_CFA_OFFSET, DEF_CFA_EXPRESSION, EXPRESSION, OFFSET_EXTENDED_SF, DEF_CFA_SF,
	DEF_CFA_OFFSET_SF, VAL_OFFSET, VAL_OFFSET_SF, VAL_EXPRESSION,
	ARGS_SIZE = 0x2e, NEGATIVE_OFFSET_EXTENDED = 0x2f,
};
enum { OP_DEREF = 0x06, OP_LIT0 = 0x30, OP_LIT15 = 0x3f, OP_BREG0 = 0x70 };
enum { DEPTH = 16 }; /* of remembered states; compilers use one */

struct run {
	const struct cfi_common *of;
	struct cfi_bytes code;
	struct cfi_state *s;
	struct cfi_state kept[DEPTH];
	unsigned nkept;
};

/* ---- the CFA ---------------------------------------------------------------------------- */

/* Where the kernel has DWARF's registers in struct pt_regs, in words. */
static const uint8_t in_pt_regs[CFI_RA] = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0};

static void set_cfa(struct cfi_state *s, uint64_t reg, int64_t off)
{
	s->cfa = reg == CFI_SP	 ? UNWIND_SP
		 : reg == CFI_BP ? UNWIND_BP
		 : reg == CFI_BX ? UNWIND_BX
		 : reg < CFI_RA	 ? UNWIND_REGISTER
				 : UNWIND_NONE;
	s->reg = reg < CFI_RA ? in_pt_regs[reg] : 0;
	s->off = off;
}

/* Of the CFA only the register changes: it had another before, or the function is wrong. */
static void set_cfa_register(struct cfi_state *s, uint64_t reg)
{
	set_cfa(s, reg, s->off);
}

/* breg7 8; breg16 0; lit15; and; lit<n>; ge; lit3; shl; plus: an entry pushes after n bytes. */
static bool is_plt(struct cfi_bytes e, int64_t *push)
{
	static const uint8_t begin[] = {OP_BREG0 + CFI_SP, 8, OP_BREG0 + CFI_RA, 0, OP_LIT15, 0x1a},
			     end[] = {0x2a, 0x33, 0x24, 0x22};
	size_t n = sizeof(begin);

	if ((size_t)(e.end - e.at) != n + 1 + sizeof(end) || memcmp(e.at, begin, n) != 0 ||
		memcmp(e.at + n + 1, end, sizeof(end)) != 0 || e.at[n] < OP_LIT0 ||
		e.at[n] > OP_LIT15)
		return false;
	*push = e.at[n] - OP_LIT0;
	return true;
}

/* breg<n> off: a register and an offset; what is left of the expression then. */
static bool is_based(struct cfi_bytes *e, uint64_t *reg, int64_t *off)
{
	uint64_t op = cfi_fixed(e, 1);

	*reg = op - OP_BREG0;
	*off = cfi_sleb(e);
	return op >= OP_BREG0 && op < OP_BREG0 + 32 && !e->bad;
}

static void set_cfa_expression(struct cfi_state *s, struct cfi_bytes e, bool signal)
{
	uint64_t reg;
	int64_t off;

	s->cfa = UNWIND_NONE;
	s->reg = 0;
	if (is_plt(e, &off)) {
		s->cfa = UNWIND_PLT;
		s->off = off;
	} else if (is_based(&e, &reg, &off) && e.end - e.at == 1 && *e.at == OP_DEREF) {
		if (reg == CFI_SP && signal)
			s->cfa = UNWIND_SIGNAL;
		else if (reg == CFI_BP)
			s->cfa = UNWIND_AT_BP;
		s->off = off;
	}
}

/* ---- registers -------------------------------------------------------------------------- */

static struct cfi_reg *saved(struct cfi_state *s, uint64_t reg)
{
	return reg == CFI_BP   ? &s->bp
	       : reg == CFI_BX ? &s->bx
	       : reg == CFI_RA ? &s->ra
			       : NULL;
}

static void set_reg(struct run *r, uint64_t reg, int how, int64_t off)
{
	struct cfi_reg *of = saved(r->s, reg);

	if (of != NULL) {
		of->how = how;
		of->off = off;
	}
}

static void restore(struct run *r, uint64_t reg)
{
	struct cfi_state first = r->of->state;
	const struct cfi_reg *was = saved(&first, reg);

	if (was != NULL)
		*saved(r->s, reg) = *was;
}

static void set_expression(struct run *r, uint64_t reg, struct cfi_bytes e)
{
	uint64_t base;
	int64_t off;

	if (is_based(&e, &base, &off) && base == CFI_BP && e.at == e.end)
		set_reg(r, reg, CFI_AT_BP, off);
	else
		set_reg(r, reg, CFI_OTHER, 0);
}

/* So that numbers of a hostile file do not overflow: larger ones mean nothing. */
static int64_t scaled(const struct run *r, int64_t v)
{
	const int64_t most = INT32_MAX;

	if (v < -most || v > most || r->of->data_align < -most || r->of->data_align > most)
		return most;
	return v * r->of->data_align;
}

/* ---- instructions ----------------------------------------------------------------------- */

static int64_t limited(uint64_t v)
{
	return v > INT32_MAX ? INT32_MAX : (int64_t)v;
}

static void register_rule(struct run *r, unsigned op)
{
	struct cfi_bytes *b = &r->code;
	uint64_t reg = cfi_uleb(b);

	switch (op) {
	case OFFSET_EXTENDED: set_reg(r, reg, CFI_AT_CFA, scaled(r, limited(cfi_uleb(b)))); break;
	case OFFSET_EXTENDED_SF: set_reg(r, reg, CFI_AT_CFA, scaled(r, cfi_sleb(b))); break;
	case NEGATIVE_OFFSET_EXTENDED:
		set_reg(r, reg, CFI_AT_CFA, -scaled(r, limited(cfi_uleb(b))));
		break;
	case RESTORE_EXTENDED: restore(r, reg); break;
	case UNDEFINED: set_reg(r, reg, CFI_UNDEFINED, 0); break;
	case SAME_VALUE: set_reg(r, reg, CFI_SAME, 0); break;
	case EXPRESSION: set_expression(r, reg, cfi_block(b, cfi_uleb(b))); break;
	case VAL_EXPRESSION:
		cfi_block(b, cfi_uleb(b));
		set_reg(r, reg, CFI_OTHER, 0);
		break;
	default: /* in another register, or a number */
		cfi_uleb(b);
		set_reg(r, reg, CFI_OTHER, 0);
	}
}

static bool state_rule(struct run *r, unsigned op)
{
	struct cfi_bytes *b = &r->code;
	uint64_t reg;

	switch (op) {
	case NOP: return true;
	case REMEMBER_STATE:
		if (r->nkept == DEPTH)
			return false;
		r->kept[r->nkept++] = *r->s;
		return true;
	case RESTORE_STATE:
		if (r->nkept == 0)
			return false;
		*r->s = r->kept[--r->nkept];
		return true;
	case DEF_CFA:
		reg = cfi_uleb(b);
		set_cfa(r->s, reg, limited(cfi_uleb(b)));
		return true;
	case DEF_CFA_SF:
		reg = cfi_uleb(b);
		set_cfa(r->s, reg, scaled(r, cfi_sleb(b)));
		return true;
	case DEF_CFA_REGISTER: set_cfa_register(r->s, cfi_uleb(b)); return true;
	case DEF_CFA_OFFSET: r->s->off = limited(cfi_uleb(b)); return true;
	case DEF_CFA_OFFSET_SF: r->s->off = scaled(r, cfi_sleb(b)); return true;
	case DEF_CFA_EXPRESSION:
		set_cfa_expression(r->s, cfi_block(b, cfi_uleb(b)), r->of->signal);
		return true;
	case ARGS_SIZE: cfi_uleb(b); return true;
	default: return false;
	}
}

static bool is_register_rule(unsigned op)
{
	return (op >= OFFSET_EXTENDED && op <= REGISTER) || op == EXPRESSION ||
	       op == OFFSET_EXTENDED_SF || (op >= VAL_OFFSET && op <= VAL_EXPRESSION) ||
	       op == NEGATIVE_OFFSET_EXTENDED;
}

/* How far the code goes that has the state; 0: no such instruction. */
static uint64_t advance(struct run *r, unsigned op, unsigned low)
{
	uint64_t n = op == ADVANCE << 6 ? low
		     : op == ADVANCE1	? cfi_fixed(&r->code, 1)
		     : op == ADVANCE2	? cfi_fixed(&r->code, 2)
		     : op == ADVANCE4	? cfi_fixed(&r->code, 4)
					: 0;

	return n * (r->of->code_align & UINT32_MAX);
}

bool cfi_run(struct cfi_bytes code, const struct cfi_common *of, uint64_t *pc, struct cfi_state *s,
	cfi_row row, void *arg)
{
	struct run r = {.of = of, .code = code, .s = s};

	while (r.code.at < r.code.end) {
		unsigned byte = *r.code.at++, high = byte & 0xc0, low = byte & 0x3f, op;
		uint64_t n;

		op = high != 0 ? high : byte;
		if (high == OFFSET << 6) {
			set_reg(&r, low, CFI_AT_CFA, scaled(&r, limited(cfi_uleb(&r.code))));
		} else if (high == RESTORE << 6) {
			restore(&r, low);
		} else if (op == ADVANCE << 6 || (op >= ADVANCE1 && op <= ADVANCE4)) {
			n = advance(&r, op, low);
			if (n > 0 && !row(arg, *pc, s))
				return true;
			*pc += n;
		} else if (is_register_rule(op)) {
			register_rule(&r, op);
		} else if (!state_rule(&r, op)) {
			return false;
		}
		if (r.code.bad)
			return false;
	}
	return true;
}

/* ---- rules ------------------------------------------------------------------------------ */

static uint8_t words(const struct cfi_reg *of)
{
	int64_t below = -of->off / 8;

	if (of->how == CFI_SAME)
		return 0;
	if (of->off % 8 == 0 && of->how == CFI_AT_CFA && below > 0 && below < UNWIND_BY_BP)
		return (uint8_t)below;
	if (of->off % 8 == 0 && of->how == CFI_AT_BP && below >= 0 &&
		below < UNWIND_LOST - UNWIND_BY_BP)
		return (uint8_t)(UNWIND_BY_BP + below);
	return UNWIND_LOST;
}

struct unwind_rule cfi_rule(const struct cfi_state *s)
{
	struct unwind_rule r = {.cfa = s->cfa, .off = (int32_t)s->off};

	if (s->cfa == UNWIND_SIGNAL)
		return r;
	if (s->ra.how == CFI_UNDEFINED)
		return (struct unwind_rule){.cfa = UNWIND_END};
	if (s->ra.how != CFI_AT_CFA || s->ra.off != -8 || s->off != r.off || s->cfa == UNWIND_NONE)
		return (struct unwind_rule){.cfa = UNWIND_NONE};
	if (s->cfa == UNWIND_REGISTER)
		r.reg = s->reg;
	r.bp = words(&s->bp);
	r.bx = words(&s->bx);
	return r;
}
