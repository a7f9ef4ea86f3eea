/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms as values of D: parts of them, numbers, sizes, types, comparisons. (A template:
 * term_access.h.)
 */
#include <string.h>

#include "compiler.h"
#include "prog/term.h"

#define LIST_LONGEST 10000 /* whose length is counted */

/* ---- parts ----------------------------------------------------------------------------- */

/* TERM_KEY is the includer's: what a key is depends on the side. */
NO_GUARD static inline bool part_of_term(
	term_env env, enum term_part what, term_ref of, uint64_t n, term_ref *part)
{
	struct term_parts parts;
	term_ref other;
	unsigned size;

	switch (what) {
	case TERM_ELEMENT:
		if (!term_tuple(env, of, &size, &parts) || n < 1 || n > size)
			return false;
		term_skip(&parts, (unsigned)n - 1);
		*part = term_next(&parts);
		return true;
	case TERM_HD: return term_cell(env, of, part, &other);
	case TERM_TL: return term_cell(env, of, &other, part);
	default: return false;
	}
}

/* ---- numbers --------------------------------------------------------------------------- */

/* Truncated; false: it has no int64_t. */
static inline bool float_to_int(double d, int64_t *v)
{
	if (!(d >= -0x1p63 && d < 0x1p63))
		return false;
	*v = (int64_t)d;
	return true;
}

static inline bool integer_of_value(term_env env, const struct term_value *v, int64_t *n)
{
	double d;

	if (v->kind == VALUE_INT)
		*n = v->num;
	return v->kind == VALUE_INT ||
	       (v->kind == VALUE_TERM &&
		       (term_int64(env, v->term, n) ||
			       (term_double(env, v->term, &d) && float_to_int(d, n))));
}

/* n: the factor, then the product. A float is rounded to the nearest, a half away from 0. */
static inline bool scaled_value(term_env env, const struct term_value *v, int64_t *n)
{
	int64_t i;
	double d;

	if (v->kind != VALUE_TERM || !term_double(env, v->term, &d))
		return integer_of_value(env, v, &i) && !__builtin_mul_overflow(i, *n, n);
	d *= (double)*n;
	if (!float_to_int(d, n))
		return false;
	d -= (double)*n;
	*n += (d >= 0.5) - (d <= -0.5);
	return true;
}

static inline int order_uint(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static inline int order_float(double d, int64_t n)
{
	int64_t whole;

	if (!float_to_int(d, &whole))
		return d < 0 ? -1 : 1;
	if (whole != n)
		return whole < n ? -1 : 1;
	return d < (double)whole ? -1 : d > (double)whole;
}

/* Of what has more than 64 bits its sign decides. */
static inline int order_sign(term_env env, term_ref t)
{
	int sign = term_sign(env, t);

	return sign != 0 ? sign : TERM_NOT_A_NUMBER;
}

/* n is above INT64_MAX; floats so large are whole numbers. */
static inline int order_huge(term_env env, term_ref t, uint64_t n)
{
	uint64_t u;
	int64_t i;
	double d;

	if (term_int64(env, t, &i))
		return -1;
	if (term_uint64(env, t, &u))
		return order_uint(u, n);
	if (term_double(env, t, &d))
		return d < 0x1p63 ? -1 : d >= 0x1p64 ? 1 : order_uint((uint64_t)d, n);
	return order_sign(env, t);
}

static inline int order_term(term_env env, term_ref t, int64_t n)
{
	int64_t i;
	double d;

	if (likely(term_int64(env, t, &i)))
		return i < n ? -1 : i > n;
	return term_double(env, t, &d) ? order_float(d, n) : order_sign(env, t);
}

/* -1, 0, 1; TERM_NOT_A_NUMBER. huge: n is a uint64_t above INT64_MAX. */
static inline int order_value(term_env env, const struct term_value *v, uint64_t n, bool huge)
{
	switch (v->kind) {
	case VALUE_TERM:
		return huge ? order_huge(env, v->term, n) : order_term(env, v->term, (int64_t)n);
	case VALUE_INT: return huge || v->num < (int64_t)n ? -1 : v->num > (int64_t)n;
	case VALUE_UINT: return huge ? order_uint((uint64_t)v->num, n) : 1;
	default: return TERM_NOT_A_NUMBER;
	}
}

/* ---- sizes and types ------------------------------------------------------------------- */

static inline bool list_length(term_env env, term_ref t, int64_t *n)
{
	term_ref head;

	for (*n = 0; *n < LIST_LONGEST && term_cell(env, t, &head, &t); ++*n)
		;
	return term_is_nil(env, t);
}

/* Characters, not bytes. */
PROBE_PATH static __attribute__((noinline, unused)) int64_t atom_length(term_env env, term_ref t)
{
	char buf[TERM_ATOM_NAME];
	size_t len;
	const char *name = term_atom_name(env, t, buf, &len);

	return (int64_t)utf8_count(name, len);
}

static inline bool size_of_value(term_env env, const struct term_value *v, int64_t *n)
{
	struct term_bits b = v->bits;
	struct term_parts parts;
	unsigned elements;
	size_t keys;

	if (v->kind == VALUE_BITS || (value_is_term(v) && term_bits(env, v->term, &b))) {
		*n = (int64_t)((b.n + 7) / 8);
		return true;
	}
	if (!value_is_term(v))
		return false;
	if (term_tuple(env, v->term, &elements, &parts)) {
		*n = elements;
		return true;
	}
	if (term_map_size(env, v->term, &keys)) {
		*n = (int64_t)keys;
		return true;
	}
	switch (term_kind(env, v->term)) {
	case KIND_ATOM: *n = atom_length(env, v->term); return true;
	case KIND_LIST: return list_length(env, v->term, n);
	default: return false;
	}
}

static inline const char *type_of_bits(const struct term_bits *b)
{
	return b->n % 8 == 0 ? "binary" : "bitstring";
}

static inline const char *type_of_term(term_env env, term_ref t)
{
	static const char *const names[] = {[KIND_ATOM] = "atom",
		[KIND_FLOAT] = "float",
		[KIND_FUN] = "fun",
		[KIND_INTEGER] = "integer",
		[KIND_LIST] = "list",
		[KIND_MAP] = "map",
		[KIND_PID] = "pid",
		[KIND_PORT] = "port",
		[KIND_REFERENCE] = "reference",
		[KIND_TUPLE] = "tuple"};
	enum term_kind kind = term_kind(env, t);
	struct term_bits b;

	if (kind == KIND_BITSTRING)
		return term_bits(env, t, &b) ? type_of_bits(&b) : "bitstring";
	return kind < sizeof(names) / sizeof(*names) && names[kind] != NULL ? names[kind] : "";
}

static inline const char *type_of_value(term_env env, const struct term_value *v)
{
	if (v->kind == VALUE_BITS)
		return type_of_bits(&v->bits);
	return value_is_term(v) ? type_of_term(env, v->term) : "integer";
}

/* ---- texts ----------------------------------------------------------------------------- */

/*
 * Its printed text or its characters are these: 1, 0; -1: too deep to tell. What else is printed
 * begins with one of these characters; a text that is cut is longer than this one. room: to print.
 */
static inline int text_equals(term_env env, const struct term_value *v, const char *text,
	size_t len, char *room, size_t size)
{
	int chars = term_chars_are(env, v, text, len);

	if (chars > 0)
		return 1;
	if (len == 0 || strchr("'{[\"#<-0123456789f", text[0]) == NULL || len + 8 > size)
		return chars;
	term_print_value(env, v, room, len + 8);
	return memcmp(room, text, len) == 0 && room[len] == '\0' ? 1 : chars;
}
