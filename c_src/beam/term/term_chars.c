/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The characters of a term (probe path), as unicode:characters_to_binary/1 would give them: of an
 * atom its name without quotes, of a binary its bytes if they are UTF-8, and if not the characters
 * that they are in Latin-1; of a list those of its integers and binaries. They go to a buffer, or
 * are compared with a text; either way the work ends where there is no more room, or where they
 * differ, or after STEPS elements that have no characters. There is no recursion: the stacks of
 * schedulers are small.
 */
#include <string.h>

#include "atom_text.h"
#include "term_chars.h"
#include "term_words.h"
#include "beam_utf8.h"

#define DEEP  1000 /* lists in lists, before their last elements */
#define STEPS 4096

struct out {
	ErlNifEnv *env;
	char *buf; /* or NULL: compare with text */
	const char *text;
	size_t room, len;
	unsigned steps;
	bool full; /* or it differs: there is no more to do */
	bool deep; /* nobody knows what comes further down */
};

static bool put(struct out *o, const char *s, size_t n)
{
	if (n > o->room - o->len || (o->buf == NULL && memcmp(o->text + o->len, s, n) != 0)) {
		o->full = true;
		return false;
	}
	if (o->buf != NULL)
		memcpy(o->buf + o->len, s, n);
	o->len += n;
	return true;
}

static bool put_char(struct out *o, uint32_t c)
{
	char s[4];

	return put(o, s, utf8_encode(c, s));
}

/* ---- binaries and lists ---------------------------------------------------------------- */

/* As far as there is room: what would not be seen is not looked at. */
static bool is_utf8(const struct out *o, const struct beam_bits *b)
{
	uint64_t n = b->n / 8, most = o->room - o->len < n ? o->room - o->len : n, i = 0;
	char s[4];
	size_t k;

	while (i < most) {
		k = beam_utf8_at(b, i, s);
		if (k == 0)
			return false;
		i += k;
	}
	return true;
}

static bool put_bits(struct out *o, const struct beam_bits *b)
{
	bool utf8 = is_utf8(o, b);
	char s[4];
	size_t n;

	if (b->n % 8 != 0)
		return false;
	for (uint64_t i = 0; i < b->n / 8; i += n) {
		n = utf8 ? beam_utf8_at(b, i, s) : utf8_encode(beam_octet(b, i), s);
		if (n == 0)
			o->full = true; /* beyond what was looked at: there is more than room */
		if (n == 0 || !put(o, s, n))
			break;
		if (!utf8)
			n = 1;
	}
	return true;
}

static bool get_char(struct out *o, ERL_NIF_TERM t, uint32_t *c)
{
	unsigned v;

	if (!enif_get_uint(o->env, t, &v) || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return false;
	*c = v;
	return true;
}

/* What is behind the lists that it is in waits in rest[]; their last elements need none. */
static bool put_list(struct out *o, ERL_NIF_TERM t)
{
	ERL_NIF_TERM head, tail, rest[DEEP];
	unsigned deep = 0;
	struct beam_bits b;
	uint32_t c;

	for (;;) {
		if (o->steps++ > STEPS + o->room) {
			o->deep = true;
			return false;
		}
		if (!beam_get_cell(o->env, t, &head, &tail)) {
			if (!enif_is_empty_list(o->env, t) &&
				!(beam_get_bits(o->env, t, &b) && put_bits(o, &b)))
				return false;
			if (o->full || deep == 0)
				return true;
			t = rest[--deep];
			continue;
		}
		t = tail;
		if (get_char(o, head, &c)) {
			put_char(o, c);
		} else if (beam_get_bits(o->env, head, &b)) {
			if (!put_bits(o, &b))
				return false;
		} else if (!enif_is_list(o->env, head)) {
			return false;
		} else {
			if (!enif_is_empty_list(o->env, tail)) {
				if (deep == DEEP) {
					o->deep = true;
					return false;
				}
				rest[deep++] = tail;
			}
			t = head;
		}
		if (o->full)
			return true;
	}
}

/* ---- all of it ------------------------------------------------------------------------- */

static bool put_term(struct out *o, ERL_NIF_TERM t)
{
	char name[BEAM_ATOM_NAME];
	struct beam_bits b;
	size_t n;

	if (enif_is_atom(o->env, t)) {
		n = beam_atom_name(t, name);
		if (n > o->room)
			n = utf8_whole(name, o->room);
		put(o, name, n);
		return true;
	}
	if (beam_get_bits(o->env, t, &b))
		return put_bits(o, &b);
	return enif_is_list(o->env, t) && put_list(o, t);
}

static bool put_value(struct out *o, const struct beam_value *v)
{
	switch (v->kind) {
	case VALUE_TERM: return put_term(o, v->term);
	case VALUE_BITS: return put_bits(o, &v->bits);
	default: return false;
	}
}

bool beam_chars(ErlNifEnv *env, const struct beam_value *v, char *buf, size_t size)
{
	struct out o = {.env = env, .buf = buf, .room = size - 1};
	bool has = put_value(&o, v);

	buf[has ? o.len : 0] = '\0';
	return has;
}

int beam_chars_are(ErlNifEnv *env, const struct beam_value *v, const char *text, size_t len)
{
	struct out o = {.env = env, .text = text, .room = len};
	bool are;

	if (v->kind == VALUE_TERM && enif_is_atom(env, v->term))
		return beam_atom_is(v->term, text, len);
	are = put_value(&o, v) && !o.full && o.len == len;
	return o.deep ? -1 : are;
}
