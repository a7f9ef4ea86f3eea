/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregations: @name[keys] = function(..), with the constants of lquantize() and llquantize(),
 * which must be the same in all uses of a name; and the actions that take whole aggregations.
 */
#include "check.h"
#include "prog/aggfn.h"

/* ---- constants of distributions -------------------------------------------------------------- */

static int constant(struct d_comp *c, const struct d_node *n, struct d_node *a, enum et_tag tag,
	const char *what)
{
	if (chk_expr(c, a, CX_VALUE))
		return -1;
	if (a->kind != N_INT || !d_is_int(a->type))
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

static int increment(struct d_comp *c, const struct d_node *n, struct d_node *a, enum et_tag tag)
{
	if (!a)
		return 0;
	if (chk_expr(c, a, CX_VALUE) || chk_term_number(c, a))
		return -1;
	if (!d_is_int(a->type))
		return d_nerror(c, tag, a, "the increment of %s() must be an integer, not '%s'",
			n->text, chk_tname(c, a->type));
	return chk_int_cast(c, a, c->t.i64);
}

static int lquant_levels(
	struct d_comp *c, const struct d_node *n, int64_t base, int64_t limit, int64_t step)
{
	if (limit <= base)
		return CHK_ERR(c, D_LQUANT_MISMATCH, n,
			"the base of lquantize() (%" PRId64 ") must be below its limit (%" PRId64
			")",
			base, limit);
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

static int check_lquantize(struct d_comp *c, struct d_node *n, uint64_t param[5])
{
	struct d_node *base = n->list->next, *limit = base->next, *step = limit->next;

	if (constant(c, n, base, D_LQUANT_BASETYPE, "base") ||
		in_range(c, n, base, D_LQUANT_BASEVAL, "base", INT32_MIN, INT32_MAX) ||
		constant(c, n, limit, D_LQUANT_LIMTYPE, "limit") ||
		in_range(c, n, limit, D_LQUANT_LIMVAL, "limit", INT32_MIN, INT32_MAX))
		return -1;
	if (step && (constant(c, n, step, D_LQUANT_STEPTYPE, "step") ||
			    in_range(c, n, step, D_LQUANT_STEPVAL, "step", 1, UINT16_MAX)))
		return -1;
	param[0] = base->value;
	param[1] = limit->value;
	param[2] = step ? step->value : 1;
	if (lquant_levels(c, n, param[0], param[1], param[2]))
		return -1;
	return increment(c, n, step ? step->next : NULL, D_PROTO_ARG);
}

/* nsteps must divide every magnitude into whole steps: it divides some power of the factor. */
static bool divides_power(uint64_t nsteps, uint64_t factor)
{
	uint64_t r = 1;

	for (int i = 0; i < 64; i++) {
		r = r * factor % nsteps;
		if (r == 0)
			return true;
	}
	return false;
}

static int llquant_rules(struct d_comp *c, const struct d_node *n, const uint64_t p[5])
{
	uint64_t factor = p[0], low = p[1], high = p[2], nsteps = p[3], top = 1;

	if (low >= high)
		return CHK_ERR(c, D_LLQUANT_HMAGVAL, n,
			"the low magnitude of llquantize() (%" PRIu64
			") must be below the high one (%" PRIu64 ")",
			low, high);
	if (nsteps < factor || nsteps % factor || !divides_power(nsteps, factor))
		return CHK_ERR(c, D_LLQUANT_STEPVAL, n,
			"the steps of llquantize() (%" PRIu64
			") must be a multiple of its factor (%" PRIu64 ") and divide a power of it",
			nsteps, factor);
	for (uint64_t i = 0; i <= high; i++)
		if (__builtin_mul_overflow(top, factor, &top) || top > INT64_MAX)
			return CHK_ERR(c, D_LLQUANT_HMAGVAL, n,
				"the high magnitude of llquantize() is too large: %" PRIu64
				" to the power of %" PRIu64 " does not fit in 64 bits",
				factor, high + 1);
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
	return llquant_rules(c, n, param) ? -1 : increment(c, n, a, D_PROTO_ARG);
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
	enum et_tag tag = f->ident->id == AGG_QUANTIZE ? D_QUANT_PROTO : D_PROTO_LEN;

	for (size_t i = 0; i < sizeof(agg_args) / sizeof(*agg_args); i++)
		if (agg_args[i].fn == f->ident->id) {
			min = agg_args[i].min;
			max = agg_args[i].max;
		}
	if (have >= min && have <= max)
		return 0;
	if (min == max)
		return d_nerror(c, tag, f, "%s() takes %u argument%s, not %u", f->text, min,
			min == 1 ? "" : "s", have);
	return d_nerror(
		c, tag, f, "%s() takes %u to %u arguments, not %u", f->text, min, max, have);
}

static int agg_func(struct d_comp *c, struct d_node *f, uint64_t param[5])
{
	struct d_node *x = f->list;

	if (agg_len(c, f))
		return -1;
	if (x && (chk_expr(c, x, CX_VALUE) || chk_term_number(c, x)))
		return -1;
	if (x && !d_is_scalar(x->type))
		return CHK_ERR(c, D_AGG_SCALAR, x,
			"%s() takes an integer or a pointer, not a value of type '%s'", f->text,
			chk_tname(c, x->type));
	switch (f->ident->id) {
	case AGG_QUANTIZE: return increment(c, f, x->next, D_QUANT_PROTO);
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
	if (agg_func(c, f, param))
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
		fn = d_ident_find(c->globals, f->text);
	if (!fn && f->kind == N_FUNC)
		return CHK_ERR(c, D_FUNC_UNDEF, f, "there is no function '%s()'%s", f->text,
			chk_suggest(c, c->globals, f->text, 1u << ID_AGGFUNC));
	if (!fn || fn->kind != ID_AGGFUNC)
		return CHK_ERR(c, D_AGG_FUNC, n,
			"@%s must be assigned an aggregating function: count(), sum(x), min(x), "
			"max(x), avg(x), stddev(x), quantize(x), lquantize(x, ..), "
			"llquantize(x, ..), percentile(x, ..)",
			n->a->text);
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

/* ---- actions that take aggregations
 * -------------------------------------------------------------- */

struct agg_tags {
	enum et_tag proto, arg, bad;
};

static int agg_arg(struct d_comp *c, const struct d_node *n, struct d_node *a, unsigned i,
	const struct agg_tags *tags)
{
	if (a->kind != N_AGG || a->list)
		return d_nerror(c, tags->arg, a, "argument %u of %s() must be an aggregation%s", i,
			n->text, a->kind == N_AGG ? " as a whole, without keys" : "");
	a->ident = d_ident_find(c->aggs, a->text);
	if (!a->ident || !a->ident->aggfn)
		return d_nerror(c, tags->bad, a, "@%s is not defined before this %s()%s", a->text,
			n->text, chk_suggest(c, c->aggs, a->text, 1u << ID_AGG));
	a->type = c->t.dyn;
	a->flags |= NF_CHECKED;
	return 0;
}

/* printa(@a, @b) prints their common keys, which must have the same types. */
static int equal_keys(struct d_comp *c, const struct d_node *n, const struct d_node *a,
	const struct d_ident *first)
{
	const struct d_ident *id = a->ident;

	if (id->nkeys != first->nkeys)
		return CHK_ERR(c, D_PRINTA_AGGPROTO, n,
			"@%s has %u keys and @%s has %u: printa() prints aggregations with the "
			"same keys together",
			first->name, first->nkeys, id->name, id->nkeys);
	for (unsigned i = 0; i < id->nkeys; i++) {
		const struct d_type *x = d_base(first->keys[i]), *y = d_base(id->keys[i]);

		if (d_same(x, y) || (d_is_int(x) && d_is_int(y) && x->size == y->size))
			continue;
		return CHK_ERR(c, D_PRINTA_AGGKEY, n,
			"key %u of @%s is of type '%s' and that of @%s of type '%s': printa() "
			"prints aggregations with the same keys together",
			i + 1, first->name, chk_tname(c, first->keys[i]), id->name,
			chk_tname(c, id->keys[i]));
	}
	return 0;
}

static int check_printa(struct d_comp *c, struct d_node *n)
{
	static const struct agg_tags tags = {
		D_PRINTA_PROTO, D_PRINTA_AGGARG, D_PRINTA_AGGBAD};
	const struct d_ident *aggs[64];
	struct d_node *fmt = NULL, *a = n->list;
	unsigned naggs = 0, i = 0;
	struct d_fmt *f;

	if (a && a->kind != N_AGG) {
		fmt = a;
		a = a->next;
		i++;
		if (chk_expr(c, fmt, CX_VALUE))
			return -1;
		if (fmt->kind != N_STR && a)
			return CHK_ERR(c, D_PRINTF_ARG_FMT, fmt,
				"the format of printa() must be a string constant");
		if (fmt->kind == N_STR && fmt->len == 0)
			return CHK_ERR(
				c, D_PRINTF_FMT_EMPTY, fmt, "the format of printa() is empty");
	}
	if (fmt && fmt->kind != N_STR)
		return CHK_ERR(c, D_PRINTA_AGGARG, fmt,
			"argument 1 of printa() must be an "
			"aggregation or a format");
	if (!a)
		return CHK_ERR(c, D_PRINTA_PROTO, n,
			"printa() takes an aggregation, or a format "
			"and aggregations");
	for (; a; a = a->next) {
		if (naggs == sizeof(aggs) / sizeof(*aggs))
			return CHK_ERR(c, D_PRINTA_PROTO, n,
				"printa() takes at most %u aggregations", naggs);
		if (agg_arg(c, n, a, ++i, &tags) || (naggs && equal_keys(c, n, a, aggs[0])))
			return -1;
		aggs[naggs++] = a->ident;
	}
	if (!fmt)
		return 0;
	f = d_fmt_parse(c, fmt);
	return f ? d_fmt_check_printa(c, f, n, aggs, naggs) : -1;
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
	static const struct agg_tags tags = {D_PROTO_LEN, D_TRUNC_AGGARG, D_TRUNC_AGGBAD};
	struct d_node *by;

	if (agg_and_value(c, n, &tags, 1, 2, &by))
		return -1;
	if (!by)
		return 0;
	if (!d_is_int(by->type))
		return CHK_ERR(c, D_PROTO_ARG, by,
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
