/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms as text (probe path): as ~tw writes them, but lists and binaries of printable ASCII
 * characters are texts in quotes. Every step writes at least one character or is counted against
 * the room, so that the work is bounded by the size of the text, never by that of the term. Nothing
 * allocates. Left out, with three dots: what is nested deeper than DEEP; the text of a resource's
 * reference. A map of more than 32 keys is told by their number: to walk it, the VM would allocate.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atom_text.h"
#include "peek.h"
#include "term_print.h"

#define DEEP	 24 /* calls of C for each level: schedulers' stacks are small */
#define FLAT_MAP 32
#define BIG	 16 /* words of a large integer written in tens; beyond that in hexadecimal */

struct out {
	ErlNifEnv *env;
	char *buf;
	size_t room, len; /* room: without the NUL */
	unsigned steps;
};

static void term(struct out *o, ERL_NIF_TERM t, int deep);

static inline bool full(const struct out *o)
{
	return o->len >= o->room;
}

static void put(struct out *o, const char *s, size_t n)
{
	if (n > o->room - o->len)
		n = o->room - o->len;
	memcpy(o->buf + o->len, s, n);
	o->len += n;
	o->steps++;
}

static void puts_(struct out *o, const char *s)
{
	put(o, s, strlen(s));
}

/* One of the VM's own making: short, and bounded whatever it is. */
static void plain(struct out *o, ERL_NIF_TERM t)
{
	char text[300];
	int n = enif_snprintf(text, sizeof(text), "%T", t);

	put(o, text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* ---- numbers --------------------------------------------------------------------------- */

static void decimal(struct out *o, uint64_t v, bool negative)
{
	char text[24], *p = text + sizeof(text);

	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	if (negative)
		*--p = '-';
	put(o, p, (size_t)(text + sizeof(text) - p));
}

/* Divide d[0..n) by 10^18; gives the remainder. */
static uint64_t divide(uint64_t *d, unsigned n)
{
	unsigned __int128 rest = 0;
	const uint64_t by = 1000000000000000000;

	for (unsigned i = n; i-- > 0;) {
		rest = rest << 64 | d[i];
		d[i] = (uint64_t)(rest / by);
		rest %= by;
	}
	return (uint64_t)rest;
}

static void big_decimal(struct out *o, const uint64_t *digits, unsigned n)
{
	uint64_t d[BIG];
	char text[BIG * 20 + 20], *p = text + sizeof(text);

	memcpy(d, digits, n * sizeof(*d));
	while (n > 0) {
		uint64_t v = divide(d, n);

		while (n > 0 && d[n - 1] == 0)
			n--;
		for (int i = 0; n > 0 ? i < 18 : v != 0; i++, v /= 10)
			*--p = (char)('0' + v % 10);
	}
	put(o, p, (size_t)(text + sizeof(text) - p));
}

static void big(struct out *o, ERL_NIF_TERM t)
{
	const uint64_t *d;
	bool negative;
	unsigned n = beam_peek_big(t, &d, &negative);
	char text[20];

	if (n == 0) {
		puts_(o, "...");
		return;
	}
	if (negative)
		puts_(o, "-");
	if (n <= BIG) {
		big_decimal(o, d, n);
		return;
	}
	snprintf(text, sizeof(text), "16#%llX", (unsigned long long)d[n - 1]);
	puts_(o, text);
	for (unsigned i = n - 1; i-- > 0 && !full(o);) {
		snprintf(text, sizeof(text), "%016llX", (unsigned long long)d[i]);
		puts_(o, text);
	}
}

static void integer(struct out *o, ERL_NIF_TERM t)
{
	ErlNifSInt64 i;
	ErlNifUInt64 u;

	if (enif_get_int64(o->env, t, &i))
		decimal(o, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, i < 0);
	else if (enif_get_uint64(o->env, t, &u))
		decimal(o, u, false);
	else
		big(o, t);
}

/*
 * "1.29e+07" -> "1.30e+07", if that is the same number. What reads back as a power of two reaches
 * further up than down: the nearest text of some length may be below it, and the next one in it.
 */
static bool next_up(char *text, double d)
{
	char copy[40], *p = copy + (strchr(text, 'e') - text);

	memcpy(copy, text, sizeof(copy));
	while (--p > copy && (*p == '9' || *p == '.'))
		if (*p == '9')
			*p = '0';
	if (*p == '9')
		return false;
	++*p;
	if (strtod(copy, NULL) != d)
		return false;
	memcpy(text, copy, sizeof(copy));
	return true;
}

/* The digits of a number, as few as read back as the same: digits[0].digits[1..] * 10^exp. */
static int shortest(double d, char digits[20], int *exp)
{
	/* Below that, numbers have fewer digits than 15. */
	int n = d < 2.3e-308 ? 1 : 15;
	char text[40] = "", *e;

	do
		snprintf(text, sizeof(text), "%.*e", n - 1, d);
	while (strtod(text, NULL) != d && !next_up(text, d) && n++ < 17);
	e = strchr(text, 'e');
	*exp = 0;
	for (char *p = e + 2; *p != '\0'; p++)
		*exp = *exp * 10 + (*p - '0');
	if (e[1] == '-')
		*exp = -*exp;
	n = 0;
	for (char *p = text; p < e; p++)
		if (*p != '.')
			digits[n++] = *p;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	return n;
}

static void zeros(struct out *o, int n)
{
	while (n-- > 0)
		puts_(o, "0");
}

/* 1.5, 0.0001, 1.0e5, 1.5e-7: without an exponent where that is not longer, up to 2^53. */
static void floating(struct out *o, ERL_NIF_TERM t)
{
	char digits[20];
	int n, exp, plain_len, exp_len;
	double d;

	if (!enif_get_double(o->env, t, &d))
		return;
	if (__builtin_signbit(d)) {
		puts_(o, "-");
		d = -d;
	}
	n = shortest(d, digits, &exp);
	plain_len = exp < 0 ? 1 - exp + n : exp < n - 1 ? n + 1 : exp + 3;
	exp_len = (n > 1 ? n + 1 : 3) + 2 + (exp < 0) + (exp <= -10 || exp >= 10) +
		  (exp <= -100 || exp >= 100);
	if (plain_len > exp_len || d >= 9007199254740992.0) {
		put(o, digits, 1);
		puts_(o, ".");
		put(o, n > 1 ? digits + 1 : "0", n > 1 ? (size_t)n - 1 : 1);
		puts_(o, exp < 0 ? "e-" : "e");
		decimal(o, (uint64_t)abs(exp), false);
	} else if (exp < 0) {
		puts_(o, "0.");
		zeros(o, -exp - 1);
		put(o, digits, (size_t)n);
	} else if (exp < n - 1) {
		put(o, digits, (size_t)exp + 1);
		puts_(o, ".");
		put(o, digits + exp + 1, (size_t)(n - 1 - exp));
	} else {
		put(o, digits, (size_t)n);
		zeros(o, exp - n + 1);
		puts_(o, ".0");
	}
}

/* ---- texts ----------------------------------------------------------------------------- */

static void atom(struct out *o, ERL_NIF_TERM t)
{
	size_t left = o->room - o->len, n = beam_atom_text(t, o->buf + o->len, left + 1);

	o->len += n < left ? n : left;
	o->steps++;
}

static bool is_printable(unsigned c)
{
	return (c >= ' ' && c < 127) || c == '\n' || c == '\t' || c == '\r';
}

static void character(struct out *o, unsigned c)
{
	char text[2] = {'\\', (char)c};

	switch (c) {
	case '\n': text[1] = 'n'; break;
	case '\t': text[1] = 't'; break;
	case '\r': text[1] = 'r'; break;
	case '"':
	case '\\': break;
	default: put(o, text + 1, 1); return;
	}
	put(o, text, 2);
}

static void binary(struct out *o, const struct beam_bits *b)
{
	uint64_t n = b->n / 8, i = 0, most = n < o->room - o->len ? n : o->room - o->len;
	unsigned rest = b->n % 8;

	while (rest == 0 && i < most && is_printable(beam_octet(b, i)))
		i++;
	o->steps += (unsigned)i;
	if (n > 0 && rest == 0 && i == most) {
		puts_(o, "<<\"");
		for (i = 0; i < n && !full(o); i++)
			character(o, beam_octet(b, i));
		puts_(o, "\">>");
		return;
	}
	puts_(o, "<<");
	for (i = 0; i < n && !full(o); i++) {
		if (i > 0)
			puts_(o, ",");
		decimal(o, beam_octet(b, i), false);
	}
	if (rest != 0 && !full(o)) {
		uint64_t last =
			b->off + rest <= 8 ? (uint8_t)(b->data[n] << b->off) : beam_octet(b, n);

		if (n > 0)
			puts_(o, ",");
		decimal(o, (last & 0xff) >> (8 - rest), false);
		puts_(o, ":");
		decimal(o, rest, false);
	}
	puts_(o, ">>");
}

/* ---- what has parts -------------------------------------------------------------------- */

/* A list of printable characters, as far as there is room to write it. */
static bool is_text(struct out *o, ERL_NIF_TERM t)
{
	size_t most = o->room - o->len;
	ERL_NIF_TERM head;
	unsigned c;

	for (size_t i = 0; i < most; i++) {
		o->steps++;
		if (!enif_get_list_cell(o->env, t, &head, &t))
			return enif_is_empty_list(o->env, t);
		if (!enif_get_uint(o->env, head, &c) || !is_printable(c))
			return false;
	}
	return true;
}

static void text_list(struct out *o, ERL_NIF_TERM t)
{
	ERL_NIF_TERM head;
	unsigned c;

	puts_(o, "\"");
	while (!full(o) && enif_get_list_cell(o->env, t, &head, &t) &&
		enif_get_uint(o->env, head, &c))
		character(o, c);
	puts_(o, "\"");
}

static void list(struct out *o, ERL_NIF_TERM t, int deep)
{
	ERL_NIF_TERM head;
	const char *before = "[";

	while (!full(o) && enif_get_list_cell(o->env, t, &head, &t)) {
		puts_(o, before);
		term(o, head, deep);
		before = ",";
	}
	if (!full(o) && !enif_is_empty_list(o->env, t)) {
		puts_(o, "|");
		term(o, t, deep);
	}
	puts_(o, "]");
}

static void tuple(struct out *o, ERL_NIF_TERM t, int deep)
{
	const ERL_NIF_TERM *e;
	int n;

	if (!enif_get_tuple(o->env, t, &n, &e))
		return;
	puts_(o, "{");
	for (int i = 0; i < n && !full(o); i++) {
		if (i > 0)
			puts_(o, ",");
		term(o, e[i], deep);
	}
	puts_(o, "}");
}

static void map(struct out *o, ERL_NIF_TERM t, int deep)
{
	const char *before = "#{";
	ErlNifMapIterator it;
	ERL_NIF_TERM k, v;
	size_t n = 0;

	enif_get_map_size(o->env, t, &n);
	if (n > FLAT_MAP) {
		puts_(o, "#{");
		decimal(o, n, false);
		puts_(o, " keys}");
		return;
	}
	if (n == 0 || !enif_map_iterator_create(o->env, t, &it, ERL_NIF_MAP_ITERATOR_FIRST)) {
		puts_(o, "#{}");
		return;
	}
	while (!full(o) && enif_map_iterator_get_pair(o->env, &it, &k, &v)) {
		puts_(o, before);
		term(o, k, deep);
		puts_(o, " => ");
		term(o, v, deep);
		before = ",";
		enif_map_iterator_next(o->env, &it);
	}
	enif_map_iterator_destroy(o->env, &it);
	puts_(o, "}");
}

static void term(struct out *o, ERL_NIF_TERM t, int deep)
{
	struct beam_bits b;

	if (full(o))
		return;
	switch (enif_term_type(o->env, t)) {
	case ERL_NIF_TERM_TYPE_ATOM: atom(o, t); return;
	case ERL_NIF_TERM_TYPE_INTEGER: integer(o, t); return;
	case ERL_NIF_TERM_TYPE_FLOAT: floating(o, t); return;
	case ERL_NIF_TERM_TYPE_BITSTRING:
		if (beam_get_bits(o->env, t, &b))
			binary(o, &b);
		else
			puts_(o, "<<...>>");
		return;
	case ERL_NIF_TERM_TYPE_REFERENCE:
		if (beam_plain_ref(t))
			plain(o, t);
		else
			puts_(o, "#Ref<...>");
		return;
	default: break;
	}
	if (enif_is_empty_list(o->env, t)) {
		puts_(o, "[]");
		return;
	}
	if (deep == 0) {
		puts_(o, "...");
		return;
	}
	switch (enif_term_type(o->env, t)) {
	case ERL_NIF_TERM_TYPE_LIST:
		if (is_text(o, t))
			text_list(o, t);
		else
			list(o, t, deep - 1);
		break;
	case ERL_NIF_TERM_TYPE_TUPLE: tuple(o, t, deep - 1); break;
	case ERL_NIF_TERM_TYPE_MAP: map(o, t, deep - 1); break;
	default: plain(o, t); /* pids, ports, funs */
	}
}

unsigned beam_print(ErlNifEnv *env, ERL_NIF_TERM t, bool args, char *buf, size_t size)
{
	struct out o = {.env = env, .buf = buf, .room = size - 1};

	if (args && !enif_is_empty_list(env, t))
		list(&o, t, DEEP);
	else
		term(&o, t, DEEP);
	buf[o.len] = '\0';
	return o.steps;
}

void beam_print_bits(const struct beam_bits *b, char *buf, size_t size)
{
	struct out o = {.buf = buf, .room = size - 1};

	binary(&o, b);
	buf[o.len] = '\0';
}
