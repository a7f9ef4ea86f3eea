/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The characters of a term, as unicode:characters_to_binary/1 would give them. (A template:
 * term_access.h.) Of an atom its name without quotes, of a binary its bytes if they are UTF-8, and
 * if not the characters that they are in Latin-1; of a list those of its integers and binaries.
 * They go to a buffer, or are compared with a text; either way the work ends where there is no more
 * room, or where they differ, or after CHARS_STEPS elements that have no characters. There is no
 * recursion: the stacks of schedulers are small.
 */
#include <string.h>

#include "compiler.h"

#define CHARS_DEEP  1000 /* lists in lists, before their last elements */
#define CHARS_STEPS 4096

struct chars {
	term_env env;
	char *buf; /* or NULL: compare with text */
	const char *text;
	size_t room, len;
	unsigned steps;
	bool full; /* or it differs: there is no more to do */
	bool deep; /* nobody knows what comes further down */
};

PROBE_PATH static bool put_bytes(struct chars *o, const char *s, size_t n)
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

/* As far as there is room: what would not be seen is not read. */
static bool is_utf8(const struct chars *o, const struct term_bits *b)
{
	uint64_t n = b->n / 8, most = o->room - o->len < n ? o->room - o->len : n, i = 0;
	char s[4];
	size_t k;

	while (i < most) {
		k = term_char_at(b, i, s);
		if (k == 0)
			return false;
		i += k;
	}
	return true;
}

PROBE_PATH static bool put_bits(struct chars *o, const struct term_bits *b)
{
	bool utf8 = is_utf8(o, b);
	char s[4];
	size_t n;

	if (b->n % 8 != 0)
		return false;
	for (uint64_t i = 0; i < b->n / 8; i += n) {
		n = utf8 ? term_char_at(b, i, s) : utf8_encode(term_octet(b, i), s);
		if (n == 0)
			o->full = true; /* beyond what was read: there is more than room */
		if (n == 0 || !put_bytes(o, s, n))
			break;
		if (!utf8)
			n = 1;
	}
	return true;
}

/* What is behind the lists that it is in waits in rest[]; their last elements need none. */
PROBE_PATH static bool put_list(struct chars *o, term_ref t)
{
	term_ref head, tail, rest[CHARS_DEEP];
	unsigned deep = 0;
	struct term_bits b;
	char s[4];
	uint32_t c;

	for (;;) {
		if (o->steps++ > CHARS_STEPS + o->room) {
			o->deep = true;
			return false;
		}
		if (!term_cell(o->env, t, &head, &tail)) {
			if (!term_is_nil(o->env, t) &&
				!(term_bits(o->env, t, &b) && put_bits(o, &b)))
				return false;
			if (o->full || deep == 0)
				return true;
			t = rest[--deep];
			continue;
		}
		t = tail;
		if (term_char(o->env, head, &c) && utf8_is_char(c)) {
			put_bytes(o, s, utf8_encode(c, s));
		} else if (term_bits(o->env, head, &b)) {
			if (!put_bits(o, &b))
				return false;
		} else if (term_kind(o->env, head) != KIND_LIST) {
			return false;
		} else {
			if (!term_is_nil(o->env, tail)) {
				if (deep == CHARS_DEEP) {
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

PROBE_PATH static bool put_atom(struct chars *o, term_ref t)
{
	char buf[TERM_ATOM_NAME];
	size_t n;
	const char *name = term_atom_name(o->env, t, buf, &n);

	put_bytes(o, name, n > o->room ? utf8_whole(name, o->room) : n);
	return true;
}

PROBE_PATH static bool put_value(struct chars *o, const struct term_value *v)
{
	struct term_bits b;

	if (v->kind == VALUE_BITS)
		return put_bits(o, &v->bits);
	if (v->kind != VALUE_TERM)
		return false;
	if (term_bits(o->env, v->term, &b))
		return put_bits(o, &b);
	switch (term_kind(o->env, v->term)) {
	case KIND_ATOM: return put_atom(o, v->term);
	case KIND_LIST: return put_list(o, v->term);
	default: return false;
	}
}

/* Cut at a whole character. false: it has none, or too much of it is deep or empty lists. */
static bool chars_of(term_env env, const struct term_value *v, char *buf, size_t size)
{
	struct chars o = {.env = env, .buf = buf, .room = size - 1};
	bool has = put_value(&o, v);

	buf[has ? o.len : 0] = '\0';
	return has;
}

/* Are they these bytes? 1, 0; -1: it is too deep to tell. */
static int chars_are(term_env env, const struct term_value *v, const char *text, size_t len)
{
	struct chars o = {.env = env, .text = text, .room = len};
	bool are;

	if (v->kind == VALUE_TERM && term_kind(env, v->term) == KIND_ATOM)
		return term_atom_is(env, v->term, text, len);
	are = put_value(&o, v) && !o.full && o.len == len;
	return o.deep ? -1 : are;
}
