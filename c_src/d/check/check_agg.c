/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregations: @name[keys] = function(..), with the constants of lquantize() and llquantize(),
 * which must be the same in all uses of a name; and the actions that take whole aggregations.
 */
#include "check.h"
#include "prog/aggfn.h"

#define PRINTA_MAX 64u /* arguments */

/* ---- constants of distributions -------------------------------------------------------------- */

static int constant(struct d_comp *c, const struct d_node *n, struct d_node *a, enum et_tag tag,
	const char *what)
{
	if (chk_expr(c, a, CX_VALUE))
		return -1;
	if (!d_is_int(a->type))
		return CHK_ERR(c, D_PROTO_ARG, a, "the %s of %s() must be an integer, not '%s'",
			what, n->text, chk_tname(c, a->type));
	if (a->kind != N_INT)
		return d_nerror(
			c, tag, a, "the %s of %s() must be an integer constant", what, n->text);
	return 0;
}

static int in_range(struct d_comp *c, const struct d_node *n, const struct d_node *a,
	enum et_tag tag, const char *what, int64_t min, int64_t max)
{
	bool huge = !d_is_signed(a->type) && a->value > INT64_MAX;
	int64_t v = (int64_t)a->value;

	if (!huge && v >= min && v <= max)
		return 0;
	return d_nerror(c, tag, a, "the %s of %s() must be from %" PRId64 " to %" PRId64, what,
		n->text, min, max);
}

static int increment(struct d_comp *c, const struct d_node *n, struct d_node *a)
{
	if (!a)
		return 0;
	if (chk_expr(c, a, CX_VALUE) || chk_term_number(c, a))
		return -1;
	if (!d_is_int(a->type))
		return CHK_ERR(c, D_PROTO_ARG, a,
			"the increment of %s() must be an integer, not '%s'", n->text,
			chk_tname(c, a->type));
	return chk_int_cast(c, a, c->t.i64);
}

static int lquant_levels(
	struct d_comp *c, const struct d_node *n, int64_t base, int64_t limit, int64_t step)
{
	if (limit - base < step)
		return CHK_ERR(c, D_LQUANT_STEPLARGE, n,
			"the step of lquantize() (%" PRId64 ") is larger than its range (%" PRId64
			")",
			step, limit - base);
	if ((limit - base) / step > UINT16_MAX)
		return CHK_ERR(c, D_LQUANT_STEPSMALL, n,
			"the step of lquantize() (%" PRId64 ") gives %" PRId64
			" levels: at most %d",
			step, (limit - base) / step, UINT16_MAX);
	return 0;
}

static int step_of(struct d_comp *c, const struct d_node *n, struct d_node *a)
{
	if (chk_expr(c, a, CX_VALUE))
		return -1;
	if (a->kind != N_INT || !d_is_int(a->type) || a->value == 0 ||
		(d_is_signed(a->type) && (int64_t)a->value < 0))
		return CHK_ERR(c, D_LQUANT_STEPTYPE, a,
			"the step of lquantize() must be a positive integer constant");
	return in_range(c, n, a, D_LQUANT_STEPVAL, "step", 1, UINT16_MAX);
}

static int check_lquantize(struct d_comp *c, struct d_node *n, uint64_t param[5])
{
	struct d_node *base = n->list->next, *limit = base->next, *step = limit->next;

	if (constant(c, n, base, D_LQUANT_BASETYPE, "base") ||
		in_range(c, n, base, D_LQUANT_BASEVAL, "base", INT32_MIN, INT32_MAX) ||
		constant(c, n, limit, D_LQUANT_LIMTYPE, "limit") ||
		in_range(c, n, limit, D_LQUANT_LIMVAL, "limit", INT32_MIN, INT32_MAX))
		return -1;
	param[0] = base->value;
	param[1] = limit->value;
	if ((int64_t)limit->value < (int64_t)base->value)
		return CHK_ERR(c, D_LQUANT_MISMATCH, n,
			"the base of lquantize() (%" PRId64 ") must be below its limit (%" PRId64
			")",
			(int64_t)base->value, (int64_t)limit->value);
	if (step && step_of(c, n, step))
		return -1;
	param[2] = step ? step->value : 1;
	if (lquant_levels(c, n, param[0], param[1], param[2]))
		return -1;
	return increment(c, n, step ? step->next : NULL);
}

/* factor to the power of n, or 0: that needs more than 64 bits. */
static uint64_t power(uint64_t factor, uint64_t n)
{
	uint64_t r = 1;

	while (n-- > 0)
		if (__builtin_mul_overflow(r, factor, &r))
			return 0;
	return r;
}

/*
 * The steps of each magnitude are whole numbers: few steps divide the factor; more are a multiple
 * of it, and divide the first magnitude that has as many numbers.
 */
static bool steps_fit(uint64_t factor, uint64_t low, uint64_t steps)
{
	if (steps < factor)
		return steps > 0 && factor % steps == 0;
	return steps % factor == 0 &&
	       (steps == factor || power(factor, low == 0 ? 2 : low + 1) % steps == 0);
}

static int llquant_rules(struct d_comp *c, const struct d_node *n, const uint64_t p[5])
{
	uint64_t factor = p[0], low = p[1], high = p[2], steps = p[3];

	if (low > high)
		return CHK_ERR(c, D_LLQUANT_HMAGVAL, n,
			"the low magnitude of llquantize() (%" PRIu64
			") must not be above the high one (%" PRIu64 ")",
			low, high);
	if (power(factor, high + 1) == 0)
		return CHK_ERR(c, D_LLQUANT_HMAGVAL, n,
			"the high magnitude of llquantize() is too large: %" PRIu64
			" to the power of %" PRIu64 " does not fit in 64 bits",
			factor, high + 1);
	if (!steps_fit(factor, low, steps))
		return CHK_ERR(c, D_LLQUANT_STEPVAL, n,
			"the steps of llquantize() (%" PRIu64
			") must divide its factor (%" PRIu64
			"), or be a multiple of it that divides %" PRIu64
			" to the power of %" PRIu64,
			steps, factor, factor, low == 0 ? 2 : low + 1);
	return 0;
}

static int check_llquantize(struct d_comp *c, struct d_node *n, uint64_t param[5])
{
	static const struct {
		enum et_tag type, val;
		const char *what;
		int min;
	} rules[4] = {
		{D_LLQUANT_FACTORTYPE, D_LLQUANT_FACTORVAL, "factor", 2},
		{D_LLQUANT_LMAGTYPE, D_LLQUANT_LMAGVAL, "low magnitude", 0},
		{D_LLQUANT_HMAGTYPE, D_LLQUANT_HMAGVAL, "high magnitude", 0},
		{D_LLQUANT_STEPTYPE, D_LLQUANT_STEPVAL, "number of steps", 1},
	};
	struct d_node *a = n->list->next;

	for (int i = 0; i < 4; i++, a = a->next) {
		if (constant(c, n, a, rules[i].type, rules[i].what) ||
			in_range(c, n, a, rules[i].val, rules[i].what, rules[i].min, UINT16_MAX))
			return -1;
		param[i] = a->value;
	}
	return llquant_rules(c, n, param) ? -1 : increment(c, n, a);
}

/* ---- @a = f(..) --------------------------------------------------------------------------------
 */

static const struct {
	uint8_t fn, min, max;
} agg_args[] = {
	{AGG_COUNT, 0, 0},
	{AGG_LQUANTIZE, 3, 5},
	{AGG_LLQUANTIZE, 5, 6},
	{AGG_PERCENTILE, 1, 1 + AGGFN_PERCENTS},
	{AGG_QUANTIZE, 1, 2},
};

static int agg_len(struct d_comp *c, const struct d_node *f)
{
	unsigned have = chk_count(f->list), min = 1, max = 1;

	for (size_t i = 0; i < sizeof(agg_args) / sizeof(*agg_args); i++)
		if (agg_args[i].fn == f->ident->id) {
			min = agg_args[i].min;
			max = agg_args[i].max;
		}
	if (have >= min && have <= max)
		return 0;
	if (min == max)
		return CHK_ERR(c, D_PROTO_LEN, f, "%s() takes %u argument%s, not %u", f->text, min,
			min == 1 ? "" : "s", have);
	return CHK_ERR(c, D_PROTO_LEN, f, "%s() takes %u to %u arguments, not %u", f->text, min,
		max, have);
}

int chk_agg_func(struct d_comp *c, struct d_node *f, uint64_t param[5])
{
	struct d_node *x = f->list;

	if (agg_len(c, f))
		return -1;
	if (x && (chk_expr(c, x, CX_VALUE) || chk_term_number(c, x)))
		return -1;
	if (x && !d_is_scalar(x->type))
		return CHK_ERR(c, D_AGG_SCALAR, x,
			"%s() takes an integer or a pointer, not a value of type '%s'%s", f->text,
			chk_tname(c, x->type), chk_kept_term(c, x));
	switch (f->ident->id) {
	case AGG_QUANTIZE: return increment(c, f, x->next);
	case AGG_LQUANTIZE: return check_lquantize(c, f, param);
	case AGG_LLQUANTIZE: return check_llquantize(c, f, param);
	case AGG_PERCENTILE: return chk_percents(c, f, param);
	default: return 0;
	}
}

static int same_params(
	struct d_comp *c, const struct d_node *f, const struct d_ident *id, const uint64_t param[5])
{
	static const enum et_tag lq[] = {
		D_LQUANT_MATCHBASE, D_LQUANT_MATCHLIM, D_LQUANT_MATCHSTEP};
	static const enum et_tag llq[] = {D_LLQUANT_MATCHFACTOR, D_LLQUANT_MATCHLMAG,
		D_LLQUANT_MATCHHMAG, D_LLQUANT_MATCHSTEPS};
	static const char *const lqname[] = {"base", "limit", "step"};
	static const char *const llqname[] = {
		"factor", "low magnitude", "high magnitude", "number of steps"};
	bool ll = f->ident->id == AGG_LLQUANTIZE;

	if (f->ident->id == AGG_PERCENTILE)
		return chk_same_percents(c, f, id, param);
	for (int i = 0; i < (ll ? 4 : 3); i++)
		if (param[i] != id->aggparam[i])
			return d_nerror(c, ll ? llq[i] : lq[i], f,
				"the %s of %s() for @%s is %" PRId64 " here and %" PRId64
				" at line %d: all uses must agree",
				ll ? llqname[i] : lqname[i], f->text, id->name, (int64_t)param[i],
				(int64_t)id->aggparam[i], id->line);
	return 0;
}

static struct d_ident *agg_ident(struct d_comp *c, const struct d_node *n)
{
	struct d_ident *id = d_ident_find(c->aggs, n->text);

	if (id)
		return id;
	if (d_idtab_mark(c->aggs) >= D_MAX_AGGS) {
		CHK_ERR(c, D_ID_OFLOW, n, "more than %d aggregations: use keys", D_MAX_AGGS);
		return NULL;
	}
	id = d_ident_add(c, c->aggs, n->text, ID_AGG);
	if (!id) {
		d_nomem(c);
		return NULL;
	}
	id->line = n->line;
	id->type = c->t.dyn;
	return id;
}

static int bind(struct d_comp *c, struct d_node *n, struct d_ident *id)
{
	struct d_node *f = n->b;
	uint64_t param[5] = {0};

	if (id->aggfn && id->aggfn != f->ident->id)
		return CHK_ERR(c, D_AGG_REDEF, n,
			"@%s is another aggregation at line %d: a name keeps its function, use "
			"another name for %s()",
			id->name, id->line, f->text);
	if (chk_agg_func(c, f, param))
		return -1;
	if (!id->aggfn) {
		id->aggfn = f->ident->id;
		memcpy(id->aggparam, param, sizeof(param));
		return 0;
	}
	return same_params(c, f, id, param);
}

int chk_aggregate(struct d_comp *c, struct d_node *n)
{
	struct d_node *f = n->b;
	struct d_ident *id, *fn = NULL;

	if (f->kind == N_FUNC)
		fn = d_name_find(c, c->globals, f->text);
	if (!fn || fn->kind != ID_AGGFUNC) {
		if (chk_expr(c, f, CX_DYN))
			return -1;
		return CHK_ERR(c, D_AGG_FUNC, n,
			"@%s must be assigned an aggregating function: count(), sum(x), min(x), "
			"max(x), avg(x), stddev(x), quantize(x), lquantize(x, ..), "
			"llquantize(x, ..), percentile(x, ..)",
			n->a->text);
	}
	if (chk_attr(c, f, fn))
		return -1;
	id = agg_ident(c, n->a);
	if (!id || chk_keys(c, n->a, id, true))
		return -1;
	n->a->ident = id;
	n->a->type = c->t.dyn;
	n->a->flags |= NF_CHECKED;
	f->ident = fn;
	f->type = c->t.void_;
	f->flags |= NF_CHECKED;
	n->type = c->t.void_;
	return bind(c, n, id);
}

int chk_agg_ref(struct d_comp *c, struct d_node *n)
{
	n->ident = d_ident_find(c->aggs, n->text);
	if (!n->ident && !n->list)
		return CHK_ERR(c, D_IDENT_UNDEF, n, "@%s is not defined before%s", n->text,
			chk_suggest(c, c->aggs, n->text, 1u << ID_AGG));
	for (struct d_node *k = n->list; k; k = k->next)
		if (chk_expr(c, k, CX_VALUE))
			return -1;
	n->type = c->t.dyn;
	return 0;
}

/* ---- actions that take aggregations
 * -------------------------------------------------------------- */

struct agg_tags {
	enum et_tag proto, arg, bad;
};

static int agg_arg(struct d_comp *c, const struct d_node *n, struct d_node *a, unsigned i,
	const struct agg_tags *tags)
{
	if (chk_expr(c, a, CX_DYN))
		return -1;
	if (a->kind == N_AGG && !a->ident)
		return d_nerror(c, tags->bad, a, "@%s is not defined before this %s()%s", a->text,
			n->text, chk_suggest(c, c->aggs, a->text, 1u << ID_AGG));
	if (a->kind != N_AGG || a->list)
		return d_nerror(c, tags->arg, a, "argument %u of %s() must be an aggregation%s", i,
			n->text, a->kind == N_AGG ? " as a whole, without keys" : "");
	return 0;
}

/* printa(@a, @b) prints their common keys, which must have the same types. */
static int equal_keys(struct d_comp *c, const struct d_node *n, const struct d_node *a,
	const struct d_ident *first)
{
	const struct d_ident *id = a->ident;

	if (id->nkeys != first->nkeys)
		return CHK_ERR(c, D_PRINTA_AGGKEY, n,
			"@%s has %u key%s and @%s has %u: printa() prints aggregations with the "
			"same keys together",
			first->name, first->nkeys, first->nkeys == 1 ? "" : "s", id->name,
			id->nkeys);
	for (unsigned i = 0; i < id->nkeys; i++) {
		const struct d_type *x = d_base(first->keys[i]), *y = d_base(id->keys[i]);

		if (d_same(x, y) || (d_is_int(x) && d_is_int(y) && x->size == y->size))
			continue;
		return CHK_ERR(c, D_PRINTA_AGGPROTO, n,
			"key %u of @%s is of type '%s' and that of @%s of type '%s': printa() "
			"prints aggregations with the same keys together",
			i + 1, first->name, chk_tname(c, first->keys[i]), id->name,
			chk_tname(c, id->keys[i]));
	}
	return 0;
}

static int printa_format(struct d_comp *c, const struct d_node *n, const struct d_node *fmt,
	const struct d_ident *agg)
{
	struct d_fmt *f;

	if (fmt->len == 0)
		return CHK_ERR(c, D_PRINTF_FMT_EMPTY, fmt, "the format of printa() is empty");
	f = d_fmt_parse(c, fmt);
	return f ? d_fmt_check_printa(c, f, n, agg) : -1;
}

/* printa(@a, ..) or printa("format", @a, ..) */
static int check_printa(struct d_comp *c, struct d_node *n)
{
	static const struct agg_tags tags = {
		D_PRINTA_PROTO, D_PRINTA_AGGARG, D_PRINTA_AGGBAD};
	struct d_node *a = n->list, *fmt = NULL, *first = NULL;

	if (!a)
		return CHK_ERR(c, D_PROTO_LEN, n, "printa() takes an aggregation, or a format and "
						  "aggregations");
	if (a->kind == N_STR) {
		fmt = a;
		fmt->type = c->t.string;
		a = a->next;
	}
	if (!a)
		return CHK_ERR(c, D_PRINTA_PROTO, n, "printa() of a format needs an aggregation");
	for (unsigned i = fmt ? 2 : 1; a; a = a->next, i++) {
		if (i > PRINTA_MAX)
			return CHK_ERR(c, D_PRINTA_PROTO, n,
				"printa() takes at most %u aggregations", PRINTA_MAX);
		if (agg_arg(c, n, a, i, &tags) || (first && equal_keys(c, n, a, first->ident)))
			return -1;
		if (!first && fmt && printa_format(c, n, fmt, a->ident))
			return -1;
		first = first ? first : a;
	}
	return 0;
}

static int agg_count(
	struct d_comp *c, const struct d_node *n, enum et_tag tag, unsigned min, unsigned max)
{
	unsigned have = chk_count(n->list);

	if (have >= min && have <= max)
		return 0;
	if (min == max)
		return d_nerror(c, tag, n, "%s() takes %u argument%s, not %u", n->text, min,
			min == 1 ? "" : "s", have);
	return d_nerror(
		c, tag, n, "%s() takes %u to %u arguments, not %u", n->text, min, max, have);
}

/* An aggregation and, in *by, the checked value after it; NULL: there is none. */
static int agg_and_value(struct d_comp *c, struct d_node *n, const struct agg_tags *tags,
	unsigned min, unsigned max, struct d_node **by)
{
	if (agg_count(c, n, tags->proto, min, max) || agg_arg(c, n, n->list, 1, tags))
		return -1;
	*by = n->list->next;
	return *by ? chk_expr(c, *by, CX_VALUE) : 0;
}

static int check_normalize(struct d_comp *c, struct d_node *n)
{
	static const struct agg_tags tags = {
		D_NORMALIZE_PROTO, D_NORMALIZE_AGGARG, D_NORMALIZE_AGGBAD};
	unsigned want = n->ident->id == ACT_NORMALIZE ? 2 : 1;
	struct d_node *by;

	if (agg_and_value(c, n, &tags, want, want, &by))
		return -1;
	if (!by)
		return 0;
	if (!d_is_int(by->type))
		return CHK_ERR(c, D_NORMALIZE_SCALAR, by,
			"argument 2 of normalize() must be an integer, not '%s'",
			chk_tname(c, by->type));
	if (chk_is_zero(by))
		return CHK_ERR(c, D_DIV_ZERO, by, "normalize() by the constant 0");
	return chk_int_cast(c, by, c->t.u64);
}

static int check_trunc(struct d_comp *c, struct d_node *n)
{
	static const struct agg_tags tags = {D_TRUNC_PROTO, D_TRUNC_AGGARG, D_TRUNC_AGGBAD};
	struct d_node *by;

	if (agg_and_value(c, n, &tags, 1, 2, &by))
		return -1;
	if (!by)
		return 0;
	if (!d_is_int(by->type))
		return CHK_ERR(c, D_TRUNC_SCALAR, by,
			"argument 2 of trunc() must be an integer, not '%s'",
			chk_tname(c, by->type));
	return chk_int_cast(c, by, c->t.i64);
}

int chk_agg_action(struct d_comp *c, struct d_node *n)
{
	static const struct agg_tags tags = {D_CLEAR_PROTO, D_CLEAR_AGGARG, D_CLEAR_AGGBAD};

	switch (n->ident->id) {
	case ACT_PRINTA: return check_printa(c, n);
	case ACT_TRUNC: return check_trunc(c, n);
	case ACT_CLEAR:
		if (agg_count(c, n, tags.proto, 1, 1))
			return -1;
		return agg_arg(c, n, n->list, 1, &tags);
	default: return check_normalize(c, n);
	}
}
