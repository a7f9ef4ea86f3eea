/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats of printf(), printa(), system() and freopen(): parsed once, by the compiler, and checked
 * against their arguments, so that the consumer can rely on them. prog/format_part.c has their
 * syntax.
 */
#include "d/check/check.h"

#include "prog/format_part.h"

static int bad_format(struct d_comp *c, const struct d_node *str, const char *at, const char *why)
{
	size_t len = strspn(at + 1, "-+#'@*.?0123456789hlLw") + 1;

	if (at[len] != '\0' && at[len] != ' ' && at[len] != '\n' && at[len] != '\t')
		len++; /* the letter itself */

	return CHK_ERR(c, D_SYNTAX, str, "conversion '%.*s' of the format %s",
		(int)(len > 12 ? 12 : len), at, why);
}

struct d_fmt *d_fmt_parse(struct d_comp *c, const struct d_node *str)
{
	struct d_fmt *f = arena_new_of(c->arena, struct d_fmt);
	const char *s = str->text, *end = str->text + str->len, *at, *why;
	struct d_fmtpart **tail;

	if (!f) {
		d_nomem(c);
		return NULL;
	}
	f->source = str->text;
	f->len = str->len;
	for (tail = &f->parts; s < end; tail = &(*tail)->next) {
		*tail = arena_new_of(c->arena, struct d_fmtpart);
		if (!*tail) {
			d_nomem(c);
			return NULL;
		}
		s = format_part(s, end, *tail, &at, &why);
		if (!s) {
			bad_format(c, str, at, why);
			return NULL;
		}
		f->nargs += format_part_args(*tail);
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
