/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of binaries, <<"GET ", Path/binary>>: segments with their sizes and types. Constant
 * bytes beside each other are one node. What Erlang's compiler refuses is refused.
 */
#include <string.h>

#include "pattern_lex.h"
#include "utf8.h"

enum seg_type { SEG_T_INT = 1, SEG_T_BINARY, SEG_T_UTF8 };
enum { BIG = 1, LITTLE, NATIVE };
enum { SIGNED = 1, UNSIGNED };

/* What is behind the value of a segment. 0: not said. */
struct seg_spec {
	unsigned type, endian, sign, unit;
	bool given; /* there is a size or a type */
	bool sized;
	uint64_t size; /* bits */
	size_t at;
};

static bool is_little(const struct seg_spec *s)
{
	return s->endian == LITTLE ||
	       (s->endian == NATIVE && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

struct binary {
	char *buf; /* constant bytes that are no node yet */
	size_t n, room;
	unsigned segments;
};

static int flush(struct pat_text *p, struct binary *b)
{
	struct pat_node node = {.op = SEG_BYTES, .text = b->buf, .len = (uint32_t)b->n};

	if (b->n == 0)
		return 0;
	b->segments++;
	b->buf = NULL;
	b->n = b->room = 0;
	return pat_add(p, node);
}

static int put_byte(struct pat_text *p, struct binary *b, uint8_t byte)
{
	char *buf;

	if (b->n == b->room) {
		b->room = b->room == 0 ? 32 : b->room * 2;
		buf = pat_alloc(p, b->room);
		if (buf == NULL)
			return -1;
		if (b->n > 0)
			memcpy(buf, b->buf, b->n);
		b->buf = buf;
	}
	b->buf[b->n++] = (char)byte;
	return 0;
}

/* Digits, and nothing that computes. */
static int plain_size(struct pat_text *p, uint64_t max, uint64_t *v)
{
	struct pat_node node = {0};
	size_t start;

	pat_skip(p);
	start = p->at;
	if (!pat_is_number(p))
		return pat_fail(p, start, "the size of a segment is a plain number here");
	if (pat_number(p, false, &node) < 0)
		return -1;
	if (node.op != PAT_INT || (uint64_t)node.num > max)
		return pat_fail(p, start, "the size of a segment is too large");
	*v = (uint64_t)node.num;
	return 0;
}

static const struct seg_word {
	const char *name;
	uint8_t type, endian, sign, unit;
} seg_words[] = {
	{"integer", .type = SEG_T_INT},
	{"binary", .type = SEG_T_BINARY},
	{"bytes", .type = SEG_T_BINARY, .unit = 8},
	{"bitstring", .type = SEG_T_BINARY, .unit = 1},
	{"bits", .type = SEG_T_BINARY, .unit = 1},
	{"utf8", .type = SEG_T_UTF8},
	{"big", .endian = BIG},
	{"little", .endian = LITTLE},
	{"native", .endian = NATIVE},
	{"signed", .sign = SIGNED},
	{"unsigned", .sign = UNSIGNED},
};

static const struct seg_word *find_word(const char *name)
{
	for (size_t i = 0; i < sizeof(seg_words) / sizeof(*seg_words); i++)
		if (strcmp(seg_words[i].name, name) == 0)
			return &seg_words[i];
	return NULL;
}

/* False: something else was said before. */
static bool say(unsigned *what, unsigned now)
{
	if (now != 0 && *what != 0 && *what != now)
		return false;
	*what = now != 0 ? now : *what;
	return true;
}

/* One of its type: /little-unit:8. */
static int seg_type(struct pat_text *p, struct seg_spec *s)
{
	const struct seg_word *w;
	const char *name;
	uint64_t unit = 0;
	uint32_t len;
	size_t start;

	pat_skip(p);
	start = p->at;
	if (!pat_is_small(p))
		return pat_fail(p, start, "the type of a segment is expected behind /");
	if (pat_name(p, &name, &len) < 0)
		return -1;
	w = find_word(name);
	if (w == NULL && strcmp(name, "unit") != 0)
		return pat_fail(p, start, "a segment of the type %s is not understood here", name);
	if (w == NULL && (!pat_take(p, ":") || plain_size(p, 256, &unit) < 0 || unit == 0))
		return pat_fail(p, start, "unit:1 to unit:256 is expected");
	if (w != NULL ? !say(&s->type, w->type) || !say(&s->endian, w->endian) ||
				!say(&s->sign, w->sign) || !say(&s->unit, w->unit)
		      : !say(&s->unit, (unsigned)unit))
		return pat_fail(p, start, "%s contradicts what is before it", name);
	return 0;
}

/* Fill in what was not said; is it possible? */
static int complete(struct pat_text *p, struct seg_spec *s)
{
	if (s->type == 0)
		s->type = SEG_T_INT;
	if (s->type == SEG_T_UTF8 && (s->sized || s->unit != 0))
		return pat_fail(p, s->at, "a segment of the type utf8 has no size");
	if (s->type == SEG_T_INT && s->unit != 0 && !s->sized)
		return pat_fail(p, s->at, "an integer with a unit has a size too");
	if (s->type != SEG_T_INT) {
		s->size *= s->unit == 0 ? 8 : s->unit;
		return 0;
	}
	s->size = (s->sized ? s->size : 8) * (s->unit == 0 ? 1 : s->unit);
	if (s->size == 0 || s->size > 64 || (is_little(s) && s->size % 8 != 0))
		return pat_fail(p, s->at,
			"an integer in a binary has 1 to 64 bits here, in whole bytes if it is "
			"little-endian");
	return 0;
}

/* What is behind the value: :Size/Type-Type. */
static int seg_spec(struct pat_text *p, struct seg_spec *s)
{
	*s = (struct seg_spec){.at = p->at};
	if (pat_take(p, ":")) {
		s->given = s->sized = true;
		if (plain_size(p, UINT32_MAX / 512, &s->size) < 0)
			return -1;
	}
	if (pat_take(p, "/")) {
		s->given = true;
		do
			if (seg_type(p, s) < 0)
				return -1;
		while (pat_take(p, "-"));
	}
	return complete(p, s);
}

/* A constant integer: bytes if it can be. */
static int const_int(struct pat_text *p, struct binary *b, const struct seg_spec *s, int64_t v)
{
	unsigned bits = (unsigned)s->size;
	int at;

	if (s->sign == SIGNED ? bits < 64 && (v < -(1LL << (bits - 1)) || v >= 1LL << (bits - 1))
			      : v < 0 || (bits < 64 && v >> bits != 0))
		return pat_fail(p, s->at, "%lld does not fit into %u bits: it would never match",
			(long long)v, bits);
	if (bits % 8 != 0 && p->key && !p->r->printed)
		return pat_fail(p, s->at, "a binary in the key of a map has whole bytes");
	for (unsigned i = 0; bits % 8 == 0 && i < bits; i += 8)
		if (put_byte(p, b, (uint8_t)(v >> (is_little(s) ? i : bits - 8 - i))) < 0)
			return -1;
	if (bits % 8 == 0)
		return 0;
	if (flush(p, b) < 0 ||
		(at = pat_add(p, (struct pat_node){.op = SEG_INT,
					 .num = s->sign == SIGNED ? SEG_SIGNED : 0})) < 0 ||
		pat_add(p, (struct pat_node){.op = PAT_INT, .num = v}) < 0)
		return -1;
	b->segments++;
	pat_close(p, at, bits);
	return 0;
}

static int const_char(struct pat_text *p, struct binary *b, const struct seg_spec *s, uint32_t c)
{
	char utf8[4];
	size_t n = s->type == SEG_T_UTF8 ? utf8_encode(c, utf8) : 0;

	for (size_t i = 0; i < n; i++)
		if (put_byte(p, b, (uint8_t)utf8[i]) < 0)
			return -1;
	if (n > 0)
		return 0;
	if (s->size < 32 && c >> s->size != 0)
		return pat_fail(p, s->at,
			"a character that does not fit into %u bits: should this be /utf8?",
			(unsigned)s->size);
	return const_int(p, b, s, c);
}

/* "text": the type is behind it, so it is read twice. */
static int seg_text(struct pat_text *p, struct binary *b)
{
	size_t start = ++p->at, end;
	struct seg_spec s;
	uint32_t c;
	int rc;

	while ((rc = pat_char(p, '"', &c)) == 1)
		;
	if (rc < 0 || seg_spec(p, &s) < 0)
		return -1;
	if (s.given && s.type != SEG_T_UTF8)
		return pat_fail(p, s.at, "a text in a binary has no size, and no type but utf8");
	end = p->at;
	p->at = start;
	while (pat_char(p, '"', &c) == 1)
		if (const_char(p, b, &s, c) < 0)
			return -1;
	p->at = end;
	return 0;
}

static bool is_uint64(const struct pat_node *node)
{
	return node->op == PAT_BIG && node->n == 0 && node->len == sizeof(uint64_t);
}

static int seg_number(struct pat_text *p, struct binary *b)
{
	struct pat_node node = {0};
	size_t start = p->at;
	struct seg_spec s;

	if (pat_signed_number(p, &node) < 0 || seg_spec(p, &s) < 0)
		return -1;
	if (s.type == SEG_T_INT && is_uint64(&node) && s.size == 64 && s.sign != SIGNED) {
		s.sign = SIGNED; /* the same bits */
		memcpy(&node.num, node.text, sizeof(node.num));
		return const_int(p, b, &s, node.num);
	}
	if (node.op != PAT_INT || s.type == SEG_T_BINARY)
		return pat_fail(p, start, "an integer of at most 64 bits is expected here");
	if (s.type != SEG_T_UTF8)
		return const_int(p, b, &s, node.num);
	if (node.num < 0 || node.num > 0x10ffff || (node.num >= 0xd800 && node.num < 0xe000))
		return pat_fail(p, start, "this is no character");
	return const_char(p, b, &s, (uint32_t)node.num);
}

static int seg_variable(struct pat_text *p, struct binary *b, bool *last)
{
	struct seg_spec s;
	size_t start;
	int at;

	if (flush(p, b) < 0 || (at = pat_emit(p, SEG_INT)) < 0 || pat_variable(p) < 0)
		return -1;
	start = p->at;
	if (seg_spec(p, &s) < 0)
		return -1;
	if (s.type == SEG_T_UTF8)
		return pat_fail(p, start, "a variable of the type utf8 is not understood here");
	if (s.type == SEG_T_INT) {
		p->out->nodes[at].num =
			(is_little(&s) ? SEG_LITTLE : 0) | (s.sign == SIGNED ? SEG_SIGNED : 0);
	} else if (s.sized) {
		p->out->nodes[at].op = SEG_PART;
	} else {
		p->out->nodes[at].op = SEG_REST;
		s.size = s.unit == 0 ? 8 : s.unit;
		*last = true;
	}
	b->segments++;
	pat_close(p, at, (unsigned)s.size);
	return 0;
}

static int segment(struct pat_text *p, struct binary *b, bool *last)
{
	pat_skip(p);
	if (*last)
		return pat_fail(
			p, p->at, "only the last segment of a binary may be without a size");
	if (pat_peek(p, 0) == '"')
		return seg_text(p, b);
	if (pat_is_number(p) || pat_peek(p, 0) == '-' || pat_peek(p, 0) == '+')
		return seg_number(p, b);
	if (pat_is_capital(p))
		return seg_variable(p, b, last);
	return pat_fail(p, p->at, "a text, an integer or a variable is expected in a binary");
}

int pat_binary(struct pat_text *p)
{
	struct binary b = {.n = 0};
	bool last = false;
	int at = pat_emit(p, PAT_BINARY);

	p->at += 2;
	if (at < 0)
		return -1;
	if (!pat_sees(p, ">>"))
		do
			if (segment(p, &b, &last) < 0)
				return -1;
		while (pat_take(p, ","));
	if (flush(p, &b) < 0)
		return -1;
	pat_close(p, at, b.segments);
	return pat_expect(p, ">>", "a binary");
}
