/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats of printf(), printa(), system() and freopen(): parsed once, by the compiler, and checked
 * against their arguments, so that the consumer can rely on them.
 *
 *   % [flags] [width] [.precision] [h | l | ll | L | w] [@] conversion
 *
 * flags: - + space 0 # ' ; width and precision: digits or *, and ? as a width for addresses. The @
 * may also be directly after the %.
 */
#include "d/check/check.h"

#include <ctype.h>

#define CONVERSIONS "aABcCdioeEfgGkpsSuxXYT"
#define MAX_WIDTH   4096

static int bad_format(struct d_comp *c, const struct d_node *str, const char *at, const char *why)
{
	size_t len = strspn(at + 1, "-+#'@*.?0123456789hlLw") + 1;

	if (at[len] != '\0' && at[len] != ' ' && at[len] != '\n' && at[len] != '\t')
		len++; /* the letter itself */

	return CHK_ERR(c, D_SYNTAX, str, "conversion '%.*s' of the format %s",
		(int)(len > 12 ? 12 : len), at, why);
}

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
		*size = *size > MAX_WIDTH ? *size : *size * 10 + (*s - '0');
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
static const char *parse_conv(
	struct d_comp *c, const struct d_node *str, const char *s, struct d_fmtpart *p)
{
	const char *at = s++;

	s = parse_flags(s, p);
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
	if (p->width > MAX_WIDTH || p->prec > MAX_WIDTH) {
		bad_format(c, str, at, "is too wide");
		return NULL;
	}
	if (*s == '\0' || !strchr(CONVERSIONS, *s)) {
		bad_format(c, str, at, *s ? "is unknown: use %% for a percent sign" : "has no end");
		return NULL;
	}
	p->conv = *s;
	return s + 1;
}

static struct d_fmtpart *new_part(struct d_comp *c, struct d_fmtpart ***tail)
{
	struct d_fmtpart *p = arena_new_of(c->arena, struct d_fmtpart);

	if (!p) {
		d_nomem(c);
		return NULL;
	}
	p->width = p->prec = -1;
	**tail = p;
	*tail = &p->next;
	return p;
}

struct d_fmt *d_fmt_parse(struct d_comp *c, const struct d_node *str)
{
	struct d_fmt *f = arena_new_of(c->arena, struct d_fmt);
	const char *s = str->text, *end = str->text + str->len;
	struct d_fmtpart **tail, *p;

	if (!f) {
		d_nomem(c);
		return NULL;
	}
	f->source = str->text;
	tail = &f->parts;
	while (s < end) {
		const char *pct = memchr(s, '%', (size_t)(end - s));

		p = new_part(c, &tail);
		if (!p)
			return NULL;
		p->text = s;
		if (!pct || pct + 1 >= end) {
			p->len = (uint32_t)(end - s);
			if (pct) {
				bad_format(c, str, pct, "has no end");
				return NULL;
			}
			break;
		}
		p->len = (uint32_t)(pct - s);
		if (pct[1] == '%') { /* %% is the text % */
			p->len++;
			s = pct + 2;
			continue;
		}
		s = parse_conv(c, str, pct, p);
		if (!s)
			return NULL;
		f->nargs += !p->agg + p->dynwidth + p->dynprec;
	}
	return f;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_wide(const struct d_fmtpart *p)
{
	return p->mod[0] == 'l' || p->mod[0] == 'w';
}

/* The type that a conversion requires; NULL: t is fine. */
static const char *mismatch(const struct d_fmtpart *p, const struct d_type *t)
{
	const struct d_type *b = d_base(t);

	switch (p->conv) {
	case 'a':
	case 'A':
		if (b->kind == T_SYMADDR)
			return NULL;
		/* fall through */
	case 'p': return d_is_scalar(b) || b->kind == T_ARRAY ? NULL : "an address";
	case 'e':
	case 'E':
	case 'f':
	case 'g':
	case 'G': return b->kind == T_FLOAT ? NULL : "a floating point number";
	case 'k': return b->kind == T_STACK ? NULL : "a stack";
	case 's':
	case 'S':
		if (is_wide(p) && (b->kind == T_PTR || b->kind == T_ARRAY) &&
			d_is_int(d_base(b->ref)) && d_base(b->ref)->size == 4)
			return NULL;
		return chk_strcompat(b) ? NULL : "a string";
	default: return d_is_int(b) ? NULL : "an integer";
	}
}

static int bad_value(struct d_comp *c, const struct d_node *at, const struct d_node *call,
	const struct d_fmtpart *p, const char *want, const struct d_type *t)
{
	const char *hint = "";

	if (at->kind == N_VAR && at->ident->kind == ID_BUILTIN &&
		(at->ident->id == BI_UCALLER || at->ident->id == BI_CALLER))
		hint = at->ident->id == BI_UCALLER ? ": use %A for the function at this address"
						   : ": use %a for the function at this address";
	else if (p->conv == 's' && d_is_scalar(t))
		hint = ": use copyinstr() or stringof() for text at an address, %d for a number";
	else if (d_is_string(t) && !strcmp(want, "an integer"))
		hint = chk_kept_term(c, at)[0] != '\0' ? chk_kept_term(c, at) : ": use %s";
	else if (d_is_ptr(t) && !strcmp(want, "an integer"))
		hint = ": use %p";
	else if (d_is_kind(t, T_DYN))
		hint = ": use printa()";
	return CHK_ERR(c, D_PRINTF_ARG_TYPE, at, "%%%s%c of %s() takes %s, not '%s'%s", p->mod,
		p->conv, call->text, want, chk_tname(c, t), hint);
}

/* Check the arguments of '*'. */
static int check_dyn(struct d_comp *c, const struct d_fmtpart *p, const struct d_node *call,
	const struct d_node **a)
{
	for (int i = p->dynwidth + p->dynprec; i > 0; i--) {
		if (!*a)
			return CHK_ERR(c, D_PRINTF_DYN_PROTO, call,
				"the format of %s() has a '*' whose argument is missing",
				call->text);
		if (!d_is_int((*a)->type))
			return CHK_ERR(c, D_PRINTF_DYN_TYPE, *a,
				"'*' in the format of %s() takes an integer, not '%s'", call->text,
				chk_tname(c, (*a)->type));
		*a = (*a)->next;
	}
	return 0;
}

int d_fmt_check_printf(struct d_comp *c, const struct d_fmt *f, const struct d_node *call,
	const struct d_node *args)
{
	const struct d_node *a = args;
	unsigned have = chk_count(args);

	for (const struct d_fmtpart *p = f->parts; p; p = p->next) {
		const char *want;

		if (!p->conv)
			continue;
		if (p->agg)
			return CHK_ERR(c, D_PRINTF_AGG_CONV, call,
				"%%@%c in the format of %s(): only printa() prints aggregations",
				p->conv, call->text);
		if (check_dyn(c, p, call, &a))
			return -1;
		if (!a)
			return CHK_ERR(c, D_PRINTF_ARG_PROTO, call,
				"the format of %s() takes %u argument%s, there %s %u", call->text,
				f->nargs, f->nargs == 1 ? "" : "s", have == 1 ? "is" : "are", have);
		want = mismatch(p, a->type);
		if (want)
			return bad_value(c, a, call, p, want, a->type);
		a = a->next;
	}
	if (a)
		return CHK_ERR(c, D_PRINTF_ARG_EXTRA, a,
			"the format of %s() takes %u argument%s, there are %u", call->text,
			f->nargs, f->nargs == 1 ? "" : "s", have);
	return 0;
}

static int printa_key(struct d_comp *c, const struct d_fmtpart *p, const struct d_node *call,
	const struct d_ident *agg, unsigned *key)
{
	const char *want;

	for (int i = p->dynwidth + p->dynprec; i > 0; i--, ++*key) {
		if (*key >= agg->nkeys)
			return CHK_ERR(c, D_PRINTF_DYN_PROTO, call,
				"the format of printa() has a '*', and @%s no key left for it",
				agg->name);
		if (!d_is_int(agg->keys[*key]))
			return CHK_ERR(c, D_PRINTF_DYN_TYPE, call,
				"'*' in the format of printa() takes an integer key, not '%s'",
				chk_tname(c, agg->keys[*key]));
	}
	if (p->agg)
		return 0;
	if (*key >= agg->nkeys)
		return CHK_ERR(c, D_PRINTF_ARG_PROTO, call,
			"the format of printa() prints more keys than the %u of @%s: use %%@d for "
			"its value",
			agg->nkeys, agg->name);
	want = mismatch(p, agg->keys[*key]);
	if (p->conv == 's' && d_is_kind(agg->keys[*key], T_SYMADDR))
		want = NULL;
	if (want)
		return bad_value(c, call, call, p, want, agg->keys[*key]);
	++*key;
	return 0;
}

/* A format need not print all keys. */
int d_fmt_check_printa(struct d_comp *c, const struct d_fmt *f, const struct d_node *call,
	const struct d_ident *agg)
{
	unsigned key = 0;

	for (const struct d_fmtpart *p = f->parts; p; p = p->next) {
		if (!p->conv)
			continue;
		if (p->agg && !strchr("BdioxXuaAfegEG", p->conv))
			return CHK_ERR(c, D_PRINTF_ARG_TYPE, call,
				"%%@%c in the format of printa(): a value is printed by %%@d, "
				"%%@u, %%@x or %%@B",
				p->conv);
		if (printa_key(c, p, call, agg, &key))
			return -1;
	}
	return 0;
}
