/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms as text, as a node prints them (beam/term/term_print.c, term_chars.c): atoms, floats, pids
 * and binaries as the file has them, everything else is put together again. As there, what has more
 * characters than there is room for is a text if those are printable.
 */
#include <stdio.h>
#include <string.h>

#include "erlang_words.h"
#include "events.h"
#include "replay_terms.h"
#include "utf8.h"

struct out {
	char *buf; /* NULL: compare with text */
	const char *text;
	size_t room, len;
	bool cut; /* something did not fit, or differs */
};

static void put(struct out *o, const char *s, size_t n)
{
	if (n > o->room - o->len) {
		n = o->room - o->len;
		o->cut = true;
	}
	memcpy(o->buf + o->len, s, n);
	o->len += n;
}

static void puts_(struct out *o, const char *s)
{
	put(o, s, strlen(s));
}

/* The character at i, copied; 0: it is none, or cut off. */
static size_t utf8_at(const struct rp_bits *b, uint64_t i, char s[4])
{
	uint64_t left = b->n / 8 - i;
	size_t n = left < 4 ? (size_t)left : 4;

	for (size_t k = 0; k < n; k++)
		s[k] = (char)octet(b, i + k);
	return n > 0 ? utf8_valid((const unsigned char *)s, n) : 0;
}

/* ---- printed -------------------------------------------------------------------------- */

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

static void decimal(struct out *o, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	puts_(o, text);
}

/* How a binary is a text: 0: not; 1: each byte is a character; 2: UTF-8. */
static int kind_of_text(const struct out *o, const struct rp_bits *b)
{
	uint64_t n = b->n / 8, most = n < o->room - o->len ? n : o->room - o->len, i = 0;
	bool utf8 = false, printable = true;
	size_t k = 1;
	char s[4];

	if (n == 0 || b->n % 8 != 0)
		return 0;
	for (; i < most && (k = utf8_at(b, i, s)) > 0; i += k) {
		printable = printable && is_printable(utf8_decode(s, k));
		utf8 = utf8 || k > 1;
	}
	if (k > 0)
		return !printable ? 0 : utf8 ? 2 : 1;
	for (i = 0; i < most; i++)
		if (!is_printable(octet(b, i)))
			return 0;
	return 1;
}

static void print_bits(struct out *o, const struct rp_bits *b)
{
	uint64_t n = b->n / 8;
	int text = kind_of_text(o, b);
	size_t k = 1;
	char s[4];

	puts_(o, text != 0 ? "<<\"" : "<<");
	for (uint64_t i = 0; i < n && !o->cut; i += k) {
		if (text == 2 && (k = utf8_at(b, i, s)) == 0)
			break;
		if (text != 0) {
			character(o, text == 2 ? utf8_decode(s, k) : octet(b, i));
			continue;
		}
		if (i > 0)
			puts_(o, ",");
		decimal(o, octet(b, i));
	}
	if (b->n % 8 != 0) {
		struct rp_bits last = {b->data + n, b->off, 0};
		uint8_t v = b->off + b->n % 8 <= 8 ? (uint8_t)(last.data[0] << b->off)
						   : octet(&last, 0);

		puts_(o, n > 0 ? "," : "");
		decimal(o, v >> (8 - b->n % 8));
		puts_(o, ":");
		decimal(o, b->n % 8);
	}
	puts_(o, text == 2 ? "\"/utf8>>" : text == 1 ? "\">>" : ">>");
}

static bool is_text(const struct out *o, const struct rp_value *v)
{
	const struct pat_node *nodes = v->of->pat.nodes;
	size_t most = o->room - o->len;
	unsigned at = v->node;

	for (size_t i = 0; i < most; i++, at = nodes[at + 1].end) {
		if (nodes[at].op != PAT_CONS)
			return nodes[at].op == PAT_NIL;
		if (nodes[at + 1].op != PAT_INT || nodes[at + 1].num < 0 ||
			nodes[at + 1].num > 255 || !is_printable((uint32_t)nodes[at + 1].num))
			return false;
	}
	return true;
}

static void print_node(struct out *o, const struct rp_value *v, bool args);

static void print_list(struct out *o, const struct rp_value *v, bool args)
{
	const struct pat_node *nodes = v->of->pat.nodes;
	unsigned at = v->node;
	bool text = !args && is_text(o, v);

	puts_(o, text ? "\"" : "[");
	for (; nodes[at].op == PAT_CONS && !o->cut; at = nodes[at + 1].end) {
		struct rp_value head = part_of(v, at + 1);

		if (text) {
			character(o, (uint32_t)nodes[at + 1].num);
			continue;
		}
		puts_(o, at != v->node ? "," : "");
		print_node(o, &head, false);
	}
	if (nodes[at].op != PAT_NIL && !o->cut) {
		struct rp_value tail = part_of(v, at);

		puts_(o, "|");
		print_node(o, &tail, false);
	}
	puts_(o, text ? "\"" : "]");
}

static void print_parts(struct out *o, const struct rp_value *v)
{
	const struct pat_node *n = node_of(v), *nodes = v->of->pat.nodes;
	bool map = n->op == PAT_MAP;
	unsigned at = v->node + 1;

	puts_(o, map ? "#{" : "{");
	for (unsigned i = 0; i < n->n * (map ? 2 : 1) && !o->cut; i++, at = nodes[at].end) {
		struct rp_value part = part_of(v, at);

		puts_(o, i == 0 ? "" : map && i % 2 == 1 ? " => " : ",");
		print_node(o, &part, false);
	}
	puts_(o, "}");
}

static void print_node(struct out *o, const struct rp_value *v, bool args)
{
	const struct pat_node *n = node_of(v);
	const char *text = v->of->text->text;
	size_t to = n->to;
	char number[24];

	switch (n->op) {
	case PAT_NIL: puts_(o, "[]"); return;
	case PAT_CONS: print_list(o, v, args); return;
	case PAT_TUPLE:
	case PAT_MAP: print_parts(o, v); return;
	case PAT_INT:
		snprintf(number, sizeof(number), "%lld", (long long)n->num);
		puts_(o, number);
		return;
	default: /* as the file has it */
		while (to > n->from && strchr(" \t\r\n", text[to - 1]) != NULL)
			to--;
		put(o, text + n->from, to - n->from);
	}
}

void rp_print(const struct rp_value *v, char *buf, size_t size)
{
	struct out o = {.buf = buf, .room = size - 1};
	char number[24];

	switch (v->kind) {
	case VALUE_BITS: print_bits(&o, &v->bits); break;
	case VALUE_INT:
	case VALUE_UINT:
		snprintf(number, sizeof(number), v->kind == VALUE_INT ? "%lld" : "%llu",
			(long long)v->num);
		puts_(&o, number);
		break;
	default: print_node(&o, v, v->kind == VALUE_ARGS);
	}
	if (o.cut) {
		bool dots = o.room >= 8;

		o.len = utf8_whole(buf, o.room - (dots ? 3 : 0));
		if (dots)
			memcpy(buf + o.len, "...", 3);
		o.len += dots ? 3 : 0;
	}
	buf[o.len] = '\0';
}

/* ---- characters ----------------------------------------------------------------------- */

static void put_chars(struct out *o, const char *s, size_t n)
{
	if (o->cut || n > o->room - o->len ||
		(o->buf == NULL && memcmp(o->text + o->len, s, n) != 0)) {
		o->cut = true;
		return;
	}
	if (o->buf != NULL)
		memcpy(o->buf + o->len, s, n);
	o->len += n;
}

static bool chars_of_bits(struct out *o, const struct rp_bits *b)
{
	uint64_t n = b->n / 8, most = o->room - o->len < n ? o->room - o->len : n;
	bool utf8 = true;
	size_t k;
	char s[4];

	if (b->n % 8 != 0)
		return false;
	for (uint64_t i = 0; i < most && utf8; i += k)
		utf8 = (k = utf8_at(b, i, s)) > 0;
	for (uint64_t i = 0; i < n && !o->cut; i += utf8 ? k : 1) {
		k = utf8 ? utf8_at(b, i, s) : utf8_encode(octet(b, i), s);
		o->cut |= k == 0;
		put_chars(o, s, k);
	}
	return true;
}

static bool chars_of(struct out *o, const struct rp_value *v);

static bool chars_of_list(struct out *o, const struct rp_value *v)
{
	const struct pat_node *nodes = v->of->pat.nodes;
	unsigned at = v->node;
	char s[4];

	for (; nodes[at].op == PAT_CONS && !o->cut; at = nodes[at + 1].end) {
		const struct pat_node *head = &nodes[at + 1];
		struct rp_value part = part_of(v, at + 1);

		if (head->op == PAT_INT && head->num >= 0 && head->num <= 0x10ffff &&
			(head->num < 0xd800 || head->num >= 0xe000))
			put_chars(o, s, utf8_encode((uint32_t)head->num, s));
		else if ((head->op != PAT_BINARY && head->op != PAT_CONS && head->op != PAT_NIL) ||
			 !chars_of(o, &part))
			return false;
	}
	if (o->cut || nodes[at].op == PAT_NIL)
		return true;
	if (nodes[at].op == PAT_BINARY) {
		struct rp_value tail = part_of(v, at);

		return chars_of(o, &tail);
	}
	return false;
}

static bool chars_of(struct out *o, const struct rp_value *v)
{
	const struct pat_node *n;
	struct rp_bits b;

	if (rp_bits_of(v, &b))
		return chars_of_bits(o, &b);
	if (v->kind != VALUE_TERM)
		return false;
	n = node_of(v);
	if (n->op == PAT_ATOM) {
		put_chars(o, n->text,
			o->buf != NULL && n->len > o->room ? utf8_whole(n->text, o->room) : n->len);
		return true;
	}
	return n->op == PAT_NIL || (n->op == PAT_CONS && chars_of_list(o, v));
}

bool rp_chars(const struct rp_value *v, char *buf, size_t size)
{
	struct out o = {.buf = buf, .room = size - 1};
	bool has = chars_of(&o, v);

	buf[has ? o.len : 0] = '\0';
	return has;
}

int rp_chars_are(const struct rp_value *v, const char *text, size_t len)
{
	struct out o = {.text = text, .room = len};

	return chars_of(&o, v) && !o.cut && o.len == len;
}
