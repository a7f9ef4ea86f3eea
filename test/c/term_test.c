/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of Erlang as values of D, without Erlang: a provider answers from a small model. BEGIN runs
 * once in the JIT and once interpreted, and prints.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "checks.h"
#include "engine/current.h"
#include "engine/engine.h"
#include "prog/builtins.h"

/* ---- the model ------------------------------------------------------------------------- */

struct term {
	enum { INT, ATOM, BIN, TUPLE, CONS, NIL, MAP } kind;
	int64_t num;
	const char *text;
	const struct term *v[4]; /* elements; head and tail; key, value, key, value */
	unsigned n;
};

#define NEW_INT(i)	(&(const struct term){.kind = INT, .num = (i)})
#define NEW_ATOM(s)	(&(const struct term){.kind = ATOM, .text = (s)})
#define NEW_BIN(s)	(&(const struct term){.kind = BIN, .text = (s)})
#define NEW_TUPLE2(...) (&(const struct term){.kind = TUPLE, .v = {__VA_ARGS__}, .n = 2})
#define NEW_TUPLE3(...) (&(const struct term){.kind = TUPLE, .v = {__VA_ARGS__}, .n = 3})
#define NEW_CONS(...)	(&(const struct term){.kind = CONS, .v = {__VA_ARGS__}, .n = 2})
#define NEW_NIL		(&(const struct term){.kind = NIL})
#define NEW_MAP2(...)	(&(const struct term){.kind = MAP, .v = {__VA_ARGS__}, .n = 4})

static const struct term *args[4], *slots[TERM_SLOTS];
static const struct prog *prog;
static unsigned asked[PBI_COUNT_];
static int order = 1; /* what `same' says of equal terms */

static const struct term *at(uint64_t handle)
{
	return handle >= 1 && handle <= TERM_SLOTS ? slots[handle - 1] : NULL;
}

static uint64_t put(unsigned slot, const struct term *t)
{
	CHECK(slot < prog->nterms, "%u", slot);
	slots[slot] = t;
	return t != NULL ? slot + 1 : 0;
}

static const struct term *ask(unsigned pbi, uint64_t n)
{
	asked[pbi]++;
	return pbi == PBI_ERLARG && n < 4 ? args[n] : NULL;
}

static uint64_t source(const struct en_current *cur, unsigned slot, unsigned pbi, uint64_t n)
{
	(void)cur;
	return put(slot, ask(pbi, n));
}

static bool same_term(const struct term *a, const struct term *b)
{
	if (a->kind != b->kind || a->num != b->num || a->n != b->n ||
		(a->text != NULL && strcmp(a->text, b->text) != 0))
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (!same_term(a->v[i], b->v[i]))
			return false;
	return true;
}

/* Tuples, atoms, integers and variables are enough here. */
static bool walk(const struct pat_node **p, const struct term *t, const struct term **vars)
{
	const struct pat_node *n = (*p)++;

	switch (n->op) {
	case PAT_ANY: return true;
	case PAT_VAR:
		if (vars[n->n] != NULL)
			return same_term(vars[n->n], t);
		vars[n->n] = t;
		return true;
	case PAT_ATOM:
		return t->kind == ATOM && strlen(t->text) == n->len &&
		       memcmp(t->text, n->text, n->len) == 0;
	case PAT_INT: return t->kind == INT && t->num == n->num;
	case PAT_TUPLE:
		if (t->kind != TUPLE || t->n != n->n)
			return false;
		for (unsigned i = 0; i < t->n; i++)
			if (!walk(p, t->v[i], vars))
				return false;
		return true;
	default: return false;
	}
}

static bool match_term(const struct term *t, unsigned pattern, unsigned first)
{
	const struct pat *p = &prog->pats[pattern];
	const struct pat_node *n = p->nodes;
	const struct term *vars[PAT_VARS] = {NULL};

	CHECK(pattern < prog->npats && first + p->nvars <= prog->nterms);
	if (t == NULL || !walk(&n, t, vars))
		return false;
	for (unsigned i = 0; i < p->nvars; i++)
		put(first + i, vars[i]);
	return true;
}

static bool match(const struct en_current *cur, uint64_t of, unsigned pattern, unsigned first)
{
	(void)cur;
	return match_term(at(of), pattern, first);
}

static bool source_match(
	const struct en_current *cur, unsigned pbi, uint64_t n, unsigned pattern, unsigned first)
{
	(void)cur;
	return match_term(ask(pbi, n), pattern, first);
}

static const struct term *value_of(const struct term *t, unsigned key)
{
	for (unsigned i = 0; i + 1 < t->n; i += 2) {
		const struct pat_node *n = prog->pats[key].nodes;

		if (walk(&n, t->v[i], NULL))
			return t->v[i + 1];
	}
	return NULL;
}

static uint64_t part(
	const struct en_current *cur, unsigned slot, enum term_part which, uint64_t of, uint64_t n)
{
	const struct term *t = at(of), *found = NULL;

	(void)cur;
	if (t != NULL && which == TERM_ELEMENT && t->kind == TUPLE && n >= 1 && n <= t->n)
		found = t->v[n - 1];
	else if (t != NULL && which == TERM_HD && t->kind == CONS)
		found = t->v[0];
	else if (t != NULL && which == TERM_TL && t->kind == CONS)
		found = t->v[1];
	else if (t != NULL && which == TERM_KEY && t->kind == MAP)
		found = value_of(t, (unsigned)n);
	return put(slot, found);
}

static bool number(const struct en_current *cur, uint64_t of, enum term_fact fact, int64_t *v)
{
	const struct term *t = at(of);

	(void)cur;
	if (t == NULL || (fact == TERM_INTEGER && t->kind != INT) ||
		(fact == TERM_SIZE && t->kind != TUPLE && t->kind != BIN))
		return false;
	*v = fact == TERM_IS	    ? 1
	     : fact == TERM_INTEGER ? t->num
	     : t->kind == BIN	    ? (int64_t)strlen(t->text)
				    : t->n;
	return true;
}

static bool text(const struct en_current *cur, uint64_t of, enum term_text how, char *buf,
	size_t size, const struct et_str **s)
{
	static const char *const kinds[] = {
		"integer", "atom", "binary", "tuple", "list", "list", "map"};
	const struct term *t = at(of);

	(void)cur;
	(void)s;
	if (t == NULL || (how == TERM_CHARS && t->text == NULL))
		return false;
	if (how == TERM_TYPE)
		snprintf(buf, size, "%s", kinds[t->kind]);
	else if (t->kind == INT)
		snprintf(buf, size, "%" PRId64, t->num);
	else
		snprintf(buf, size, t->kind == BIN && how != TERM_CHARS ? "<<\"%s\">>" : "%s",
			t->text != NULL ? t->text : kinds[t->kind]);
	return true;
}

static int equals(const struct en_current *cur, uint64_t of, const char *with, size_t len)
{
	char printed[64], chars[64];
	const struct et_str *s = NULL;

	return (text(cur, of, TERM_PRINTED, printed, sizeof(printed), &s) &&
		       strlen(printed) == len && memcmp(printed, with, len) == 0) ||
	       (text(cur, of, TERM_CHARS, chars, sizeof(chars), &s) && strlen(chars) == len &&
		       memcmp(chars, with, len) == 0);
}

static int compare(const struct en_current *cur, uint64_t of, uint64_t n, bool huge)
{
	const struct term *t = at(of);

	(void)cur;
	if (t == NULL || t->kind != INT)
		return TERM_NOT_A_NUMBER;
	return huge || t->num < (int64_t)n ? -1 : t->num > (int64_t)n;
}

static int same(const struct en_current *cur, uint64_t a, uint64_t b)
{
	(void)cur;
	return at(a) != NULL && at(b) != NULL && same_term(at(a), at(b)) ? order : 0;
}

static const struct et_str *str(
	const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size)
{
	const struct et_str *s = NULL;

	slots[TERM_SLOTS - 1] = pbi == PBI_ERLARG && n < 4 ? args[n] : NULL;
	text(cur, TERM_SLOTS, TERM_PRETTY, buf, size, &s);
	return NULL;
}

static uint64_t source_part(const struct en_current *cur, unsigned slot, enum term_part which,
	unsigned pbi, uint64_t source_n, uint64_t n)
{
	return part(cur, slot, which, source(cur, slot, pbi, source_n), n);
}

static const struct en_term_ops terms = {
	source, part, source_part, match, source_match, number, text, equals, compare, same};
static const struct en_current_ops ops = {.str = str, .terms = &terms};
static const struct en_current_ops texts_only = {.str = str};
static struct en_current me = {.key = 1, .ops = &ops};

/* ---- running --------------------------------------------------------------------------- */

static char out[4096], fault[256];

static int on_text(void *arg, const char *s, size_t len)
{
	(void)arg;
	strncat(out, s, len < sizeof(out) - strlen(out) - 1 ? len : sizeof(out) - strlen(out) - 1);
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	(void)arg;
	snprintf(fault, sizeof(fault), "%s", f->fault);
	return 0;
}

static void run_in(const char *script, const char *jit)
{
	static const char *const fields[] = {"id", "item", NULL};
	erltrace_handlers_t hs = {.size = sizeof(hs), .text = on_text, .fault = on_fault};
	erltrace_error_t err = {.text = ""};
	erltrace_t *h = erltrace_open(&err);

	out[0] = fault[0] = '\0';
	memset(slots, 0, sizeof(slots));
	memset(asked, 0, sizeof(asked));
	erltrace_setopt(h, "quiet", NULL, &err);
	erltrace_setopt(h, "jit", jit, &err);
	CHECK(erltrace_set_record(h, "order", fields, &err) == 0);
	prog = &h->comp->prog;
	en_set_host(h->en, &me);
	if (!CHECK(erltrace_compile(h, script, NULL, &err) == 0 && erltrace_go(h, &err) == 0,
		    "%s: %s", script, err.text))
		goto close;
	erltrace_stop(h, &err);
	while (erltrace_work(h, &hs, &err) == ERLTRACE_OK)
		;
	while (out[0] != '\0' && out[strlen(out) - 1] == '\n')
		out[strlen(out) - 1] = '\0';
close:
	erltrace_close(h);
}

/* The body of BEGIN, and what it prints, or how it faults. */
static void gives(const char *body, const char *want, const char *want_fault)
{
	char script[2048];

	snprintf(script, sizeof(script), "BEGIN%s", body);
	for (int jit = 0; jit < 2; jit++) {
		run_in(script, jit ? "on" : "off");
		ok(strcmp(out, want) == 0 && strcmp(fault, want_fault) == 0, body,
			fault[0] != '\0' ? fault : out);
	}
}

#define PRINT(format, values, want) gives(" { printf(\"" format "\", " values "); }", want, "")
#define FAULT(body, words)	    gives(" { " body " }", "", words)

/* ---- the tests ------------------------------------------------------------------------- */

#define ORDER	 NEW_TUPLE3(NEW_ATOM("order"), NEW_INT(7), NEW_BIN("tea"))
#define RESERVED NEW_TUPLE3(NEW_ATOM("reserve"), NEW_BIN("tea"), NEW_INT(3))

static void numbers(void)
{
	args[0] = NEW_INT(5);
	args[1] = NEW_ATOM("ok");
	args[2] = NEW_INT(-1);
	PRINT("%d %d %d", "erlarg(0) == 5, erlarg(0) != 5, 5 == erlarg(0)", "1 0 1");
	PRINT("%d%d%d%d", "erlarg(0) < 6, erlarg(0) <= 5, erlarg(0) > 4, erlarg(0) >= 5", "1111");
	PRINT("%d%d%d%d", "erlarg(0) < 5, erlarg(0) <= 4, erlarg(0) > 5, erlarg(0) >= 6", "0000");
	PRINT("%d%d%d%d", "6 > erlarg(0), 5 >= erlarg(0), 4 < erlarg(0), 5 <= erlarg(0)", "1111");
	PRINT("%d %d", "erlarg(2) == (uint64_t)-1, erlarg(2) < (uint64_t)-1", "0 1");
	/* what is not a number, or not there, is not equal, less or greater */
	PRINT("%d%d%d%d%d %d",
		"erlarg(1) == 5, erlarg(1) < 5, erlarg(1) <= 5, erlarg(1) > 5, erlarg(1) >= 5,"
		" erlarg(1) != 5",
		"00000 1");
	PRINT("%d%d%d%d%d %d",
		"erlarg(3) == 5, erlarg(3) < 5, erlarg(3) <= 5, erlarg(3) > 5, erlarg(3) >= 5,"
		" erlarg(3) != 5",
		"00000 1");
	gives("/!(erlarg(1) < 5) && !(erlarg(1) >= 5)/ { printf(\"neither\"); }", "neither", "");
	gives("/erlarg(0) > 3/ { printf(\"yes\"); }", "yes", "");
	gives("/erlarg(1) > 3/ { printf(\"yes\"); }", "", "");
	PRINT("%d %d %d", "erlarg(0), erlarg(0) + 1, -erlarg(0)", "5 6 -5");
	PRINT("%d", "(int64_t)erlarg(0) * 2", "10");
	PRINT("%d", "(uint8_t)erlarg(2)", "255");
	gives(" { x = 1; x += erlarg(0); y = (int64_t)erlarg(0); printf(\"%d %d\", x, y); }", "6 5",
		"");
	gives(" { @ = sum(erlarg(0)); printa(\"%@d\", @); }", "5", "");
	gives(" { @ = lquantize(1, 0, 9, 1, erlarg(0)); trunc(@); printf(\"counted\"); }",
		"counted", "");
	gives(" { this->x = 1; printf(\"%d\", this->x ? erlarg(0) : 2); }", "5", "");
	FAULT("trace(erlarg(1) + 1);", "not a number (of 64 bits)");
	FAULT("trace((int)erlarg(3));", "no such term");
	FAULT("@ = sum(erlarg(1));", "not a number (of 64 bits)");
	FAULT("self->x = 1; self->x = erlarg(1);", "not a number (of 64 bits)");
	gives(" { trace(erlarg(1) + 1); } ERROR { printf(\"%d %d %d\", arg4, arg5, "
	      "arg4 == DTRACEFLT_TERM); }",
		"14 2 1", "not a number (of 64 bits)");
}

static void texts(void)
{
	memset(args, 0, sizeof(args));
	args[0] = NEW_BIN("tea");
	args[1] = NEW_ATOM("ok");
	args[2] = NEW_TUPLE2(NEW_ATOM("error"), NEW_BIN("tea"));
	PRINT("%s %s [%s]", "erlarg(0), erlarg(1), erlarg(3)", "<<\"tea\">> ok []");
	PRINT("%d%d %d%d",
		"erlarg(0) == \"tea\", erlarg(0) == \"<<\\\"tea\\\">>\","
		"erlarg(0) == \"te\", erlarg(0) != \"te\"",
		"11 01");
	PRINT("%d%d", "\"ok\" == erlarg(1), \"ok\" != erlarg(1)", "10");
	/* what is not there equals "" only */
	PRINT("%d%d %d%d",
		"erlarg(3) == \"\", erlarg(3) != \"\", erlarg(3) == \"x\","
		"erlarg(3) != \"x\"",
		"10 01");
	PRINT("%d%d", "erlhd(erlarg(0)) == \"\", erlhd(erlarg(0)) == \"x\"", "10");
	PRINT("%s %s", "erlelement(2, erlarg(2)), erltext(erlelement(2, erlarg(2)))",
		"<<\"tea\">> tea");
	PRINT("%s", "strjoin(\"<\", strjoin(erlarg(1), \">\"))", "<ok>");
	PRINT("%d %c", "strlen(erlarg(1)), erlarg(1)[0]", "2 o");
	gives(" { x = erlarg(1); self->y = erlarg(1); z[erlarg(1)] = erlarg(0);"
	      " printf(\"%s %s %s\", x, self->y, z[\"ok\"]); }",
		"ok ok <<\"tea\">>", "");
	gives(" { @[erlarg(1), erlelement(1, erlarg(2))] = count(); printa(\"%s %s %@d\", @); }",
		"ok error 1", "");
	gives(" { this->x = 1; printf(\"%s\", this->x ? erlarg(1) : \"no\"); }", "ok", "");
	gives(" { this->t = erlarg(2); trace(erlelement(1, this->t)); }", "error", "");
	gives(" { this->x = 0; this->t = this->x ? erlarg(0) : erlarg(2);"
	      " trace(erlelement(1, this->t)); }",
		"error", "");
	gives(" { print(erlelement(1, erlarg(2))); }", "string \"error\"", "");
	PRINT("%s", "stringof(erlelement(1, erlarg(2)))", "error");
	PRINT("%s", "(string)erlelement(1, erlarg(2))", "error");
	FAULT("trace(erlhd(erlarg(0)));", "no such term");
	FAULT("trace(erltext(erlarg(2)));", "not a text");
	FAULT("this->t = erlarg(3); trace(this->t);", "no such term");
	FAULT("x = erlelement(9, erlarg(2));", "no such term");
	/* texts and terms of an event are asked for once in a clause */
	gives(" { this->a = erlarg(1); this->b = erlarg(1); @[erlarg(1), erlarg(1)] = count();"
	      " printf(\"%d\", this->a == this->b); trunc(@); }",
		"1", "");
	CHECK(asked[PBI_ERLARG] == 1, "%u", asked[PBI_ERLARG]);
}

static void parts(void)
{
	memset(args, 0, sizeof(args));
	args[0] = NEW_MAP2(NEW_ATOM("plan"), NEW_ATOM("gold"), NEW_INT(1), NEW_ATOM("one"));
	args[1] = NEW_CONS(NEW_INT(1), NEW_CONS(NEW_INT(2), NEW_NIL));
	args[2] = ORDER;
	args[3] = NEW_TUPLE2(NEW_ATOM("order"), NEW_INT(7));
	PRINT("%s %s", "erlget(\"plan\", erlarg(0)), erlget(1, erlarg(0))", "gold one");
	PRINT("%s %s", "erltype(erlget(\"user\", erlarg(0))), erltype(erlget(\"plan\", erlarg(1)))",
		"none none");
	gives("/erlget(\"plan\", erlarg(0)) == \"gold\"/ { printf(\"gold\"); }", "gold", "");
	PRINT("%d %d %s", "erlhd(erlarg(1)), erlhd(erltl(erlarg(1))), erltype(erltl(erlarg(1)))",
		"1 2 list");
	PRINT("%d %s",
		"erlfield(\"order.id\", erlarg(2)), erltext(erlfield(\"order.item\", erlarg(2)))",
		"7 tea");
	PRINT("%s %s",
		"erltype(erlfield(\"order.id\", erlarg(3))), "
		"erltype(erlfield(\"order.id\", erlarg(1)))",
		"none none");
	gives(" { this->i = 2; printf(\"%d\", erlelement(this->i, erlarg(2))); }", "7", "");
	PRINT("%d %s %s", "erlsize(erlarg(2)), erltype(erlarg(2)), erltype(erlarg(0))",
		"3 tuple map");
	FAULT("trace(erlsize(erlarg(0)));", "not a term with a size");
	FAULT("trace(erlsize(erlhd(erlarg(0))));", "no such term");
	PRINT("%d", "erlarg(2) == erlarg(2)", "1");
	PRINT("%d %d", "erlarg(2) == erlarg(3), erlarg(2) != erlarg(3)", "0 1");
	order = -1;
	FAULT("trace(erlarg(2) == erlarg(2));", "too large or too deep to be compared");
	order = 1;
}

static void patterns(void)
{
	memset(args, 0, sizeof(args));
	args[0] = NEW_TUPLE3(NEW_ATOM("call"), NEW_INT(1), RESERVED);
	args[1] = NEW_TUPLE2(NEW_INT(4), NEW_INT(4));
	gives("/erlmatch(erlarg(0), \"{call, _, {reserve, Item, N}}\")/"
	      " { printf(\"%s %d\", erltext(this->Item), this->N); }",
		"tea 3", "");
	gives("/erlmatch(erlarg(0), \"{call, 2, {reserve, Item, N}}\")/ { printf(\"yes\"); }", "",
		"");
	gives("/erlmatch(erlarg(0), \"{call, _, {reserve, Item, N}}\") && this->N > 3/"
	      " { printf(\"yes\"); }",
		"", "");
	PRINT("%d%d%d",
		"erlmatch(erlarg(1), \"{X, X}\"), erlmatch(erlarg(0), \"X\"),"
		"erlmatch(erlarg(3), \"X\")",
		"110");
	/* a variable of the script's own type */
	gives(" { this->n = erlmatch(erlarg(0), \"{call, _, {reserve, Item, N}}\");"
	      " printf(\"%d %d\", this->n, this->N); }",
		"1 3", "");
	run_in("this string Item; this int N; BEGIN /erlmatch(erlarg(0), \"{call, _, {reserve, "
	       "Item, "
	       "N}}\")/ { printf(\"%s %d\", this->Item, this->N * 2); }",
		"on");
	CHECK(strcmp(out, "<<\"tea\">> 6") == 0, "%s", out);
	run_in("this int Item; BEGIN { trace(erlmatch(erlarg(0), \"{call, _, {reserve, Item, "
	       "_}}\")); }",
		"on");
	CHECK(strcmp(fault, "not a number (of 64 bits)") == 0, "%s", fault);
	/* one that does not match changes nothing */
	gives(" { this->a = erlmatch(erlarg(1), \"{X, _}\"); this->b = erlmatch(erlarg(0), \"{X, "
	      "_}\");"
	      " printf(\"%d %d %d\", this->a, this->b, this->X); }",
		"1 0 4", "");
	gives("/erlmatch(erlarg(0), \"{A, 2, _}\") || erlmatch(erlarg(0), \"{A, 1, _}\")/"
	      " { printf(\"%s\", this->A); }",
		"call", "");
	run_in("inline term_t body = erlelement(3, erlarg(0)); inline term_t nth[int n, term_t t] ="
	       " erlelement(n, t); BEGIN { printf(\"%s\", nth[1, body]); }",
		"on");
	CHECK(strcmp(out, "reserve") == 0, "%s", out);
}

/* An error in a pattern has the place in the source that is meant. */
static void places(void)
{
	static const struct {
		const char *script;
		int line, column;
	} bad[] = {
		{"BEGIN /erlmatch(erlmsg, \"{ok, ]}\")/ { }", 1, 31},
		{"BEGIN\n{\n\ttrace(erlmatch(erlmsg, \"{\\\"a\\\", ]}\"));\n}", 3, 34},
		{"BEGIN { trace(erlget(\"{a\", erlmsg)); }", 1, 25},
		{"BEGIN { trace(erlfield(\"no.id\", erlmsg)); }", 1, 24},
		{"inline string P = \"]\"; BEGIN { trace(erlmatch(erlmsg, P)); }", 1, 55},
	};
	erltrace_error_t err;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		erltrace_t *h = erltrace_open(&err);

		CHECK(erltrace_compile(h, bad[i].script, NULL, &err) < 0, "%s", bad[i].script);
		CHECK(strcmp(err.tag, "D_PATTERN") == 0 && err.line == bad[i].line &&
				err.column == bad[i].column,
			"%s: %s %d:%d", bad[i].script, err.tag, err.line, err.column);
		erltrace_close(h);
	}
}

/* Nothing is set up for memory that may not be mapped: terms are read by the provider. */
static void memory(void)
{
	erltrace_error_t err;
	erltrace_t *h = erltrace_open(&err);

	CHECK(erltrace_compile(h,
		      "BEGIN /erlmatch(erlmsg, \"{A, B}\") && this->A == 5/"
		      "{ trace(erltext(this->B)); trace(this->A + 1); trace(this->A == this->B); }",
		      NULL, &err) == 0);
	CHECK(!uses_memory(&h->comp->prog.clauses[0]->uses));
	CHECK(h->comp->prog.clauses[0]->uses.pbis == 1u << PBI_ERLMSG);
	erltrace_close(h);
}

/* A script that does not compile leaves no pattern and no slot behind. */
static void undone(void)
{
	erltrace_error_t err;
	erltrace_t *h = erltrace_open(&err);
	const struct prog *p = &h->comp->prog;

	CHECK(erltrace_compile(h, "BEGIN { trace(erlget(\"a\", erlmsg)); }", NULL, &err) == 0);
	CHECK(p->npats == 1 && p->nterms == 1, "%u %u", p->npats, p->nterms);
	CHECK(erltrace_compile(h, "BEGIN { trace(erlget(\"b\", erlret)); trace(nothing); }", NULL,
		      &err) < 0);
	CHECK(p->npats == 1 && p->nterms == 1, "%u %u", p->npats, p->nterms);
	/* the same text is one pattern, the same source has one slot; not with other fields */
	CHECK(erltrace_compile(h,
		      "END { this->x = erlmsg; trace(erlget(\"a\", erlmsg)); trace(erlget(\"b\", "
		      "erlret)); } END { this->y = erlmsg; }",
		      NULL, &err) == 0);
	CHECK(p->npats == 2 && p->nterms == 4, "%u %u", p->npats, p->nterms);
	CHECK(erltrace_set_record(h, "r", (const char *const[]){"x", "y", NULL}, &err) == 0);
	CHECK(erltrace_compile(h, "END { trace(erlfield(\"r.y\", erlmsg)); }", NULL, &err) == 0);
	CHECK(erltrace_set_record(h, "r", (const char *const[]){"y", NULL}, &err) == 0);
	CHECK(erltrace_compile(h, "END { trace(erlfield(\"r.y\", erlmsg)); }", NULL, &err) == 0);
	CHECK(p->npats == 4 && p->pats[2].nodes->n == 3 && p->pats[3].nodes->n == 2);
	erltrace_close(h);
}

/* A handle of another event, or of none, is harmless; a provider may have texts alone. */
static void others(void)
{
	memset(args, 0, sizeof(args));
	args[0] = NEW_BIN("tea");
	run_in("this term_t x; BEGIN { printf(\"%s %d\", erltype(this->x), this->x == 5); }", "on");
	CHECK(strcmp(out, "none 0") == 0, "%s", out);
	me.ops = &texts_only;
	PRINT("%d%d %d",
		"erlarg(0) == \"<<\\\"tea\\\">>\", erlarg(0) == \"tea\", erlarg(1) == \"\"",
		"10 1");
	PRINT("%s %s", "erlarg(0), erltype(erlarg(0))", "<<\"tea\">> none");
	me.ops = &ops;
}

int main(void)
{
	numbers();
	texts();
	parts();
	patterns();
	others();
	places();
	memory();
	undone();
	return finish();
}
