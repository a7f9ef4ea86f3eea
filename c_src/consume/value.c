/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: out of records and aggregation keys, checked against the lengths that are really
 * there, and into the structs that handlers see.
 */
#include "consumer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame_text.h"
#include "prog/stack_marks.h"

/* An integer of size bytes, extended by its sign. */
static int64_t extend(uint64_t raw, const struct prog_val *v)
{
	switch (v->size) {
	case 1: return v->is_signed ? (int64_t)(int8_t)raw : (int64_t)(uint8_t)raw;
	case 2: return v->is_signed ? (int64_t)(int16_t)raw : (int64_t)(uint16_t)raw;
	case 4: return v->is_signed ? (int64_t)(int32_t)raw : (int64_t)(uint32_t)raw;
	default: return (int64_t)raw;
	}
}

static int record_str(const struct rec_head *rec, const uint8_t *p, struct co_val *out)
{
	struct rec_str s;

	memcpy(&s, p, sizeof(s));
	if (s.off > rec->size || s.len > rec->size - s.off)
		return -1;
	out->p = (const uint8_t *)rec + s.off;
	out->len = s.len;
	return 0;
}

int cv_record(const struct rec_head *rec, const struct prog_val *v, struct co_val *out)
{
	size_t room = rec->size < sizeof(*rec) ? 0 : rec->size - sizeof(*rec);
	size_t size = v->kind == V_SYM ? 8 : v->kind == V_STR ? sizeof(struct rec_str) : v->size;
	const uint8_t *p = (const uint8_t *)(rec + 1) + v->off;
	uint64_t raw = 0;

	memset(out, 0, sizeof(*out));
	out->v = v;
	if (v->off > room || size > room - v->off)
		return -1;
	switch (v->kind) {
	case V_INT:
	case V_SYM:
		memcpy(&raw, p, size < 8 ? size : 8); /* little endian, as bytecode is */
		out->i = v->kind == V_SYM ? (int64_t)raw : extend(raw, v);
		return 0;
	case V_STR: return record_str(rec, p, out);
	default:
		out->p = p;
		out->len = v->size;
		return 0;
	}
}

int cv_keys(const struct prog_agg *a, const void *key, size_t keylen, struct co_val *out)
{
	const uint8_t *p = key, *end = p + keylen;
	uint64_t raw;
	uint32_t len;
	unsigned i;

	if (a->nkeys > PROG_MAX_KEYS)
		return -1;
	for (i = 0; i < a->nkeys; i++) {
		const struct prog_val *v = &a->keys[i];

		memset(&out[i], 0, sizeof(out[i]));
		out[i].v = v;
		if (v->kind == V_INT || v->kind == V_SYM) {
			if (end - p < 8)
				return -1;
			memcpy(&raw, p, 8);
			out[i].i = v->kind == V_SYM ? (int64_t)raw : extend(raw, v);
			p += 8;
			continue;
		}
		len = v->size;
		if (v->kind == V_STR) {
			if (end - p < 4)
				return -1;
			memcpy(&len, p, 4);
			p += 4;
		}
		if ((size_t)(end - p) < len)
			return -1;
		out[i].p = p;
		out[i].len = len;
		p += len;
	}
	return 0;
}

enum sy_form cv_form_of(unsigned act)
{
	return act == ACT_MOD || act == ACT_UMOD ? SY_MOD : act == ACT_UADDR ? SY_ADDR : SY_SYM;
}

enum sy_form cv_frame_form(unsigned i)
{
	return i == 0 ? SY_PC : SY_RETURN;
}

/* What a part of a key takes: its bytes, and the length before a text. */
static size_t part_size(const struct co_val *v)
{
	return v->v->kind == V_INT || v->v->kind == V_SYM ? 8
	       : v->v->kind == V_STR			  ? 4 + v->len
							  : v->len;
}

static int map_part(const struct co_val *v, uint8_t *p, cv_map_fn *fn, void *arg)
{
	bool stack = v->v->kind == V_STACK;
	unsigned i, n = stack ? cv_nframes(v) : v->v->kind == V_SYM ? 1 : 0;
	uint64_t addr;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++, p += 8) {
		memcpy(&addr, p, 8);
		if (stack && stack_is_mark(addr))
			continue;
		rc = fn(arg, stack ? cv_frame_form(i) : cv_form_of(v->v->sub), &addr);
		memcpy(p, &addr, 8);
	}
	return rc;
}

int cv_map(const struct prog_agg *a, uint8_t *key, size_t len, cv_map_fn *fn, void *arg)
{
	struct co_val v[PROG_MAX_KEYS];
	int rc = cv_keys(a, key, len, v);

	for (unsigned i = 0; i < a->nkeys && rc == 0; key += part_size(&v[i++]))
		rc = map_part(&v[i], key, fn, arg);
	return rc;
}

static bool has_kind(const struct prog_agg *a, unsigned kind)
{
	for (unsigned i = 0; i < a->nkeys; i++)
		if (a->keys[i].kind == kind)
			return true;
	return false;
}

bool cv_has_addresses(const struct prog_agg *a)
{
	return has_kind(a, V_STACK) || has_kind(a, V_SYM);
}

/* Of this engine alone: native frames stay, with their offsets. */
static int to_start(void *arg, enum sy_form form, uint64_t *addr)
{
	struct co *co = arg;

	*addr = sy_start(co->sy, *addr, form);
	return 0;
}

static int to_name(void *arg, enum sy_form form, uint64_t *addr)
{
	struct co *co = arg;

	*addr = sy_word(co->sy, *addr, form);
	return *addr != 0 ? 0 : -1;
}

int cv_named(struct co *co, const struct prog_agg *a, const void *key, size_t len, uint8_t **named)
{
	bool joined = sy_names(co->sy) != NULL;
	int rc;

	*named = NULL;
	if (!cv_has_addresses(a))
		return 0;
	*named = malloc(len);
	if (*named == NULL)
		return -1;
	memcpy(*named, key, len);
	rc = cv_map(a, *named, len, joined ? to_name : to_start, co);
	if (rc != 0) {
		free(*named);
		*named = NULL;
	}
	return rc;
}

/* By name, so that the order does not depend on who came first. */
static int cmp_name(struct co *co, uint64_t a, uint64_t b, enum sy_form form)
{
	char x[NM_TEXT], y[NM_TEXT];

	if (a == b)
		return 0;
	sy_format(co->sy, a, form, x, sizeof(x));
	sy_format(co->sy, b, form, y, sizeof(y));
	return strcmp(x, y);
}

static int cmp_stack(struct co *co, const struct co_val *a, const struct co_val *b)
{
	unsigned i, na = cv_nframes(a), nb = cv_nframes(b);
	int c = 0;

	for (i = 0; i < na && i < nb && c == 0; i++)
		c = cmp_name(co, cv_frame(a, i), cv_frame(b, i), cv_frame_form(i));
	return c ? c : (na > nb) - (na < nb);
}

/* Integers by their sign, names, texts and bytes as memory; < 0, 0, > 0. */
int cv_cmp(struct co *co, const struct co_val *a, const struct co_val *b)
{
	size_t n = a->len < b->len ? a->len : b->len;
	bool joined = sy_names(co->sy) != NULL && a->v->kind == b->v->kind;
	int c;

	if (joined && a->v->kind == V_STACK)
		return cmp_stack(co, a, b);
	if (joined && a->v->kind == V_SYM)
		return cmp_name(co, (uint64_t)a->i, (uint64_t)b->i, cv_form_of(a->v->sub));
	if (a->v->kind == V_INT && a->v->is_signed)
		return (a->i > b->i) - (a->i < b->i);
	if (a->v->kind == V_INT || a->v->kind == V_SYM)
		return ((uint64_t)a->i > (uint64_t)b->i) - ((uint64_t)a->i < (uint64_t)b->i);
	c = n ? memcmp(a->p, b->p, n) : 0;
	return c ? c : (a->len > b->len) - (a->len < b->len);
}

uint64_t cv_frame(const struct co_val *v, unsigned i)
{
	uint64_t pc;

	memcpy(&pc, v->p + (size_t)i * 8, 8);
	return pc;
}

unsigned cv_frame_text(
	struct co *co, const struct co_val *v, unsigned i, char *text, size_t size)
{
	uint64_t word = cv_frame(v, i);
	size_t n;

	if (word == STACK_CUT) {
		snprintf(text, size, "%s", FRAME_TEXT_CUT);
		return i + 1;
	}
	sy_format(co->sy, word, cv_frame_form(i), text, size);
	if (((size_t)i + 2) * 8 > v->len || !stack_is_times(cv_frame(v, i + 1)))
		return i + 1;
	word = cv_frame(v, i + 1);
	n = strlen(text);
	if (n < size)
		snprintf(text + n, size - n, " (x %" PRIu64 "%s)", word & STACK_TIMES,
			word & STACK_LEAST ? "+" : "");
	return i + 2;
}

unsigned cv_nframes(const struct co_val *v)
{
	unsigned n = 0;

	while (((size_t)n + 1) * 8 <= v->len && cv_frame(v, n) != 0)
		n++;
	return n;
}

long double cv_float(const struct co_val *v)
{
	long double ld = 0;
	double d;
	float f;

	switch (v->len) {
	case sizeof(float): memcpy(&f, v->p, sizeof(f)); return f;
	case sizeof(double): memcpy(&d, v->p, sizeof(d)); return d;
	case sizeof(long double): memcpy(&ld, v->p, sizeof(ld)); return ld;
	default: return 0;
	}
}

/* ---- for handlers --------------------------------------------------------------------- */

struct co_tmp {
	struct co_tmp *next;
	uint64_t mem[];
};

void *co_tmp(struct co *co, size_t size)
{
	struct co_tmp *t = calloc(1, sizeof(*t) + (size ? size : 1));

	if (t == NULL)
		return NULL;
	t->next = co->tmp;
	co->tmp = t;
	return t->mem;
}

void co_tmp_free(struct co *co)
{
	struct co_tmp *t;

	while ((t = co->tmp) != NULL) {
		co->tmp = t->next;
		free(t);
	}
}

/* Frames in memory of our own (the record's need not be aligned), and their text. */
static int public_stack(struct co *co, const struct co_val *v, erltrace_value_t *out)
{
	struct co_buf text = {0};
	uint64_t *frames;
	char sym[512], *copy;
	unsigned i, n = cv_nframes(v);

	frames = co_tmp(co, (size_t)n * 8);
	if (frames == NULL)
		return -1;
	out->nframes = 0;
	for (i = 0; i < n; out->nframes++) {
		uint64_t *frame = &frames[out->nframes];

		*frame = cv_frame(v, i);
		if (stack_is_mark(*frame))
			*frame = 0;
		co->from->address(co->of, frame);
		i = cv_frame_text(co, v, i, sym, sizeof(sym));
		cb_fmt(&text, "%s\n", sym);
	}
	out->frames = frames;
	out->len = text.len;
	copy = co_tmp(co, text.len);
	if (copy != NULL && text.len)
		memcpy(copy, text.p, text.len);
	out->bytes = copy;
	cb_free(&text);
	return copy == NULL ? -1 : 0;
}

static int public_symbol(struct co *co, const struct co_val *v, erltrace_value_t *out)
{
	char *sym = co_tmp(co, 512);
	uint64_t addr;

	if (sym == NULL)
		return -1;
	sy_format(co->sy, (uint64_t)v->i, cv_form_of(v->v->sub), sym, 512);
	addr = (uint64_t)v->i;
	co->from->address(co->of, &addr);
	out->i = (int64_t)addr;
	out->bytes = sym;
	out->len = strlen(sym);
	return 0;
}

static int public_value(struct co *co, const struct co_val *v, erltrace_value_t *out)
{
	switch (v->v->kind) {
	case V_INT:
		out->kind = ERLTRACE_INT;
		out->is_signed = v->v->is_signed;
		out->i = v->i;
		return 0;
	case V_STR:
		out->kind = ERLTRACE_STRING;
		out->bytes = v->p;
		out->len = v->len;
		return 0;
	case V_FLOAT:
		out->kind = ERLTRACE_FLOAT;
		out->f = (double)cv_float(v);
		return 0;
	case V_STACK:
		out->kind = ERLTRACE_STACK;
		out->is_kernel = v->v->sub == STACK_KERNEL;
		return public_stack(co, v, out);
	case V_SYM: out->kind = ERLTRACE_SYMBOL; return public_symbol(co, v, out);
	default:
		out->kind = ERLTRACE_BYTES;
		out->bytes = v->p;
		out->len = v->len;
		return 0;
	}
}

erltrace_value_t *cv_public(struct co *co, const struct co_val *vals, unsigned n)
{
	erltrace_value_t *out = co_tmp(co, n * sizeof(*out));
	unsigned i;

	for (i = 0; out != NULL && i < n; i++)
		if (public_value(co, &vals[i], &out[i]) != 0)
			return NULL;
	return out;
}
