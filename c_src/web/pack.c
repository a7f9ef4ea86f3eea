/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks made small: pack.h has the format. Nothing here but bytes in and bytes out. */
#include "pack.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

enum { RUN_SAME, RUN_NO_LO, RUN_NO_HI };

/* A browser's numbers are exact up to 2^53: that is twice the distance of two of these. */
static const int64_t most = 1LL << 51;

struct web_bucket {
	bool has_lo, has_hi;
	int64_t lo, hi, count;
};

/* ---- out -------------------------------------------------------------------------------- */

/* Room for so many bytes more. */
static unsigned char *room(struct web_pack *p, struct web_bytes *b, size_t more)
{
	if (p->failed || !ARRAY_RESERVE(b->v, b->room, b->n + more)) {
		p->failed = true;
		return NULL;
	}
	return b->v + b->n;
}

static void put_bytes(struct web_pack *p, const void *bytes, size_t len)
{
	unsigned char *to = room(p, &p->out, len);

	if (to != NULL && len > 0)
		memcpy(to, bytes, len);
	p->out.n += to != NULL ? len : 0;
}

static void put_number(struct web_pack *p, uint64_t n)
{
	unsigned char *to = room(p, &p->runs, 10);

	if (to == NULL)
		return;
	for (; n > 127; n >>= 7)
		*to++ = (unsigned char)(n | 128);
	*to++ = (unsigned char)n;
	p->runs.n = (size_t)(to - p->runs.v);
}

static void put_signed(struct web_pack *p, int64_t n)
{
	put_number(p, n < 0 ? ((uint64_t)(-(n + 1)) << 1) + 1 : (uint64_t)n << 1);
}

/* ---- in --------------------------------------------------------------------------------- */

struct text {
	const char *p, *end;
};

static bool skip(struct text *t, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(t->end - t->p) < len || memcmp(t->p, word, len) != 0)
		return false;
	t->p += len;
	return true;
}

/* A whole number, of at most `most` either way. */
static bool number(struct text *t, int64_t *n)
{
	bool less = skip(t, "-");
	const char *from = t->p;

	for (*n = 0; t->p < t->end && *t->p >= '0' && *t->p <= '9' && t->p - from < 16; t->p++)
		*n = *n * 10 + (*t->p - '0');
	if (t->p == from || *n > most)
		return false;
	if (less)
		*n = -*n;
	return true;
}

static bool bound(struct text *t, bool *has, int64_t *n)
{
	*has = !skip(t, "null");
	return !*has || number(t, n);
}

static bool read_bucket(struct text *t, struct web_bucket *b)
{
	return skip(t, "{\"lo\":") && bound(t, &b->has_lo, &b->lo) && skip(t, ",\"hi\":") &&
	       bound(t, &b->has_hi, &b->hi) && skip(t, ",\"count\":") && number(t, &b->count) &&
	       skip(t, "}") && b->count >= 0 && (b->has_lo || b->has_hi) &&
	       (!b->has_lo || !b->has_hi || b->lo < b->hi);
}

/* The buckets of a list up to its end, which is skipped. False: they are not as expected. */
static bool read_list(struct web_pack *p, struct text *t)
{
	p->list.n = 0;
	if (skip(t, "]"))
		return true;
	do {
		void *b = room(p, &p->list, sizeof(struct web_bucket));

		if (b == NULL || !read_bucket(t, b))
			return false;
		p->list.n += sizeof(struct web_bucket);
	} while (skip(t, ","));
	return skip(t, "]");
}

/* ---- runs ------------------------------------------------------------------------------- */

static bool follows(const struct web_bucket *b, const struct web_bucket *before)
{
	return b->has_lo && b->has_hi && b->lo == before->hi &&
	       b->hi - b->lo == before->hi - before->lo;
}

static void put_runs(struct web_pack *p, const struct web_bucket *b, size_t n)
{
	const struct web_bucket *end = b + n;
	int64_t place = 0;

	while (b < end) {
		const struct web_bucket *from = b++;

		if (!from->has_lo) {
			put_number(p, 4 + RUN_NO_LO);
			put_signed(p, from->hi);
			place = from->hi;
		} else if (!from->has_hi) {
			put_number(p, 4 + RUN_NO_HI);
			put_signed(p, from->lo - place);
			place = from->lo;
		} else {
			while (b < end && follows(b, b - 1))
				b++;
			put_number(p, (uint64_t)(b - from) * 4 + RUN_SAME);
			put_signed(p, from->lo - place);
			put_number(p, (uint64_t)(from->hi - from->lo));
			place = b[-1].hi;
		}
		for (; from < b; from++)
			put_number(p, (uint64_t)from->count);
	}
}

/* ---- a line ----------------------------------------------------------------------------- */

/* From behind its first quote to behind its last one. */
static void skip_string(struct text *t)
{
	while (t->p < t->end && *t->p != '"')
		t->p += *t->p == '\\' && t->p + 1 < t->end ? 2 : 1;
	t->p = t->p < t->end ? t->p + 1 : t->end;
}

bool web_pack(struct web_pack *p, long long id, const char *line, size_t len)
{
	struct text t = {line, line + len};
	const char *from = line; /* not written yet */
	char word[64];
	bool some = false;
	size_t head;

	p->out.n = p->runs.n = 0;
	p->failed = false;
	if (!skip(&t, "{\"type\":\"tick\","))
		return false;
	snprintf(word, sizeof(word), "----{\"type\":\"line\",\"id\":%lld,\"line\":", id);
	put_bytes(p, word, strlen(word));
	while (t.p < t.end) {
		size_t n;

		if (*t.p++ != '"')
			continue;
		if (!skip(&t, "buckets\":[")) {
			skip_string(&t);
			continue;
		}
		put_bytes(p, from, (size_t)(t.p - 1 - from));
		if (!read_list(p, &t))
			return false;
		n = p->list.n / sizeof(struct web_bucket);
		if (n > 0)
			put_runs(p, (struct web_bucket *)p->list.v, n);
		snprintf(word, sizeof(word), "%zu", n);
		put_bytes(p, word, strlen(word));
		from = t.p;
		some = true;
	}
	put_bytes(p, from, (size_t)(t.end - from));
	put_bytes(p, "}", 1);
	head = p->out.n - 4;
	put_bytes(p, p->runs.v, p->runs.n);
	if (!some || p->failed)
		return false;
	for (int i = 0; i < 4; i++)
		p->out.v[i] = (unsigned char)(head >> (8 * i));
	return true;
}

void web_pack_free(struct web_pack *p)
{
	free(p->out.v);
	free(p->runs.v);
	free(p->list.v);
	*p = (struct web_pack){0};
}
