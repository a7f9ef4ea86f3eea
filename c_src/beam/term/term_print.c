/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms as text (probe path): as io_lib:format("~0tp") writes them; in binaries all of Unicode is
 * printable, in lists what the node's own shell has (+pc). Every step writes at least one character
 * or is counted against the room, so that the work is bounded by the size of the text, never by
 * that of the term. Nothing allocates or recurses. What has more characters than there is room for
 * is a text if those are printable. Left out, with three dots: what there is no room for; what is
 * nested deeper than DEEP; the text of a resource's reference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/vm/peek.h"
#include "beam/vm/sizes.h"
#include "atom_text.h"
#include "beam_utf8.h"
#include "erlang_words.h"
#include "term_print.h"
#include "term_words.h"

#define DEEP 256 /* more than a text of the usual size has brackets */
#define DOTS 8	 /* bytes of room from which on a text that is cut ends with dots */
#define BIG  16	 /* words of a large integer written in tens; beyond that in hexadecimal */

/* What has parts that are still to be written. */
struct level {
	enum { LIST, TUPLE, MAP, SLOW_MAP, TREE, PAIR } what;
	unsigned n;	     /* elements, keys or nodes left; of a SLOW_MAP, those before */
	const ERL_NIF_TERM *at, *values;
	ERL_NIF_TERM rest;   /* of a list, 0: its tail is written; a SLOW_MAP */
	uint16_t root;	     /* of a tree: the level that its map is */
	bool some;	     /* it has had elements or keys */
	bool key;	     /* the key is written */
};

struct out {
	ErlNifEnv *env;
	char *buf;
	size_t room, len; /* room: without the NUL */
	bool cut;	  /* something did not fit */
	unsigned steps;
	unsigned n; /* levels */
	struct level level[DEEP];
};

static inline bool full(const struct out *o)
{
	return o->len >= o->room;
}

static void put(struct out *o, const char *s, size_t n)
{
	if (n > o->room - o->len) {
		n = o->room - o->len;
		o->cut = true;
	}
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
	for (unsigned i = n - 1; i-- > 0 && !o->cut;) {
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
	o->cut |= n > left;
	o->steps++;
}

static bool is_printable(uint32_t c)
{
	return (c >= ' ' && c < 127) || (c >= 8 && c <= 13) || c == 27 ||
	       (c >= 0xa0 && c < 0xd800) || (c > 0xdfff && c < 0xfffe) ||
	       (c > 0xffff && c <= 0x10ffff);
}

static void character(struct out *o, uint32_t c)
{
	char text[4] = {'\\', erlang_escape(c, '"')};

	put(o, text, text[1] != '\0' ? 2 : utf8_encode(c, text));
}

/*
 * How a binary is a text: 0: not; 1: ASCII, or bytes that are characters of Latin-1; 2: UTF-8. As
 * far as there is room to write it.
 *
 */
static int kind_of_text(struct out *o, const struct beam_bits *b)
{
	uint64_t n = b->n / 8, most = n < o->room - o->len ? n : o->room - o->len, i = 0;
	bool utf8 = false, printable = true, latin1 = true;
	size_t k = 1;
	char s[4];

	if (n == 0 || b->n % 8 != 0)
		return 0;
	for (; i < most && (k = beam_utf8_at(b, i, s)) > 0; i += k, o->steps++) {
		printable = printable && is_printable(utf8_decode(s, k));
		utf8 = utf8 || k > 1;
	}
	if (k > 0)
		return !printable ? 0 : utf8 ? 2 : 1;
	for (i = 0; i < most && latin1; i++, o->steps++)
		latin1 = is_printable(beam_octet(b, i));
	return latin1;
}

static void text_binary(struct out *o, const struct beam_bits *b, bool utf8)
{
	char s[4];
	size_t k = 1;

	puts_(o, "<<\"");
	for (uint64_t i = 0; i < b->n / 8 && !full(o); i += k) {
		if (utf8 && (k = beam_utf8_at(b, i, s)) == 0)
			break;
		character(o, utf8 ? utf8_decode(s, k) : beam_octet(b, i));
	}
	puts_(o, utf8 ? "\"/utf8>>" : "\">>");
}

static void binary(struct out *o, const struct beam_bits *b)
{
	uint64_t n = b->n / 8, i;
	unsigned rest = b->n % 8;
	int text = kind_of_text(o, b);

	if (text != 0) {
		text_binary(o, b, text == 2);
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

/*
 * A list of printable characters, as far as there is room to write it. Lists of numbers above 255
 * are taken for texts only where the node's own shell does so: mostly they are numbers.
 */
static bool is_text(struct out *o, ERL_NIF_TERM t)
{
	size_t most = o->room - o->len;
	ERL_NIF_TERM head;
	unsigned c;

	for (size_t i = 0; i < most; i++) {
		o->steps++;
		if (!beam_get_cell(o->env, t, &head, &t))
			return enif_is_empty_list(o->env, t);
		if (!enif_get_uint(o->env, head, &c) || !is_printable(c) ||
			(c > 255 && !beam_vm.unicode))
			return false;
	}
	return true;
}

static void text_list(struct out *o, ERL_NIF_TERM t)
{
	ERL_NIF_TERM head;
	unsigned c;

	puts_(o, "\"");
	while (!full(o) && beam_get_cell(o->env, t, &head, &t) && enif_get_uint(o->env, head, &c))
		character(o, c);
	puts_(o, "\"");
}

/* ---- what has parts -------------------------------------------------------------------- */

static void open_level(struct out *o, const char *bracket, const struct level *l)
{
	if (o->n == DEEP) {
		puts_(o, "...");
		return;
	}
	puts_(o, bracket);
	o->level[o->n++] = *l;
}

static void open_map(struct out *o, ERL_NIF_TERM t)
{
	struct level l = {.what = MAP, .rest = t, .root = (uint16_t)o->n};
	size_t n = 0;

	enif_get_map_size(o->env, t, &n);
	if (beam_get_flat_map(t, &l.n, &l.at, &l.values)) {
		open_level(o, "#{", &l);
	} else if (n <= BEAM_FLAT_MAP) {
		l.what = SLOW_MAP;
		open_level(o, "#{", &l);
	} else if ((l.n = beam_map_node(t, &l.at)) > 0) {
		l.what = TREE;
		open_level(o, "#{", &l);
	} else { /* an iterator of the VM would allocate */
		puts_(o, "#{");
		decimal(o, n, false);
		puts_(o, " keys}");
	}
}

/* All of a term that has no parts, or its bracket. */
static void term(struct out *o, ERL_NIF_TERM t)
{
	struct level l = {.what = LIST, .rest = t};
	struct beam_bits b;

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
	case ERL_NIF_TERM_TYPE_LIST:
		if (enif_is_empty_list(o->env, t))
			puts_(o, "[]");
		else if (is_text(o, t))
			text_list(o, t);
		else
			open_level(o, "[", &l);
		return;
	case ERL_NIF_TERM_TYPE_TUPLE:
		l.what = TUPLE;
		beam_get_tuple(o->env, t, &l.n, &l.at);
		open_level(o, "{", &l);
		return;
	case ERL_NIF_TERM_TYPE_MAP: open_map(o, t); return;
	default: plain(o, t); /* pids, ports, funs */
	}
}

static void close_level(struct out *o, const char *bracket)
{
	puts_(o, bracket);
	o->n--;
}

/* Before every part but the first. */
static void comma(struct out *o, struct level *l)
{
	if (l->some)
		puts_(o, ",");
	l->some = true;
}

static void list_step(struct out *o, struct level *l)
{
	ERL_NIF_TERM t = l->rest;

	if (t == 0 || enif_is_empty_list(o->env, t)) {
		close_level(o, "]");
	} else if (beam_get_cell(o->env, t, &t, &l->rest)) {
		comma(o, l);
		term(o, t);
	} else {
		puts_(o, "|");
		l->rest = 0;
		term(o, t);
	}
}

/* The key, then the value; of: the map that it is in. False: both are written. */
static bool pair_step(
	struct out *o, struct level *l, struct level *of, ERL_NIF_TERM key, ERL_NIF_TERM value)
{
	l->key = !l->key;
	if (l->key)
		comma(o, of);
	else
		puts_(o, " => ");
	term(o, l->key ? key : value);
	return l->key;
}

/* Where the words of maps are not known. */
static bool nth_pair(struct out *o, const struct level *l, ERL_NIF_TERM *k, ERL_NIF_TERM *v)
{
	ErlNifMapIterator it;
	bool is;

	if (!enif_map_iterator_create(o->env, l->rest, &it, ERL_NIF_MAP_ITERATOR_FIRST))
		return false;
	for (unsigned i = 0; i < l->n; i++)
		enif_map_iterator_next(o->env, &it);
	is = enif_map_iterator_get_pair(o->env, &it, k, v);
	enif_map_iterator_destroy(o->env, &it);
	return is;
}

static void map_step(struct out *o, struct level *l)
{
	ERL_NIF_TERM k, v;

	if (l->what == SLOW_MAP) {
		if (!nth_pair(o, l, &k, &v))
			close_level(o, "}");
		else if (!pair_step(o, l, l, k, v))
			l->n++;
	} else if (l->n == 0) {
		close_level(o, "}");
	} else if (!pair_step(o, l, l, *l->at, *l->values)) {
		l->at++;
		l->values++;
		l->n--;
	}
}

/* A node of a map of more than 32 keys: its parts are nodes, or pairs of key and value. */
static void tree_step(struct out *o, struct level *l)
{
	struct level part = {.what = TREE, .root = l->root};
	ERL_NIF_TERM t, key, value;

	o->steps++;
	if (l->n == 0) {
		close_level(o, l == &o->level[l->root] ? "}" : "");
		return;
	}
	l->n--;
	t = *l->at++;
	if (beam_get_cell(o->env, t, &key, &value)) {
		part.what = PAIR;
		part.at = beam_words(t);
	} else if ((part.n = beam_map_node(t, &part.at)) == 0 &&
		   !beam_get_tuple(o->env, t, &part.n, &part.at)) {
		return; /* keys with the same hash are a tuple */
	}
	open_level(o, "", &part);
}

static void step(struct out *o)
{
	struct level *l = &o->level[o->n - 1];

	switch (l->what) {
	case LIST: list_step(o, l); return;
	case TUPLE:
		if (l->n == 0) {
			close_level(o, "}");
			return;
		}
		l->n--;
		comma(o, l);
		term(o, *l->at++);
		return;
	case MAP:
	case SLOW_MAP: map_step(o, l); return;
	case TREE: tree_step(o, l); return;
	case PAIR:
		if (l->some)
			close_level(o, "");
		else
			l->some = !pair_step(o, l, &o->level[l->root], l->at[0], l->at[1]);
	}
}

static void begin(struct out *o, ErlNifEnv *env, char *buf, size_t size)
{
	o->env = env; /* the levels are not cleared */
	o->buf = buf;
	o->room = size - 1;
	o->len = 0;
	o->cut = false;
	o->steps = o->n = 0;
}

static unsigned end(struct out *o)
{
	bool cut = o->cut || o->n > 0, dots = cut && o->room >= DOTS;

	if (cut)
		o->len = utf8_whole(o->buf, o->room - (dots ? 3 : 0));
	if (dots) {
		memcpy(o->buf + o->len, "...", 3);
		o->len += 3;
	}
	o->buf[o->len] = '\0';
	return o->steps;
}

unsigned beam_print(ErlNifEnv *env, ERL_NIF_TERM t, bool args, char *buf, size_t size)
{
	struct level list = {.what = LIST, .rest = t};
	struct out o;

	begin(&o, env, buf, size);
	if (args && !enif_is_empty_list(env, t))
		open_level(&o, "[", &list);
	else
		term(&o, t);
	while (o.n > 0 && !full(&o))
		step(&o);
	return end(&o);
}

void beam_print_bits(const struct beam_bits *b, char *buf, size_t size)
{
	struct out o;

	begin(&o, NULL, buf, size);
	binary(&o, b);
	end(&o);
}

const char *beam_type_name(ErlNifEnv *env, ERL_NIF_TERM t)
{
	switch (enif_term_type(env, t)) {
	case ERL_NIF_TERM_TYPE_ATOM: return "atom";
	case ERL_NIF_TERM_TYPE_BITSTRING: return enif_is_binary(env, t) ? "binary" : "bitstring";
	case ERL_NIF_TERM_TYPE_FLOAT: return "float";
	case ERL_NIF_TERM_TYPE_FUN: return "fun";
	case ERL_NIF_TERM_TYPE_INTEGER: return "integer";
	case ERL_NIF_TERM_TYPE_LIST: return "list";
	case ERL_NIF_TERM_TYPE_MAP: return "map";
	case ERL_NIF_TERM_TYPE_PID: return "pid";
	case ERL_NIF_TERM_TYPE_PORT: return "port";
	case ERL_NIF_TERM_TYPE_REFERENCE: return "reference";
	case ERL_NIF_TERM_TYPE_TUPLE: return "tuple";
	default: return "";
	}
}
