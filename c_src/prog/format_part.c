/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a printf() format, part by part: for the compiler, and for the reader of a program
 * that was compiled elsewhere. A part points into the text.
 *
 *   % [flags] [width] [.precision] [h | l | ll | L | w] [@] conversion
 *
 * flags: - + space 0 # ' ; width and precision: digits or *, and ? as a width for addresses. The @
 * may also be directly after the %.
 */
#include "format_part.h"

#include <ctype.h>
#include <string.h>

#define CONVERSIONS "aABcCdioeEfgGkpsSuxXYT"

static const char *parse_flags(const char *s, struct d_fmtpart *p)
{
	for (;; s++) {
		switch (*s) {
		case '-': p->left = true; break;
		case '+': p->plus = true; break;
		case ' ': p->space = true; break;
		case '0': p->zero = true; break;
		case '#': p->alt = true; break;
		case '\'': p->group = true; break;
		case '@': p->agg = true; break;
		default: return s;
		}
	}
}

/* Digits or '*'; a number that is too large saturates, and is rejected later. */
static const char *parse_size(const char *s, int *size, bool *dyn)
{
	if (*s == '*') {
		*dyn = true;
		return s + 1;
	}
	for (; isdigit((unsigned char)*s); s++) {
		*size = *size < 0 ? 0 : *size;
		*size = *size > FORMAT_MAX_WIDTH ? *size : *size * 10 + (*s - '0');
	}
	return s;
}

static const char *parse_mod(const char *s, struct d_fmtpart *p)
{
	static const char *const mods[] = {"hh", "ll", "h", "l", "L", "w"};

	for (size_t i = 0; i < sizeof(mods) / sizeof(*mods); i++) {
		size_t n = strlen(mods[i]);

		if (!strncmp(s, mods[i], n)) {
			memcpy(p->mod, mods[i], n);
			return s + n;
		}
	}
	return s;
}

/* The conversion at s, which is a '%'. */
static const char *parse_conv(const char *s, struct d_fmtpart *p, const char **why)
{
	s = parse_flags(s + 1, p);
	if (*s == '?') {
		p->width = 16;
		s++;
	} else {
		s = parse_size(s, &p->width, &p->dynwidth);
	}
	if (*s == '.') {
		p->prec = 0;
		s = parse_size(s + 1, &p->prec, &p->dynprec);
		if (p->dynprec)
			p->prec = -1;
	}
	s = parse_mod(s, p);
	if (*s == '@') {
		p->agg = true;
		s++;
	}
	if (p->width > FORMAT_MAX_WIDTH || p->prec > FORMAT_MAX_WIDTH) {
		*why = "is too wide";
		return NULL;
	}
	if (*s == '\0' || !strchr(CONVERSIONS, *s)) {
		*why = *s ? "is unknown: use %% for a percent sign" : "has no end";
		return NULL;
	}
	p->conv = *s;
	return s + 1;
}

const char *format_part(
	const char *s, const char *end, struct d_fmtpart *p, const char **at, const char **why)
{
	const char *pct = memchr(s, '%', (size_t)(end - s));

	*p = (struct d_fmtpart){.text = s, .width = -1, .prec = -1};
	p->len = (uint32_t)((pct != NULL ? pct : end) - s);
	if (pct == NULL)
		return end;
	if (pct[1] == '%') { /* %% is the text % */
		p->len++;
		return pct + 2;
	}
	*at = pct;
	return parse_conv(pct, p, why);
}

unsigned format_part_args(const struct d_fmtpart *p)
{
	return p->conv == 0 ? 0 : (unsigned)(!p->agg + p->dynwidth + p->dynprec);
}
