/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printf() and printa() by a parsed format. The compiler has checked the conversions against the
 * arguments; here a conversion that does not fit prints what there is, in a layout near to what
 * was asked for, and never reads beyond a value.
 *
 * Integers print by the size and sign of their type: h, l, ll change nothing, %d of an unsigned
 * argument is %u; %i is signed. A precision of 0 is none. %p is hexadecimal without 0x, as in
 * dtrace. The flag ' groups as the locale of the process says.
 *
 */
#include "consumer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "aggs.h"
#include "datum.h"
#include "dist.h"
#include "format.h"
#include "prog/format_part.h"

/* A conversion with its '*' filled in; width < 0: left-aligned; prec is > 0, or -1: none. */
struct conv {
	const struct d_fmtpart *part;
	char c;
	int width, prec;
};

/* "%", the flags that this conversion knows, "*.*", then how it ends. */
static void make_spec(char *spec, const struct conv *cv, const char *flags, const char *tail)
{
	const struct d_fmtpart *p = cv->part;
	char *s = spec;

	*s++ = '%';
	if (p->plus && strchr(flags, '+'))
		*s++ = '+';
	if (p->space && strchr(flags, ' '))
		*s++ = ' ';
	if (p->zero && strchr(flags, '0'))
		*s++ = '0';
	if (p->alt && strchr(flags, '#'))
		*s++ = '#';
	if (p->group && strchr(flags, '\''))
		*s++ = '\'';
	strcpy(s, "*.*");
	strcat(s, tail);
}

static uint64_t masked(const struct co_val *v)
{
	uint64_t i = (uint64_t)v->i;

	return v->v->size >= 1 && v->v->size < 8 ? i & ((UINT64_C(1) << v->v->size * 8) - 1) : i;
}

/* As a signed number of its size, whatever its type is. */
static int64_t as_signed(const struct co_val *v)
{
	unsigned shift = v->v->size >= 1 && v->v->size < 8 ? 64 - v->v->size * 8 : 0;

	return (int64_t)((uint64_t)v->i << shift) >> shift;
}

static void conv_int(
	struct co *co, struct co_buf *b, const struct conv *cv, const struct co_val *v)
{
	uint64_t i = masked(v);
	char spec[16], tail[4] = "lld";

	if (cv->c == 'i' || (cv->c == 'd' && v->v->is_signed)) {
		make_spec(spec, cv, "+ 0'", tail);
		cb_spec(b, spec, cv->width, cv->prec, (long long)as_signed(v));
		return;
	}
	tail[2] = cv->c == 'o' || cv->c == 'x' || cv->c == 'X' ? cv->c : 'u';
	if (cv->c == 'p')
		tail[2] = 'x';
	if (v->v->kind == V_SYM)
		co->from->address(co->of, &i);
	make_spec(spec, cv, tail[2] == 'u' ? "0'" : "0#", tail);
	cb_spec(b, spec, cv->width, cv->prec, (unsigned long long)i);
}

static void conv_float(struct co_buf *b, const struct conv *cv, const struct co_val *v)
{
	char spec[16], tail[3] = {'L', cv->c, 0};

	make_spec(spec, cv, "+ 0#'", tail);
	cb_spec(b, spec, cv->width, cv->prec < 4096 ? cv->prec : 4096, cv_float(v));
}

/* Text in its field, cut at the precision. */
static void conv_text(struct co_buf *b, const struct conv *cv, const void *p, size_t len)
{
	if (cv->prec >= 0 && (size_t)cv->prec < len)
		len = (size_t)cv->prec;
	cb_padded(b, p, len, cv->width);
}

static void conv_escaped(struct co_buf *b, const struct conv *cv, const void *p, size_t len)
{
	struct co_buf text = {0};

	cb_escaped(&text, p, len);
	conv_text(b, cv, text.p, text.len);
	cb_free(&text);
}

/* wchar_t: an integer, or an array of them up to the one that is 0. */
static void conv_wide(struct co_buf *b, const struct conv *cv, const struct co_val *v)
{
	struct co_buf text = {0};
	uint32_t c;
	size_t i;

	if (v->v->kind == V_INT)
		cb_utf8(&text, (uint32_t)v->i);
	for (i = 0; v->v->kind == V_BYTES && i + 4 <= v->len; i += 4) {
		memcpy(&c, v->p + i, 4);
		if (c == 0)
			break;
		cb_utf8(&text, c);
	}
	conv_text(b, cv, text.p, text.len);
	cb_free(&text);
}

static void conv_char(struct co_buf *b, const struct conv *cv, const struct co_val *v)
{
	char c = (char)v->i;
	struct conv one = *cv;

	one.prec = -1;
	if (cv->c == 'C')
		conv_escaped(b, &one, &c, 1);
	else
		conv_text(b, &one, &c, 1);
}

static void conv_str(struct co *co, struct co_buf *b, const struct conv *cv, const struct co_val *v)
{
	const void *nul;
	size_t len = v->len;
	char sym[512];

	if (v->v->kind == V_SYM) {
		sy_format(co->sy, (uint64_t)v->i, cv_form_of(v->v->sub), sym, sizeof(sym));
		conv_text(b, cv, sym, strlen(sym));
		return;
	}
	if (v->v->kind == V_BYTES && len && (nul = memchr(v->p, 0, len)) != NULL)
		len = (size_t)((const uint8_t *)nul - v->p);
	if (cv->c == 'S')
		conv_escaped(b, cv, v->p, len);
	else
		conv_text(b, cv, v->p, len);
}

/* %Y as "2026 Jan  2 03:04:05", %T as in mail. */
static void conv_time(struct co_buf *b, const struct conv *cv, const struct co_val *v)
{
	time_t sec = (time_t)(v->i / 1000000000);
	struct tm tm;
	char text[96];
	size_t n = 0;

	if (v->i < 0 && v->i % 1000000000)
		sec--;
	if (localtime_r(&sec, &tm) != NULL)
		n = strftime(text, sizeof(text),
			cv->c == 'Y' ? "%Y %b %e %H:%M:%S" : "%a, %d %b %Y %H:%M:%S %Z", &tm);
	conv_text(b, cv, text, n);
}

/* %B: so many bytes, as people say it: 512 B, 21.0 KB, 38.2 MB; each is 1024 of the one before. */
static void conv_bytes(struct co_buf *b, const struct conv *cv, const struct co_val *v)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
	double n = v->v->is_signed ? (double)as_signed(v) : (double)masked(v);
	char text[48];
	unsigned i = 0;

	for (; i < 6 && (n >= 1023.95 || n <= -1023.95 || (i == 0 && (n >= 1000 || n <= -1000)));
		i++)
		n /= 1024;
	snprintf(text, sizeof(text), i == 0 ? "%.0f %s" : "%.1f %s", n, units[i]);
	conv_text(b, cv, text, strlen(text));
}

static void conv_addr(
	struct co *co, struct co_buf *b, const struct conv *cv, const struct co_val *v)
{
	enum sy_form form = v->v->kind == V_SYM ? cv_form_of(v->v->sub) : SY_ADDR;
	char sym[512];

	sy_format(co->sy, masked(v), form, sym, sizeof(sym));
	conv_text(b, cv, sym, strlen(sym));
}

/* The layout that suits the value, where the conversion does not. */
static char fitting(char c, const struct d_fmtpart *part, const struct prog_val *v)
{
	bool wide = part->mod[0] == 'l' || part->mod[0] == 'w';

	switch (v->kind) {
	case V_INT:
		if (strchr("aABcCdiouxXpYT", c) == NULL)
			return v->is_signed ? 'd' : 'u';
		return c == 'c' && wide ? 'w' : c;
	case V_STR: return c == 'S' ? 'S' : 's';
	case V_BYTES: return c == 's' && wide ? 'w' : c == 'S' ? 'S' : 's';
	case V_FLOAT: return strchr("eEfgG", c) ? c : 'g';
	case V_STACK: return 'k';
	default: return strchr("aAsdiouxXp", c) ? c : 'a';
	}
}

static void convert(struct co *co, struct co_buf *b, struct conv *cv, const struct co_val *v)
{
	cv->c = fitting(cv->part->conv, cv->part, v->v);
	switch (cv->c) {
	case 'a':
	case 'A': conv_addr(co, b, cv, v); break;
	case 'B': conv_bytes(b, cv, v); break;
	case 'c':
	case 'C': conv_char(b, cv, v); break;
	case 's':
	case 'S': conv_str(co, b, cv, v); break;
	case 'w': conv_wide(b, cv, v); break;
	case 'Y':
	case 'T': conv_time(b, cv, v); break;
	case 'k': da_stack(co, b, v, cv->width < 0 ? -cv->width : 0, cv->width); break;
	case 'e':
	case 'E':
	case 'f':
	case 'g':
	case 'G': conv_float(b, cv, v); break;
	default: conv_int(co, b, cv, v); break;
	}
}

/* Conversions that may print any text. */
static bool prints_text(char c)
{
	return strchr("aAcCkpsSw", c) != NULL;
}

bool fm_suits(const struct d_fmt *f, const struct prog_val *vals, unsigned n)
{
	unsigned next = 0;

	for (const struct d_fmtpart *p = f->parts; p != NULL; p = p->next) {
		next += format_part_args(p);
		if (p->agg || next > n)
			return false;
		if (p->conv != 0 && !prints_text(p->conv) &&
			prints_text(fitting(p->conv, p, &vals[next - 1])))
			return false;
	}
	return true;
}

/* Where the next arguments come from. */
struct args {
	const struct co_val *vals;
	unsigned n, next;
	const struct ag_val *aggs;
	unsigned naggs, nextagg;
	unsigned nextpercent; /* of a percentile() */
};

static int star(struct args *a)
{
	const struct co_val *v = a->next < a->n ? &a->vals[a->next++] : NULL;
	int64_t i = v && v->v->kind == V_INT ? v->i : 0;

	return i > CO_MAX_FIELD		? (int)CO_MAX_FIELD
	       : i < -(int)CO_MAX_FIELD ? -(int)CO_MAX_FIELD
					: (int)i;
}

static void fill_conv(struct conv *cv, const struct d_fmtpart *p, struct args *a)
{
	cv->part = p;
	cv->c = p->conv;
	cv->width = p->dynwidth ? star(a) : p->width < 0 ? 0 : p->width;
	cv->prec = p->dynprec ? star(a) : p->prec;
	if (cv->width > (int)CO_MAX_FIELD)
		cv->width = CO_MAX_FIELD;
	if (cv->prec > (int)CO_MAX_FIELD)
		cv->prec = CO_MAX_FIELD;
	if (cv->prec <= 0)
		cv->prec = -1;
	if (p->left && cv->width > 0)
		cv->width = -cv->width;
}

/*
 * %@: the next aggregation's value; the last one again when there are no more. Percentiles are as
 * many values as there are percentages.
 */
static void convert_agg(struct co *co, struct co_buf *b, struct conv *cv, struct args *a)
{
	const struct ag_val *v;
	struct prog_val pv = {.kind = V_INT, .size = 8};
	struct co_val num = {.v = &pv};

	if (a->naggs == 0)
		return;
	v = &a->aggs[a->nextagg < a->naggs ? a->nextagg : a->naggs - 1];
	if (v->a->fn == AGG_PERCENTILE) {
		pv.is_signed = true;
		num.i = ag_percentile(v, a->nextpercent++);
		if (a->nextpercent == aggfn_npercents(v->a)) {
			a->nextpercent = 0;
			a->nextagg++;
		}
		convert(co, b, cv, &num);
		return;
	}
	a->nextagg++;
	if (ag_is_dist(v->a)) {
		di_print(co, b, v);
		return;
	}
	pv.is_signed = v->a->fn == AGG_AVG || (v->a->fn != AGG_STDDEV && v->a->is_signed);
	num.i = ag_number(v);
	convert(co, b, cv, &num);
}

static void format(struct co *co, struct co_buf *b, const struct d_fmt *f, struct args *a)
{
	const struct d_fmtpart *p;
	struct conv cv;

	for (p = f->parts; p != NULL; p = p->next) {
		cb_put(b, p->text, p->len);
		if (p->conv == 0)
			continue;
		fill_conv(&cv, p, a);
		if (p->agg)
			convert_agg(co, b, &cv, a);
		else if (a->next < a->n)
			convert(co, b, &cv, &a->vals[a->next++]);
	}
}

void fm_printf(struct co *co, struct co_buf *b, const struct d_fmt *f, const struct co_val *vals,
	unsigned n)
{
	struct args a = {.vals = vals, .n = n};

	format(co, b, f, &a);
}

void fm_printa(struct co *co, struct co_buf *b, const struct d_fmt *f, const struct co_val *keys,
	unsigned nkeys, const struct ag_val *vals, unsigned nvals)
{
	struct args a = {.vals = keys, .n = nkeys, .aggs = vals, .naggs = nvals};

	format(co, b, f, &a);
}
