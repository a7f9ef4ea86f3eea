/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of Erlang (probe path). A term is a handle here; the provider of the event knows what it
 * stands for and bounds the work (struct en_term_ops). Where there is no provider with terms, there
 * is no term. The numbers of slots and patterns are constants of the program; the provider bounds
 * them all the same. What needs a number or a text and has none is a fault of the clause;
 * comparisons never fault for that.
 *
 * Inside nodes only: the kernel has texts of terms, which the node hands over (kernel/handover.c).
 */
#include <string.h>

#include "compiler.h"
#include "engine/current.h"
#include "engine/fire.h"
#include "prog/record.h"
#include "prog/rt.h"
#include "rt_str.h"
#include "engine/state.h"
#include "engine/str.h"
#include "engine/work.h"

PROBE_PATH static inline const struct en_term_ops *terms_of(
	const struct fire *f, const struct en_current **cur)
{
	*cur = f->cur != NULL ? f->cur : f->en->host;
	return *cur != NULL && (*cur)->ops != NULL ? (*cur)->ops->terms : NULL;
}

RTFN(term_source)
{
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(FIRE(ctx), &cur);

	if (ops == NULL)
		return 0;
	return ops->source(cur, (unsigned)a, (unsigned)b, c);
}

RTFN(term_part)
{
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(FIRE(ctx), &cur);

	if (ops == NULL || c == 0)
		return 0;
	return ops->part(cur, (unsigned)a, (enum term_part)b, c, d);
}

/* term_source() and term_part() in one: most parts are of that. */
RTFN(source_part)
{
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(FIRE(ctx), &cur);

	if (ops == NULL)
		return 0;
	return ops->source_part(
		cur, (unsigned)(a >> 16), (enum term_part)(a >> 8 & 0xff), a & 0xff, b, c);
}

RTFN(term_match)
{
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(FIRE(ctx), &cur);

	if (ops == NULL || a == 0)
		return 0;
	return ops->match(cur, a, (unsigned)b, (unsigned)c);
}

/* term_source() and term_match() in one. */
RTFN(source_match)
{
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(FIRE(ctx), &cur);

	if (ops == NULL)
		return 0;
	return ops->source_match(cur, (unsigned)a, b, (unsigned)c, (unsigned)d);
}

PROBE_PATH static bool is_there(
	const struct en_term_ops *ops, const struct en_current *cur, uint64_t of)
{
	int64_t is = 0;

	return ops != NULL && of != 0 && ops->number(cur, of, TERM_IS, &is) && is;
}

/* It is not what the clause takes it for, or there is none at all. */
PROBE_PATH static __attribute__((noinline)) uint64_t not_such(struct fire *f,
	const struct en_term_ops *ops, uint64_t of, enum term_fault what, uint64_t from)
{
	const struct en_current *cur;

	terms_of(f, &cur);
	set_fault(f, FAULT_TERM,
		is_there(ops, cur, of) ? (uint64_t)what : TERM_WITH(TERM_FAULT_MISSING, from));
	return 0;
}

RTFN(term_number)
{
	struct fire *f = FIRE(ctx);
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(f, &cur);
	int64_t v = 0;

	if (likely(ops != NULL && a != 0 && ops->number(cur, a, (enum term_fact)TERM_WHAT(b), &v)))
		return (uint64_t)v;
	return not_such(f, ops, a, TERM_WHAT(b) == TERM_SIZE ? TERM_FAULT_SIZE : TERM_FAULT_NUMBER,
		TERM_WHENCE(b));
}

RTFN(term_scaled)
{
	struct fire *f = FIRE(ctx);
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(f, &cur);
	int64_t v = (int64_t)b;

	if (likely(ops != NULL && a != 0 && ops->number(cur, a, TERM_SCALED, &v)))
		return (uint64_t)v;
	return not_such(f, ops, a, TERM_FAULT_NUMBER, TERM_WHENCE(c));
}

/* A text, in the scratch slot unless it is interned; the type of no term is "none". */
RTFN(term_text)
{
	struct fire *f = FIRE(ctx);
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(f, &cur);
	const struct et_str *s = NULL;
	char *to = str_slot(f, a);

	if (to == NULL) {
		set_fault(f, FAULT_NOSCRATCH, 0);
		return 0;
	}
	str_end(to, 0);
	if (ops == NULL || b == 0 ||
		!ops->text(cur, b, (enum term_text)TERM_WHAT(c), to, f->en->strsize, &s)) {
		if (TERM_WHAT(c) == TERM_TYPE)
			return str_put(f, a, "none", 4);
		return not_such(f, ops, b, TERM_FAULT_TEXT, TERM_WHENCE(c));
	}
	if (to[0] == '\0')
		str_end(to, 0);
	if (s == NULL && f->en->strsize > WORK_FREE)
		work_bytes(f, strnlen(to, f->en->strsize));
	return s != NULL ? str_ref(s) : (uint64_t)(uintptr_t)to;
}

/* An answer of 1 or 0; or < 0, which is a fault. */
PROBE_PATH static bool is_so(struct fire *f, int answer)
{
	if (answer < 0)
		set_fault(f, FAULT_TERM, TERM_FAULT_LARGE);
	return answer > 0;
}

/* No term equals "" only, as NULL does. */
PROBE_PATH static uint64_t equals(struct fire *f, const struct en_term_ops *ops,
	const struct en_current *cur, uint64_t of, uint64_t str)
{
	uint32_t len;
	const char *text = str_text(f, str, &len);

	if (!work_block(f, len))
		return 0;
	if (len == 0 && !is_there(ops, cur, of))
		return 1;
	return ops != NULL && of != 0 &&
	       is_so(f, ops->equals(cur, of, len > 0 ? text : "", len));
}

RTFN(term_equals)
{
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(FIRE(ctx), &cur);

	return equals(FIRE(ctx), ops, cur, a, b);
}

/* The same of what the event is about; its text, if the provider has no more. */
RTFN(pbi_equals)
{
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(FIRE(ctx), &cur);

	if (ops == NULL)
		return rt_streq(ctx, rt_pbi_str(ctx, a, b & 0xff, c, 0), d, 0, 0);
	return equals(FIRE(ctx), ops, cur, rt_term_source(ctx, b >> 8, b & 0xff, c, 0), d);
}

/* -1, 0, 1, or TERM_NOT_A_NUMBER. An unsigned number may be above all of int64_t. */
RTFN(term_compare)
{
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(FIRE(ctx), &cur);
	int order;

	if (ops == NULL || a == 0)
		return TERM_NOT_A_NUMBER;
	order = ops->compare(cur, a, b, c != 0 && b > INT64_MAX);
	if (order == TERM_NOT_A_NUMBER)
		return TERM_NOT_A_NUMBER;
	return (uint64_t)(int64_t)(order > 0 ? 1 : order < 0 ? -1 : 0);
}

RTFN(term_same)
{
	struct fire *f = FIRE(ctx);
	const struct en_current *cur;
	const struct en_term_ops *ops = terms_of(f, &cur);

	return ops != NULL && is_so(f, ops->same(cur, a, b));
}
