/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of subroutines and actions. Most are checked by the letters of their prototypes in
 * builtins.def; those with rules and error tags of their own have a function here.
 */
#include "check.h"

static int proto_len(
	struct d_comp *c, const struct d_node *n, enum et_tag tag, unsigned min, unsigned max)
{
	unsigned have = chk_count(n->list);
	char want[48];

	if (have >= min && have <= max)
		return 0;
	if (min == max)
		snprintf(want, sizeof(want), "%u argument%s", min, min == 1 ? "" : "s");
	else if (max == UINT32_MAX)
		snprintf(want, sizeof(want), "at least %u argument%s", min, min == 1 ? "" : "s");
	else
		snprintf(want, sizeof(want), "%u to %u arguments", min, max);
	return d_nerror(c, tag, n, "%s() takes %s, not %u", n->text, want, have);
}

static int bad_arg(struct d_comp *c, const struct d_node *n, const struct d_node *a, unsigned i,
	const char *want)
{
	const char *hint = "";

	if (d_is_scalar(a->type) && !strncmp(want, "a string", 8))
		hint = ": copyinstr() or stringof() read text at an address";
	return CHK_ERR(c, D_PROTO_ARG, a, "argument %u of %s() must be %s, not '%s'%s", i, n->text,
		want, chk_tname(c, a->type), hint);
}

/* ---- arguments, by the letters of prototypes ---------------------------------------------- */

static int string_arg(struct d_comp *c, const struct d_node *n, struct d_node *a, unsigned i)
{
	if (!chk_strcompat(a->type) && !chk_is_zero(a)) /* NULL: a fault, but for strtok() */
		return bad_arg(c, n, a, i, "a string");
	return chk_to_string(c, a);
}

static int value_arg(struct d_comp *c, const struct d_node *n, struct d_node *a, unsigned i)
{
	enum d_tkind k = d_base(a->type)->kind;

	if (k == T_FUNC ||
		((k == T_STRUCT || k == T_UNION || k == T_ARRAY) && !d_base(a->type)->size))
		return bad_arg(c, n, a, i, "a value of known size");
	return 0;
}

static int int_arg(struct d_comp *c, const struct d_node *n, struct d_node *a, unsigned i, char l)
{
	if (chk_term_number(c, a))
		return -1;
	if (!d_is_int(a->type))
		return bad_arg(c, n, a, i, "an integer");
	switch (l) {
	case 'i': return chk_int_cast(c, a, c->t.int_);
	case 'l': return chk_int_cast(c, a, c->t.i64);
	case 'u': return chk_int_cast(c, a, c->t.u64);
	case 'c':
		if (a->kind != N_INT)
			return bad_arg(c, n, a, i, "a constant integer");
		return 0;
	default: return 0;
	}
}

/* Functions of terms with a constant that others write without quotes. */
static bool takes_word(const struct d_ident *id)
{
	return id->kind == ID_FUNC &&
	       (id->id == FN_ERLGET || id->id == FN_ERLFIELD || id->id == FN_ERLMATCH);
}

static int check_arg(struct d_comp *c, const struct d_node *n, struct d_node *a, unsigned i, char l)
{
	if (l != 'T' && takes_word(n->ident) && chk_term_word(c, a))
		return -1;
	if (chk_expr(c, a, CX_VALUE))
		return -1;
	switch (l) {
	case 's': return string_arg(c, n, a, i);
	case 'T':
		return d_is_term(a->type) ? 0 : bad_arg(c, n, a, i, "a term, such as erlarg(0)");
	case 'p':
		if (chk_decay(c, a) || (n->ident->kind == ID_FUNC && chk_term_text(c, a)))
			return -1;
		if (d_is_string(a->type) && i == 1 && n->ident->kind == ID_FUNC &&
			(n->ident->id == FN_BCOPY || n->ident->id == FN_COPYOUT))
			return chk_wrap(c, a, N_CAST, c->t.void_ptr); /* the address of its text */
		if (d_is_string(a->type) && n->ident->kind == ID_FUNC &&
			n->ident->id == FN_COPYINSTR)
			return 0; /* args[0] of a probe with text */
		return d_is_scalar(a->type) ? 0 : bad_arg(c, n, a, i, "an address");
	case 'x':
	case '*': return value_arg(c, n, a, i);
	case 'f': return 0;
	default: return int_arg(c, n, a, i, l);
	}
}

/* Check the arguments against the letters of the prototype. */
static int check_proto(struct d_comp *c, struct d_node *n)
{
	const char *p = strchr(n->ident->builtin->proto, ':') + 1;
	unsigned min = 0, max = 0, i = 0;
	bool optional = false;

	for (const char *s = p; *s; s++) {
		optional |= *s == '[' || *s == '*';
		if (*s == '*')
			max = UINT32_MAX;
		else if (*s != '[')
			max++;
		if (!optional)
			min = max;
	}
	if (proto_len(c, n, D_PROTO_LEN, min, max))
		return -1;
	for (struct d_node *a = n->list; a; a = a->next) {
		if (*p == '[')
			p++;
		if (check_arg(c, n, a, ++i, *p))
			return -1;
		if (*p != '*')
			p++;
	}
	return 0;
}

static const struct d_type *result_type(struct d_comp *c, const struct d_ident *id)
{
	bool act = id->kind == ID_ACTION;

	switch (id->builtin->proto[0]) {
	case 'i': return c->t.int_;
	case 'l': return c->t.i64;
	case 'u': return c->t.u64;
	case 's': return c->t.string;
	case 'T': return c->t.term;
	case 'P': return c->t.void_ptr;
	case 'S': return c->t.stack;
	case 'Y':
		return act && (id->id == ACT_SYM || id->id == ACT_FUNC || id->id == ACT_MOD)
			       ? c->t.symaddr
			       : c->t.usymaddr;
	default: return c->t.void_;
	}
}

/* ---- subroutines with rules of their own ---------------------------------------------------- */

/* Byte-order functions take and return a fixed number of bits. */
static int fixed_width(struct d_comp *c, struct d_node *n, const struct d_type *t)
{
	n->type = t;
	return chk_int_cast(c, n->list, t);
}

static int check_alloca(struct d_comp *c, struct d_node *n)
{
	uint64_t most = c->opts->val[OPT_SCRATCHSIZE];
	const struct d_node *a = n->list;

	if (a->kind == N_INT && a->value > most)
		return CHK_ERR(c, D_ALLOCA_SIZE, a,
			"alloca() of %" PRId64 " bytes is more than the scratch memory of %" PRIu64
			": raise it with -x scratchsize",
			(int64_t)a->value, most);
	return 0;
}

static int check_subroutine(struct d_comp *c, struct d_node *n)
{
	if (check_proto(c, n))
		return -1;
	n->type = result_type(c, n->ident);
	switch (n->ident->id) {
	case FN_ALLOCA: return check_alloca(c, n);
	case FN_HTONS:
	case FN_NTOHS: return fixed_width(c, n, c->t.u16);
	case FN_HTONL:
	case FN_NTOHL: return fixed_width(c, n, c->t.u32);
	default: return chk_term_func(c, n);
	}
}

/* ---- actions with rules of their own --------------------------------------------------------- */

/* stack() and the like have a value, but only printf() and keys of aggregations take it. */
static int no_action(struct d_comp *c, const struct d_node *n, const struct d_node *a)
{
	if (a->kind != N_FUNC || a->ident->kind != ID_ACTION || d_is_kind(a->type, T_VOID))
		return 0;
	return CHK_ERR(c, D_CG_EXPR, a,
		"%s() cannot take the value of %s(): make that a statement, a key of an "
		"aggregation or an argument of printf()",
		n->text, a->text);
}

static int check_trace(struct d_comp *c, struct d_node *n)
{
	struct d_node *a = n->list;

	if (proto_len(c, n, D_PROTO_LEN, 1, 1) || chk_expr(c, a, CX_DYN))
		return -1;
	if (no_action(c, n, a) || chk_term_text(c, a))
		return -1;
	if (d_is_kind(a->type, T_VOID) || (d_is_byref(a->type) && d_base(a->type)->size == 0) ||
		d_is_kind(a->type, T_FUNC))
		return CHK_ERR(c, D_TRACE_VOID, a, "trace() cannot take a value of type '%s'",
			chk_tname(c, a->type));
	if (chk_is_translated(a->type))
		return CHK_ERR(c, D_TRACE_DYN, a,
			"trace() cannot take a translated object: trace its members");
	if (d_is_kind(a->type, T_DYN))
		return CHK_ERR(
			c, D_TRACE_AGG, a, "trace() cannot take an aggregation: use printa()");
	return 0;
}

static int check_print(struct d_comp *c, struct d_node *n)
{
	struct d_node *a = n->list;

	if (proto_len(c, n, D_PROTO_LEN, 1, 1) || chk_expr(c, a, CX_DYN))
		return -1;
	if (d_is_kind(a->type, T_VOID))
		return CHK_ERR(c, D_PRINT_VOID, a, "print() cannot take a value of type 'void'");
	if (chk_is_translated(a->type))
		return CHK_ERR(c, D_PRINT_DYN, a,
			"print() cannot take a translated object: print its members");
	if (d_is_kind(a->type, T_DYN))
		return CHK_ERR(
			c, D_PRINT_AGG, a, "print() cannot take an aggregation: use printa()");
	if (no_action(c, n, a) || chk_term_text(c, a))
		return -1;
	if (d_is_string(a->type))
		return 0;
	if (d_base(a->type)->size == 0 || d_base(a->type)->size > CHK_TRACEMEM)
		return CHK_ERR(c, D_PRINT_SIZE, a,
			"print() cannot take a value of type '%s': its size must be 1 to %u bytes",
			chk_tname(c, a->type), CHK_TRACEMEM);
	return 0;
}

static int check_tracemem(struct d_comp *c, struct d_node *n)
{
	struct d_node *a = n->list, *size, *dyn;

	if (proto_len(c, n, D_PROTO_LEN, 2, UINT32_MAX))
		return -1;
	size = a->next;
	dyn = size->next;
	if (chk_expr(c, a, CX_VALUE) || chk_decay(c, a) || chk_expr(c, size, CX_VALUE) ||
		(dyn && chk_expr(c, dyn, CX_VALUE)))
		return -1;
	if (!d_is_int(size->type))
		return bad_arg(c, n, size, 2, "an integer");
	if (dyn && dyn->next)
		return CHK_ERR(c, D_TRACEMEM_ARGS, n, "tracemem() takes 2 to 3 arguments, not %u",
			chk_count(n->list));
	if (!d_is_scalar(a->type))
		return CHK_ERR(c, D_TRACEMEM_ADDR, a,
			"argument 1 of tracemem() must be an address, not '%s'",
			chk_tname(c, a->type));
	if (size->kind != N_INT || size->value == 0 || size->value > CHK_TRACEMEM)
		return CHK_ERR(c, D_TRACEMEM_SIZE, size,
			"argument 2 of tracemem() must be a constant from 1 to %u: give a size "
			"that varies as argument 3",
			CHK_TRACEMEM);
	if (dyn && !d_is_int(dyn->type))
		return CHK_ERR(c, D_TRACEMEM_DYNSIZE, dyn,
			"argument 3 of tracemem() must be an integer, not '%s'",
			chk_tname(c, dyn->type));
	return 0;
}

static int small_const(struct d_comp *c, const struct d_node *n, struct d_node *a, enum et_tag tag,
	uint64_t min, uint64_t max, const char *what)
{
	if (chk_expr(c, a, CX_VALUE))
		return -1;
	if (a->kind != N_INT || !d_is_int(a->type) || a->value < min || a->value > max)
		return d_nerror(c, tag, a,
			"the %s of %s() must be a constant from %" PRIu64 " to %" PRIu64, what,
			n->text, min, max);
	return 0;
}

static int check_stack(struct d_comp *c, struct d_node *n)
{
	if (proto_len(c, n, D_STACK_PROTO, 0, 1))
		return -1;
	if (!n->list)
		return 0;
	return small_const(c, n, n->list, D_STACK_SIZE, 1, CHK_FRAMES, "number of frames");
}

static int check_ustack(struct d_comp *c, struct d_node *n)
{
	if (proto_len(c, n, D_USTACK_PROTO, 0, 2))
		return -1;
	if (!n->list)
		return 0;
	if (small_const(c, n, n->list, D_USTACK_FRAMES, 0, CHK_FRAMES, "number of frames"))
		return -1;
	if (!n->list->next)
		return 0;
	return small_const(c, n, n->list->next, D_USTACK_STRSIZE, 0, CHK_TRACEMEM, "string size");
}

/*
 * Check everything the user could get wrong first, so that a script for another DTrace gets an
 * accurate message.
 */
static int check_pcap(struct d_comp *c, struct d_node *n)
{
	struct d_node *a = n->list;

	if (proto_len(c, n, D_PCAP_PROTO, 2, 2) || chk_expr(c, a, CX_VALUE) || chk_decay(c, a) ||
		chk_expr(c, a->next, CX_VALUE))
		return -1;
	if (!d_is_scalar(a->type))
		return CHK_ERR(c, D_PCAP_ADDR, a,
			"argument 1 of pcap() must be an address, not '%s'", chk_tname(c, a->type));
	if (!d_is_int(a->next->type))
		return CHK_ERR(c, D_PCAP_SIZE, a->next,
			"argument 2 of pcap() must be an integer, not '%s'",
			chk_tname(c, a->next->type));
	return CHK_ERR(c, D_PCAP_PROTO, n,
		"pcap() is not supported: network packets are in the "
		"kernel and cannot be read from here");
}

/* Text in memory that is printed by %s is read in the firing. */
static int string_values(struct d_comp *c, const struct d_fmt *f, struct d_node *args)
{
	struct d_node *a = args;

	for (const struct d_fmtpart *p = f->parts; p && a; p = p->next) {
		for (int skip = p->dynwidth + p->dynprec; skip && a; skip--)
			a = a->next;
		if (!a || !p->conv || p->agg)
			continue;
		if ((p->conv == 's' || p->conv == 'S') && !p->mod[0] && chk_strcompat(a->type) &&
			chk_to_string(c, a))
			return -1;
		a = a->next;
	}
	return 0;
}

static int check_printf(struct d_comp *c, struct d_node *n)
{
	bool named = n->ident->id == ACT_ALERT; /* a name comes first */
	unsigned i = named ? 2 : 1;
	struct d_node *fmt;
	struct d_fmt *f;

	if (proto_len(c, n, D_PROTO_LEN, i, UINT32_MAX) ||
		(named && check_arg(c, n, n->list, 1, 's')))
		return -1;
	fmt = named ? n->list->next : n->list;
	if (chk_expr(c, fmt, CX_VALUE))
		return -1;
	if (fmt->kind != N_STR)
		return CHK_ERR(c, D_PRINTF_ARG_FMT, fmt,
			"argument %u of %s() must be a string constant, not an expression", i,
			n->text);
	if (fmt->len == 0 && n->ident->id != ACT_FREOPEN)
		return CHK_ERR(c, D_PRINTF_FMT_EMPTY, fmt, "the format of %s() is empty", n->text);
	if (n->ident->id == ACT_FREOPEN && (!strcmp(fmt->text, ".") || !strcmp(fmt->text, "..")))
		return CHK_ERR(c, D_FREOPEN_INVALID, fmt,
			"freopen() cannot write to the folder \"%s\": give a file, or \"\" for the "
			"output as it was",
			fmt->text);
	for (struct d_node *a = fmt->next; a; a = a->next)
		if (check_arg(c, n, a, ++i, '*'))
			return -1;
	f = d_fmt_parse(c, fmt);
	if (!f || chk_term_values(c, f, fmt->next) || d_fmt_check_printf(c, f, n, fmt->next))
		return -1;
	return string_values(c, f, fmt->next);
}

static int check_action(struct d_comp *c, struct d_node *n)
{
	n->type = result_type(c, n->ident);
	switch (n->ident->id) {
	case ACT_CLEAR:
	case ACT_DENORMALIZE:
	case ACT_NORMALIZE:
	case ACT_TRUNC:
	case ACT_PRINTA: return chk_agg_action(c, n);
	case ACT_ALERT:
	case ACT_FLOWTRACE:
	case ACT_PRINTF:
	case ACT_SYSTEM:
	case ACT_FREOPEN: return check_printf(c, n);
	case ACT_TRACE: return check_trace(c, n);
	case ACT_PRINT: return check_print(c, n);
	case ACT_TRACEMEM: return check_tracemem(c, n);
	case ACT_STACK: return check_stack(c, n);
	case ACT_USTACK:
	case ACT_JSTACK: return check_ustack(c, n);
	case ACT_PCAP: return check_pcap(c, n);
	case ACT_EXIT:
	case ACT_RAISE:
		if (check_proto(c, n))
			return -1;
		return chk_int_cast(c, n->list, c->t.int_);
	default: return check_proto(c, n);
	}
}

int chk_func(struct d_comp *c, struct d_node *n)
{
	struct d_ident *id = d_name_find(c, c->globals, n->text);
	uint64_t param[5] = {0};

	if (!id && d_ident_find(c->globals, n->text))
		return CHK_ERR(c, D_FUNC_UNDEF, n,
			"there is no function '%s()' in the version of D that the script names: "
			"leave the option version out",
			n->text);
	if (!id)
		return CHK_ERR(c, D_FUNC_UNDEF, n, "there is no function '%s()'%s", n->text,
			chk_suggest(c, c->globals, n->text,
				1u << ID_FUNC | 1u << ID_ACTION | 1u << ID_AGGFUNC));
	if (id->kind != ID_FUNC && id->kind != ID_ACTION && id->kind != ID_AGGFUNC)
		return CHK_ERR(c, D_FUNC_IDKIND, n, "%s '%s' is not a function%s", chk_kindname(id),
			n->text,
			id->kind == ID_ASSOC || id->nkeys ? ": its keys go in [..]" : "");
	if (chk_attr(c, n, id) || chk_has(c, n, id))
		return -1;
	n->ident = id;
	switch (id->kind) {
	case ID_AGGFUNC: n->type = c->t.dyn; return chk_agg_func(c, n, param);
	case ID_FUNC: return check_subroutine(c, n);
	default: return check_action(c, n);
	}
}
