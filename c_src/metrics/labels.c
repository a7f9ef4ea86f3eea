/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: a number in decimal, a string as it is, bytes in hexadecimal digits, a stack as its
 * frames with semicolons between. What is longer than LABEL_MAX is cut: keys that are the same up
 * to there are added up. What is not UTF-8 becomes U+FFFD: one such byte, and Prometheus takes
 * nothing of the whole page.
 */
#include "labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exposition.h"
#include "totals.h"
#include "utf8.h"

static void put_clean(FILE *f, const char *text, size_t len)
{
	const char *c;
	size_t n;

	for (size_t i = 0; i < len;) {
		i += utf8_clean(text + i, len - i, &c, &n);
		fwrite(c, 1, n, f);
	}
}

/* Of a text at most so much, and no part of a character. */
static size_t cut(const char *text, size_t len)
{
	return len <= LABEL_MAX ? len : utf8_start(text, LABEL_MAX);
}

static void put_text(FILE *f, const char *text, size_t len)
{
	size_t kept = cut(text, len);

	put_clean(f, text, kept);
	if (kept < len)
		fputs("...", f);
}

static void put_bytes(FILE *f, const unsigned char *bytes, size_t len)
{
	size_t kept = len <= LABEL_MAX / 2 ? len : LABEL_MAX / 2;

	for (size_t i = 0; i < kept; i++)
		fprintf(f, "%02x", bytes[i]);
	if (kept < len)
		fputs("...", f);
}

/* One frame a line. */
static void put_stack(FILE *f, const char *text, size_t len)
{
	const char *end = text + len, *nl;
	size_t left = LABEL_MAX;

	for (const char *p = text; p < end; p = nl + 1) {
		size_t n;

		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			return;
		n = (size_t)(nl - p);
		if (n >= left) {
			fputs(";...", f);
			return;
		}
		left -= n + 1;
		if (p > text)
			fputc(';', f);
		put_clean(f, p, n);
	}
}

static void put_key(FILE *f, const erltrace_value_t *v)
{
	const char *bytes = v->bytes != NULL ? v->bytes : "";

	switch (v->kind) {
	case ERLTRACE_INT: fprintf(f, v->is_signed ? "%lld" : "%llu", (long long)v->i); break;
	case ERLTRACE_FLOAT:
		if (isfinite(v->f))
			put_float(f, v->f);
		break;
	case ERLTRACE_STACK: put_stack(f, bytes, v->len); break;
	case ERLTRACE_BYTES: put_bytes(f, v->bytes, v->len); break;
	default: put_text(f, bytes, v->len);
	}
}

char *label_values(
	const char *node, const erltrace_value_t *keys, size_t nkeys, bool other, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (f == NULL)
		return NULL;
	put_clean(f, node, strlen(node));
	fputc('\0', f);
	for (size_t i = 0; i < nkeys; i++) {
		if (other)
			fputs("other", f);
		else
			put_key(f, &keys[i]);
		fputc('\0', f);
	}
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static void set(struct label *l, const char *value)
{
	if (value >= l->end) {
		l->value = NULL;
		return;
	}
	l->value = value;
	l->name = l->plain;
	if (l->i == 0)
		l->name = "node";
	else if (l->i <= l->m->nlabels)
		l->name = l->m->labels[l->i - 1];
	else
		snprintf(l->plain, sizeof(l->plain), "key%zu", l->i - 1);
}

void label_first(struct label *l, const struct metric *m, const struct series *s)
{
	*l = (struct label){.m = m, .end = s->labels + s->labels_len};
	set(l, s->labels);
	if (l->value != NULL && l->value[0] == '\0')
		label_next(l);
}

void label_next(struct label *l)
{
	l->i++;
	set(l, l->value + strlen(l->value) + 1);
}
