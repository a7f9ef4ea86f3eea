/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the front of the compiler: lexer, parser, declarations, types, pragmas, preprocessor.
 * Trees are compared as text: (op a b), "self:x", "@name[keys]".
 * The last line is "N passed, N failed".
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../c_src/d/d.h"

static unsigned passed, failed;
static struct et_options opts;

static bool ok(bool cond, const char *what, const char *got)
{
	if (cond) {
		passed++;
	} else {
		failed++;
		printf("FAIL %s\n     got: %s\n", what, got != NULL ? got : "");
	}
	return cond;
}

/* ---- a compiler without checker and code generator ------------------------------------ */

static struct d_comp *comp_new(void)
{
	struct d_comp *c = calloc(1, sizeof(*c));

	et_options_init(&opts);
	c->arena = arena_new();
	c->opts = &opts;
	c->file = "";
	c->globals = d_idtab_new(c);
	if (d_types_init(c) != 0)
		abort();
	return c;
}

static void comp_free(struct d_comp *c)
{
	arena_free(c->arena);
	free(c);
	et_options_free(&opts);
}

static void source(struct d_comp *c, const char *text, size_t len)
{
	c->lex = NULL;
	c->source = text;
	c->source_len = len;
	et_err_clear(&c->error);
}

/* ---- trees as text -------------------------------------------------------------------- */

static char out[1 << 16];
static size_t outlen;

static void put(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (outlen < sizeof(out) - 1)
		outlen += (size_t)vsnprintf(out + outlen, sizeof(out) - outlen, fmt, ap);
	va_end(ap);
}

static const char *const opnames[] = {"", "!", "~", "+", "-", "*", "&", "++x", "--x", "x++", "x--",
	"*", "/", "%", "+", "-", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&",
	"^^", "||", ",", "[]", "=",
	"*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ".", "->"};
static const char *const scopes[] = {"", "self:", "this:", "sym:"};

static void show(const struct d_node *n);

static void show_list(const struct d_node *n, const char *sep)
{
	for (; n != NULL; n = n->next) {
		show(n);
		if (n->next != NULL)
			put("%s", sep);
	}
}

static void show_type(const struct d_type *t)
{
	char buf[256];

	put("<%s>", d_type_name(t, buf, sizeof(buf)));
}

static void show(const struct d_node *n)
{
	switch (n->kind) {
	case N_INT:
		put("%lld", (long long)n->value);
		if (n->type->size == 8 || !n->type->is_signed)
			put("%s%s", n->type->is_signed ? "" : "u", n->type->size == 8 ? "l" : "");
		break;
	case N_STR: put("\"%.*s\"", (int)n->len, n->text); break;
	case N_IDENT: put("%s%s", scopes[n->op], n->text); break;
	case N_ASSOC:
	case N_AGG:
		put("%s%s", n->kind == N_AGG ? "@" : scopes[n->op], n->text);
		if (n->list != NULL) {
			put("[");
			show_list(n->list, ",");
			put("]");
		}
		break;
	case N_FUNC:
		put("%s(", n->text);
		show_list(n->list, ",");
		put(")");
		break;
	case N_OP1:
	case N_OP2:
		put("(%s ", opnames[n->op]);
		show(n->a);
		if (n->kind == N_OP2) {
			put(" ");
			show(n->b);
		}
		put(")");
		break;
	case N_OP3:
		put("(? ");
		show(n->a);
		put(" ");
		show(n->b);
		put(" ");
		show(n->c);
		put(")");
		break;
	case N_MEMBER:
		put("(%s ", opnames[n->op]);
		show(n->a);
		put(" %s)", n->text);
		break;
	case N_CAST:
	case N_SIZEOF:
	case N_OFFSETOF:
	case N_STRINGOF:
	case N_XLATE:
		put("(%s", n->kind == N_CAST	   ? "cast"
			   : n->kind == N_SIZEOF   ? "sizeof"
			   : n->kind == N_OFFSETOF ? "offsetof"
			   : n->kind == N_XLATE	   ? "xlate"
						   : "stringof");
		if (n->type != NULL)
			show_type(n->type);
		if (n->text != NULL)
			put(" %s", n->text);
		if (n->a != NULL) {
			put(" ");
			show(n->a);
		}
		put(")");
		break;
	case N_EXPR:
		show(n->a);
		put(";");
		break;
	case N_IF:
		put("if ");
		show(n->a);
		put(" {");
		show_list(n->list, " ");
		put("}");
		if (n->b != NULL) {
			put(" else {");
			show_list(n->b->list, " ");
			put("}");
		}
		break;
	default: put("?"); break;
	}
}

static void show_desc(const struct d_pdesc *d)
{
	if (d->id != 0)
		put("#%u", d->id);
	else
		put("%s:%s:%s:%s", d->prov, d->mod, d->func, d->name);
}

static void show_params(const struct d_member *m)
{
	for (; m != NULL; m = m->next) {
		show_type(m->type);
		put("%s%s", m->name != NULL ? m->name : "", m->next != NULL ? "," : "");
	}
}

static void show_ident(const struct d_ident *id)
{
	put("%s%s", scopes[id->scope], id->name);
	if (id->keys != NULL) {
		put("[");
		for (unsigned i = 0; i < id->nkeys; i++) {
			show_type(id->keys[i]);
			put("%s%s", id->params != NULL ? id->params[i]->name : "",
				i + 1 < id->nkeys ? "," : "");
		}
		put("]");
	}
	show_type(id->type);
}

static void show_item(const struct d_item *it)
{
	switch (it->kind) {
	case IT_CLAUSE:
		for (const struct d_pdesc *d = it->clause->descs; d != NULL; d = d->next) {
			show_desc(d);
			put("%s", d->next != NULL ? "," : "");
		}
		if (it->clause->pred != NULL) {
			put("/");
			show(it->clause->pred);
			put("/");
		}
		if (it->clause->has_body) {
			put("{");
			show_list(it->clause->stmts, " ");
			put("}");
		}
		break;
	case IT_VAR:
		put("var ");
		show_ident(it->ident);
		break;
	case IT_INLINE:
		put("inline ");
		show_ident(it->ident);
		put("=");
		show(it->ident->expr);
		break;
	case IT_XLATOR:
		put("xlator ");
		show_type(it->xlator->out);
		show_type(it->xlator->in);
		put("%s{", it->xlator->param->name);
		for (const struct d_node *n = it->xlator->members; n != NULL; n = n->next) {
			put("%s=", n->text);
			show(n->a);
			put(";");
		}
		put("}");
		break;
	case IT_PROVIDER:
		put("provider %s{", it->provider->name);
		for (const struct d_probedecl *p = it->provider->probes; p != NULL; p = p->next) {
			put("%s(", p->name);
			show_params(p->args);
			put("):(");
			show_params(p->xargs);
			put(");");
		}
		put("}");
		break;
	case IT_TYPE: put("type"); break;
	case IT_END: break;
	}
}

/* All items of a text, one a space, or "D_TAG line:col text". */
static const char *parse_in(struct d_comp *c, const char *text, size_t len)
{
	struct d_item it;
	struct d_ident *id;

	outlen = 0;
	out[0] = '\0';
	source(c, text, len);
	for (;;) {
		if (d_parse_item(c, &it) != 0) {
			outlen = 0;
			put("%s %d:%d %s", c->error.tag, c->error.line, c->error.col,
				c->error.text);
			break;
		}
		if (it.kind == IT_END)
			break;
		if (outlen > 0)
			put(" | ");
		show_item(&it);
		/* What the checker would do: declared names are known from now on. */
		if ((it.kind == IT_VAR && it.ident->scope == SC_GLOBAL) || it.kind == IT_INLINE) {
			id = d_ident_add(c, c->globals, it.ident->name, it.ident->kind);
			id->expr = it.ident->expr;
			id->nkeys = it.ident->nkeys;
			id->type = it.ident->type;
			id->file = it.ident->file;
		}
	}
	return out;
}

static const char *parse(const char *text)
{
	struct d_comp *c = comp_new();
	static const char *const argv[] = {"script", "42", "-7", "foo", "0x10", "a b", "int", NULL};
	const char *s;

	c->argc = 7;
	c->argv = argv;
	c->target = 1234;
	s = parse_in(c, text, strlen(text));
	comp_free(c);
	return s;
}

static void expect(const char *text, const char *want)
{
	const char *got = parse(text);

	ok(strcmp(got, want) == 0, text, got);
}

/* A tag, and a piece of the text that helps. */
static void expect_error(const char *text, const char *tag, const char *piece)
{
	const char *got = parse(text);
	size_t n = strlen(tag);

	ok(strncmp(got, tag, n) == 0 && got[n] == ' ' && strstr(got, piece) != NULL, text, got);
}

static void expr(const char *text, const char *want)
{
	char src[512], all[512];

	snprintf(src, sizeof(src), "BEGIN { %s }", text);
	snprintf(all, sizeof(all), ":::BEGIN{%s;}", want);
	expect(src, all);
}

/* ---- tests ---------------------------------------------------------------------------- */

static void test_constants(void)
{
	expr("0", "0");
	expr("2147483647", "2147483647");
	expr("2147483648", "2147483648l");
	expr("0x80000000", "2147483648u");
	expr("0xffffffffffffffff", "-1ul");
	expr("017", "15");
	expr("1u + 1l + 1ull + 1LL", "(+ (+ (+ 1u 1l) 1ul) 1l)");
	expr("9223372036854775807", "9223372036854775807l");
	expr("18446744073709551615u", "-1ul");
	expr("'a'", "97");
	expr("'ab'", "24930");
	expr("'\\n' + '\\'' + '\\\\' + '\\x41' + '\\101'", "(+ (+ (+ (+ 10 39) 92) 65) 65)");
	expr("'abcdefgh'", "7017280452245743464l");
	expr("'\\377bcdefgh'", "-44363763471194264ul");
	expr("\"a\\tb\\x41C\\101\\q\\\"\"", "\"a\tbACA\\q\"\"");
	expr("\"a\\\nb\"", "\"ab\"");
	expr("\"\xff\xfe\"", "\"\xff\xfe\"");
	expect_error("BEGIN { 08; }", "D_INT_DIGIT", "08");
	expect_error("BEGIN { 0x; }", "D_INT_DIGIT", "0x");
	expect_error("BEGIN { 12ab; }", "D_INT_DIGIT", "12ab");
	expect_error("BEGIN { 1lu; }", "D_INT_DIGIT", "1lu");
	expect_error("BEGIN { 18446744073709551616u; }", "D_INT_OFLOW", "too large");
	expect_error("BEGIN { 9223372036854775808; }", "D_INT_OFLOW", "signed");
	expect_error("BEGIN { x = 1.5; }", "D_SYNTAX", "floating-point");
	expect_error("BEGIN { x = 1e9; }", "D_SYNTAX", "floating-point");
	expect_error("BEGIN { x = .5; }", "D_SYNTAX", "floating-point");
	expect_error("BEGIN { ''; }", "D_CHR_NULL", "empty");
	expect_error("BEGIN { 'abcdefghi'; }", "D_CHR_OFLOW", "8 bytes");
	expect_error("BEGIN { 'a\n'; }", "D_CHR_NL", "newline");
	expect_error("BEGIN { \"a\n\"; }", "D_STR_NL", "newline");
	expect_error("BEGIN { \"a", "D_STR_NL", "missing");
}

static void test_operators(void)
{
	expr("a, b = c ? d : e || f ^^ g && h | i ^ j & k == l < m << n + o * -p",
		"(, a (= b (? c d (|| e (^^ f (&& g (| h (^ i (& j (== k (< l (<< m (+ n (* o (- "
		"p)))))))))))))))");
	expr("a - b - c", "(- (- a b) c)");
	expr("a = b += c", "(= a (+= b c))");
	expr("a ? b : c ? d : e", "(? a b (? c d e))");
	expr("a ^^ b ^^ c || d && e && f", "(|| (^^ (^^ a b) c) (&& (&& d e) f))");
	expr("a == b != c", "(!= (== a b) c)");
	expr("a <= b >= c > d", "(> (>= (<= a b) c) d)");
	expr("a / b % c / d", "(/ (% (/ a b) c) d)");
	expr("a *= 1, b /= 2, c %= 3, d -= 4, e <<= 5, f >>= 6, g &= 7, h ^= 8, i |= 9",
		"(, (, (, (, (, (, (, (, (*= a 1) (/= b 2)) (%= c 3)) (-= d 4)) (<<= e 5)) (>>= f "
		"6)) "
		"(&= g 7)) (^= h 8)) (|= i 9))");
	expr("-a++ + ++b--", "(+ (- (x++ a)) (++x (x-- b)))");
	expr("!~-+*&a", "(! (~ (- (+ (* (& a))))))");
	expr("(a + b) * c", "(* (+ a b) c)");
	expr("(int)a + (char *)b", "(+ (cast<int> a) (cast<char *> b))");
	expr("(int)(a)", "(cast<int> a)");
	expr("(struct foo *)arg0", "(cast<struct foo *> arg0)");
	expr("((struct foo *)arg0)->a.b[3]", "([] (. (-> (cast<struct foo *> arg0) a) b) 3)");
	expr("sizeof (int) + sizeof a + sizeof (a)->b",
		"(+ (+ (sizeof<int>) (sizeof a)) (sizeof (-> a "
		"b)))");
	expr("sizeof (sizeof (int))", "(sizeof (sizeof<int>))");
	expr("stringof (a) + stringof a->b", "(+ (stringof a) (stringof (-> a b)))");
	expr("offsetof(struct foo, b)", "(offsetof<struct foo> b)");
	expr("xlate <struct foo *>(a)->b", "(-> (xlate<struct foo *> a) b)");
	expr("f(), g(a, b + 1)", "(, f() g(a,(+ b 1)))");
	expr("self->x = this->y", "(= self:x this:y)");
	expr("self->a[1, \"k\"] = 1", "(= self:a[1,\"k\"] 1)");
	expr("x[a, b]++", "(x++ x[a,b])");
	expr("a->string, a.self", "(, (-> a string) (. a self))");
	expr("genunix`x + `y", "(+ sym:genunix`x sym:`y)");
	expr("@ = count()", "(= @_ count())");
	expr("@a[b, c] = sum(d)", "(= @a[b,c] sum(d))");
	expr("(@a)", "@a");
	expr("args[0]->x", "(-> args[0] x)");
	expr("a[0][1]", "([] a[0] 1)");
	expr("stack(5)", "stack(5)");
	expect("BEGIN{;;a;b;;c}", ":::BEGIN{a; b; c;}");
	expect("BEGIN{}", ":::BEGIN{}");
	expect("BEGIN{if(a){b;}else if(c)d;else{e;f}}",
		":::BEGIN{if a {b;} else {if c {d;} else {e; f;}}}");
	expect("BEGIN{if(a);b}", ":::BEGIN{if a {} b;}");
	expect("BEGIN { a /* c */ / /* d */ b; }", ":::BEGIN{(/ a b);}");
	expect_error("BEGIN { a->f(1); }", "D_FUNC_IDENT", "name");
	expect_error("BEGIN { a[]; }", "D_SYNTAX", "key");
	expect_error("BEGIN { a[1; }", "D_SYNTAX", "']'");
	expect_error("BEGIN { f(1; }", "D_SYNTAX", "')'");
	expect_error("BEGIN { a b; }", "D_SYNTAX", "expected ';'");
	expect_error("BEGIN { for (;;) ; }", "D_SYNTAX", "no loops");
	expect_error("BEGIN { while (1) ; }", "D_SYNTAX", "no loops");
	expect_error("BEGIN { x = switch; }", "D_SYNTAX", "no switch");
	expect_error("BEGIN { int x; }", "D_SYNTAX", "outside of clauses");
	expect_error("BEGIN { self x; }", "D_SYNTAX", "self->");
	expect_error("BEGIN { x = 1; // no\n }", "D_SYNTAX", "only /* ... */");
	expect_error("BEGIN\n{\n x = 1;\n", "D_SYNTAX", "starts at line 1");
	expect_error("BEGIN { x = 1; syscall:::entry { }", "D_SYNTAX", "'}' missing");
	expect_error("BEGIN { else x; }", "D_SYNTAX", "no if");
	expect_error("BEGIN { @a b }", "D_SYNTAX", "expected ';'");
}

static void test_chars(void)
{
	struct d_comp *c = comp_new();
	const char *got;

	got = parse_in(c, "BEGIN { a = \0; }", 16);
	ok(strstr(got, "D_SYNTAX 1:13 invalid character \\x00") == got, "NUL in the source", got);
	got = parse_in(c, "BEGIN\n{ \x80 }", 11);
	ok(strstr(got, "D_SYNTAX 2:3 invalid character \\x80") == got, "bad UTF-8", got);
	got = parse_in(c, "\x01", 1);
	ok(strstr(got, "D_SYNTAX 1:1 invalid character \\x01") == got, "binary", got);
	got = parse_in(c, "BEGIN /* \xff \0 */ { \"\xff\0x\" }", 25);
	ok(strncmp(got, ":::BEGIN{", 9) == 0, "any bytes in comments and strings", got);
	comp_free(c);
	expect_error("BEGIN { x = \xe2\x80\x9cno\xe2\x80\x9d; }", "D_SYNTAX", "plain quotes");
	expect_error("BEGIN { x # y }", "D_SYNTAX", "invalid character '#'");
	expect_error("BEGIN /* a /* b */ */ {}", "D_SYNTAX", "do not nest");
	expect_error("BEGIN { /* a ", "D_SYNTAX", "no end");
	expect_error("}", "D_SYNTAX", "nothing is open");
	expect_error("(x)", "D_SYNTAX", "probe description or a declaration");
	expect("BEGIN { a \\\n = 1 }\r\n", ":::BEGIN{(= a 1);}");
}

static void test_probes(void)
{
	expect("syscall::read:entry{}", "syscall::read:entry{}");
	expect("read:entry{}", "::read:entry{}");
	expect(":::{}", ":::{}");
	expect("syscall:::{}", "syscall:::{}");
	expect("12{}", "#12{}");
	expect("$1{}", "#42{}");
	expect("pid$target::m*c?[a-z]\\*:entry{}", "pid1234::m*c?[a-z]\\*:entry{}");
	expect("syscall::$3:entry,\n syscall::$$3*:return {}",
		"syscall::foo:entry,syscall::foo*:return{}");
	expect("BEGIN/x/{}", ":::BEGIN/x/{}");
	expect("BEGIN\n/x / y/\n{}", ":::BEGIN/(/ x y)/{}");
	expect("BEGIN/x/ /* c */ {}", ":::BEGIN/x/{}");
	expect("BEGIN/x / /* { */ y/{}", ":::BEGIN/(/ x y)/{}");
	expect("BEGIN/*c*/{}", ":::BEGIN{}");
	expect("syscall::read:entry/execname == \"a\"/{x}",
		"syscall::read:entry/(== execname \"a\")/{x;}");
	expect("erlang*:lists:seq/2:function-entry{}", "erlang*:lists:seq/2:function-entry{}");
	expect("erlang*:lists:seq/[23]:function-entry/arg0/{}",
		"erlang*:lists:seq/[23]:function-entry/arg0/{}");
	expect("erlang*:lists:seq/*:function-entry{}", "erlang*:lists:seq/*:function-entry{}");
	expect("a:b/*: a comment */{}", "::a:b{}");
	expect("a:b/*:comment*/{}", "::a:b{}");
	expect("BEGIN/1?2:3/{}", ":::BEGIN/(? 1 2 3)/{}");
	expect("e:'my mod':'f*:/'/2:function-entry{}", "e:my mod:f\\*:\\//2:function-entry{}");
	expect("'it\\'s':x{}", "::it's:x{}");
	expect("int:::entry{}", "int:::entry{}");
	expect("provider:::x{} self:::y{} this-x{}", "provider:::x{} | self:::y{} | :::this-x{}");
	expect("profile:::tick-1s, tick-5s{}", "profile:::tick-1s,:::tick-5s{}");
	expect_error("a:b:c:d:e{}", "D_PDESC_INVAL", "four parts");
	expect_error("0{}", "D_PDESC_INVAL", "number 0");
	expect_error("99999999999{}", "D_PDESC_INVAL", "number");
	expect_error("a:'b{}", "D_PDESC_INVAL", "closing");
	expect_error("a:'':b{}", "D_PDESC_INVAL", "empty");
	expect_error("pid$nope:::{}", "D_MACRO_UNDEF", "$nope");
	expect_error("BEGIN", "D_SYNTAX", "actions");
	expect_error("BEGIN /x/", "D_SYNTAX", "'{'");
	expect_error("BEGIN /x/ ;", "D_SYNTAX", "'{'");
	expect_error("BEGIN /x {}", "D_SYNTAX", "end of the predicate");
	expect_error("BEGIN, {}", "D_SYNTAX", "expected a probe description");
	expect_error("BEGIN // c\n{}", "D_SYNTAX", "only /*");
	expect_error("// c\nBEGIN {}", "D_SYNTAX", "only /*");
	expect_error("foo_t x;", "D_SYNTAX", "not declared");
	expect_error("x = 1;", "D_SYNTAX", "clause");
}

static void test_default_action(void)
{
	struct d_comp *c = comp_new();
	struct d_pdesc *d = NULL;
	const char *got;

	c->probe_ok = true;
	got = parse_in(c, "syscall:::entry, BEGIN END {x}", 30);
	ok(strcmp(got, "syscall:::entry,:::BEGIN | :::END{x;}") == 0, "no body with probe_ok", got);
	got = parse_in(c, "BEGIN /x/", 9);
	ok(strncmp(got, "D_SYNTAX", 8) == 0, "a predicate needs a body", got);
	et_err_clear(&c->error);
	outlen = 0;
	ok(d_parse_pdesc(c, "lists:seq/2", &d) == 0 && strcmp(d->name, "seq/2") == 0 &&
			strcmp(d->func, "lists") == 0,
		"d_parse_pdesc", c->error.text);
	ok(d_parse_pdesc(c, "a b", &d) == -1 && strcmp(c->error.tag, "D_PDESC_INVAL") == 0,
		"d_parse_pdesc: bad character", c->error.text);
	comp_free(c);
}

static void test_macros(void)
{
	expr("$1 + $2 + $3 + $4", "(+ (+ (+ 42 -7) foo) 16)");
	expr("$$1, $$5", "(, \"42\" \"a b\")");
	expr("($6)x", "(cast<int> x)");
	expr("$target", "1234");
	expr("$$target", "\"1234\"");
	expect_error("BEGIN { $7; }", "D_MACRO_UNDEF", "6 arguments");
	expect_error("BEGIN { $nope; }", "D_MACRO_UNDEF", "$nope");
	expect_error("BEGIN { $5; }", "D_SYNTAX", "$$5");
	expect_error("BEGIN { $99999; }", "D_MACRO_OFLOW", "$99999");
	expect_error("BEGIN { $; }", "D_SYNTAX", "behind '$'");
	expect("#pragma D option defaultargs\nBEGIN { $7, $$7 }", ":::BEGIN{(, 0 \"\");}");
	{
		struct d_comp *c = comp_new();
		static const char *const argv[] = {"s", "-9223372036854775808",
			"99999999999999999999999", "18446744073709551615"};
		const char *got;

		c->argc = 4;
		c->argv = argv;
		got = parse_in(c, "BEGIN { $1, $3 }", 16);
		ok(strcmp(got, ":::BEGIN{(, -9223372036854775808l -1ul);}") == 0, "smallest $1",
			got);
		ok(c->argused[1] && !c->argused[2] && c->argused[3], "argused", NULL);
		got = parse_in(c, "BEGIN { $2 }", 12);
		ok(strncmp(got, "D_MACRO_OFLOW", 13) == 0, "D_MACRO_OFLOW", got);
		comp_free(c);
	}
}

static void test_decls(void)
{
	expect("int x;", "var x<int>");
	expect("int x, *y, z[3];", "var x<int> | var y<int *> | var z<int [3]>");
	expect("self int x; this string s;", "var self:x<int> | var this:s<string>");
	expect("int a[int, string];", "var a[<int>,<string>]<int>");
	expect("self string a[int];", "var self:a[<int>]<string>");
	expect("int a[10][20];", "var a<int [10][20]>");
	expect("int *a[10]; int (*b)[10];", "var a<int *[10]> | var b<int (*)[10]>");
	expect("int (*f)(char, ...);", "var f<int (*)(char, ...)>");
	expect("int (*(*f)(void))[3];", "var f<int (*(*)(void))[3]>");
	expect("char *(*f[2])(const char *, int (*)(int));",
		"var f<char *(*[2])(const char *, int (*)(int))>");
	expect("const volatile int *const *x;", "var x<const volatile int *const *>");
	expect("unsigned long long int a; long b; short unsigned c; signed char d; _Bool e;",
		"var a<unsigned long long> | var b<long> | var c<unsigned short> | var d<signed "
		"char> "
		"| var e<_Bool>");
	expect("long double a; unsigned b; long unsigned c;",
		"var a<long double> | var b<unsigned int> | var c<unsigned long>");
	expect("typedef int foo_t; foo_t x; foo_t *y;", "type | var x<foo_t> | var y<foo_t *>");
	expect("struct s { int a; }; struct s x; struct s y[sizeof (struct s)];",
		"type | var x<struct s> | var y<struct s [4]>");
	expect("enum e { A, B = 5, C }; int x[C]; enum e y;",
		"type | var x<int [6]> | var y<enum e>");
	expect("inline int N = 3 * 2; int x[N + 1];", "inline N<int>=(* 3 2) | var x<int [7]>");
	expect("inline int f[int a, string b] = a + 1;", "inline f[<int>a,<string>b]<int>=(+ a 1)");
	expect("inline string s = \"x\";", "inline s<string>=\"x\"");
	expect("struct p { int a; }; typedef struct { int x; string y; } i_t;"
	       "translator i_t < struct p *P > { x = P->a; y = \"z\"; };",
		"type | type | xlator <i_t><struct p *>P{x=(-> P a);y=\"z\";}");
	expect("provider p { probe a__b(int x, char *y) : (char *y); probe c(void); probe d(); };",
		"provider p{a-b(<int>x,<char *>y):(<char *>y);c():();d():();}");
	expect("int f(int, char *); extern int g(void); extern int x; extern int x;",
		"type | type | var x<int> | type");
	expect("mod`int32_t x;", "var x<int32_t>");
	expect("struct a; struct a *p; struct a { struct a *next; }; struct a x;",
		"type | var p<struct a *> | type | var x<struct a>");
	expect("typedef unsigned long size_t; size_t x;", "type | var x<size_t>");
	expect("self stack s;", "var self:s<stack>");
	expect("int a[int][4];", "var a[<int>]<int [4]>");
	expect("static inline int f(int x) { if (x) { return 1; } return 2; } int y;",
		"type | var y<int>");
	expect("inline int A = 1; enum e { B = 1, A };", "D_DECL_IDRED 1:35 A is already declared");
	expect("inline int A = 2; enum e { B = 1, A };", "inline A<int>=2 | type");
	expect("extern inline int f(int x); int y;", "type | var y<int>");
}

static void test_decl_errors(void)
{
	expect_error("long char x;", "D_DECL_CHARATTR", "char");
	expect_error("unsigned void x;", "D_DECL_VOIDATTR", "void");
	expect_error("signed float x;", "D_DECL_SIGNINT", "integer");
	expect_error("unsigned struct s x;", "D_DECL_SIGNINT", "integer");
	expect_error("long float x;", "D_DECL_LONGINT", "long");
	expect_error("short double x;", "D_DECL_LONGINT", "short");
	expect_error("long long long x;", "D_DECL_COMBO", "long");
	expect_error("int char x;", "D_DECL_COMBO", "two types");
	expect_error("signed unsigned x;", "D_DECL_COMBO", "signed");
	expect_error("self nope_t x;", "D_DECL_IDENT", "nope_t");
	expect_error("struct s { nope_t x; };", "D_DECL_IDENT", "nope_t");
	expect_error("self this int x;", "D_DECL_CLASS", "two storage classes");
	expect_error("static int x;", "D_DECL_BADCLASS", "static");
	expect_error("register int x;", "D_DECL_BADCLASS", "register");
	expect_error("auto int x;", "D_DECL_BADCLASS", "auto");
	expect_error("struct s { static int x; };", "D_DECL_BADCLASS", "member");
	expect_error("int f(register int x);", "D_DECL_PARMCLASS", "parameter");
	expect_error("int x[-1];", "D_DECL_ARRSUB", "positive");
	expect_error("int x[nope];", "D_DECL_ARRSUB", "types");
	expect_error("int x[0];", "D_DECL_ARRNULL", "no elements");
	expect_error("int x[];", "D_DECL_ARRNULL", "size");
	expect_error("int x[2][];", "D_DECL_ARRNULL", "first dimension");
	expect_error("int x[0x7fffffffffffffff];", "D_DECL_ARRBIG", "2 GiB");
	expect_error("enum a { X }; enum b { X };", "D_DECL_IDRED", "X");
	expect_error("int x; typedef int x;", "D_DECL_IDRED", "x");
	expect_error("typedef int t; typedef char t;", "D_DECL_TYPERED", "t");
	expect_error("struct s { int a; }; struct s { int a; };", "D_DECL_TYPERED", "struct s");
	expect_error("struct s { int a; }; union s x;", "D_DECL_TYPERED", "s");
	expect_error("struct s { int a; char a; };", "D_DECL_MNAME", "a");
	expect_error("struct s { int a; union { int b; int a; }; };", "D_DECL_MNAME", "a");
	expect_error("int mod`x;", "D_DECL_SCOPE", "mod`x");
	expect_error("struct s { int a : x; };", "D_DECL_BFCONST", "constant");
	expect_error("struct s { int a : 0; };", "D_DECL_BFCONST", "positive");
	expect_error("struct s { int a : 33; };", "D_DECL_BFSIZE", "wider");
	expect_error("struct s { float a : 3; };", "D_DECL_BFTYPE", "integer");
	expect_error("enum e { A = x };", "D_DECL_ENCONST", "constant");
	expect_error("enum e { A = 0x7fffffff, B };", "D_DECL_ENOFLOW", "B");
	expect_error("int;", "D_DECL_USELESS", "no name");
	expect_error("struct s { int; };", "D_DECL_USELESS", "no name");
	expect_error("this int a[int];", "D_DECL_LOCASSC", "this->a");
	expect_error("void x;", "D_DECL_VOIDOBJ", "x");
	expect_error("struct s { void x; };", "D_DECL_VOIDOBJ", "x");
	expect_error("struct nope x;", "D_DECL_INCOMPLETE", "struct nope");
	expect_error("struct s { struct s x; };", "D_DECL_INCOMPLETE", "x");
	expect_error("int a[int, ...];", "D_DECL_PROTO_VARARGS", "...");
	expect_error("provider p { probe a(int, ...); };", "D_DECL_PROTO_VARARGS", "probe");
	expect_error("int a[void];", "D_DECL_PROTO_VOID", "key");
	expect_error("int f(int, void);", "D_DECL_PROTO_VOID", "only");
	expect_error("int f(int a[int]);", "D_DECL_PROTO_TYPE", "parameter");
	expect_error("inline int f[int] = 1;", "D_DECL_PROTO_FORM", "name");
	expect_error("provider p { probe a(int x) : (int); };", "D_DECL_PROTO_FORM", "name");
	expect_error("provider p { probe a(int x) : (int y); };", "D_DECL_PROTO_NAME", "y");
	expect_error("int f(int x) { return x; }", "D_SYNTAX", "no functions");
	expect_error("static inline int x;", "D_DECL_BADCLASS", "static");
	expect_error("static inline int f(void) { {", "D_SYNTAX", "end of the function");
	expect_error("int x = 1;", "D_SYNTAX", "initialiser");
	expect_error("int x", "D_SYNTAX", "';'");
	expect_error("int for;", "D_SYNTAX", "reserved");
	expect_error("BEGIN { sizeof (struct); }", "D_SYNTAX", "tag");
	expect_error("BEGIN { offsetof(nope_t, x); }", "D_TYPE_ERR", "nope_t");
	expect_error("translator nope_t < int x > { };", "D_TYPE_ERR", "nope_t");
}

static void test_pragmas(void)
{
	struct d_comp *c = comp_new();
	const char *got;

	got = parse_in(
		c, "#!/usr/bin/x -s\n#pragma D option quiet\n  #pragma D option bufsize=8m\n", 69);
	ok(got[0] == '\0' && opts.val[OPT_QUIET] == 1 && opts.val[OPT_BUFSIZE] == 8 << 20,
		"#pragma D option", got);
	comp_free(c);
	expect("#pragma foo bar\n#ident \"x\"\n#\nBEGIN{}", ":::BEGIN{}");
	expect("inline int x = 1;\n#pragma D attributes Stable/Stable/Common x\nBEGIN{}",
		"inline x<int>=1 | :::BEGIN{}");
	expect("#pragma D attributes Evolving/Evolving/ISA provider p args\n"
	       "#pragma D binding \"1.0\" x\nint x;",
		"var x<int>");
	expect("BEGIN {\n#pragma D option quiet\n x; }", ":::BEGIN{x;}");
	expect_error("#pragma D option nope", "D_PRAGMA_OPTSET", "nope");
	expect_error("#pragma D option bufsize=x", "D_PRAGMA_OPTSET", "bufsize");
	expect_error("#pragma D option a b", "D_PRAGMA_MALFORM", "option");
	expect_error("#pragma D", "D_PRAGMA_MALFORM", "pragma D");
	expect_error("#pragma D attributes Foo/Stable/Common x", "D_PRAGMA_MALFORM", "attributes");
	expect_error("#pragma D binding 1.0 x", "D_PRAGMA_MALFORM", "binding");
	expect_error("#pragma D depends_on module", "D_PRAGMA_MALFORM", "depends_on");
	expect_error("#pragma D depends_on thing x", "D_PRAGMA_INVAL", "thing");
	expect_error("#pragma D nope x", "D_PRAGMA_INVAL", "nope");
	expect_error("#nope", "D_PRAGCTL_INVAL", "#nope");
	expect_error("#include <x.h>", "D_PRAGCTL_INVAL", "-C");
	expect_error("#error all is lost", "D_PRAGERR", "all is lost");
	expect_error("#line x", "D_PRAGMA_MALFORM", "line");
	expect_error("#pragma D binding \"1.0\" never\nBEGIN{}", "D_PRAGMA_UNUSED", "never");
	c = comp_new();
	d_ident_add(c, c->globals, "pid", ID_BUILTIN)->file = "elsewhere";
	got = parse_in(c, "#pragma D binding \"1.0\" pid\n", 28);
	ok(strncmp(got, "D_PRAGMA_SCOPE", 14) == 0, "D_PRAGMA_SCOPE", got);
	{
		static const char lib[] = "#pragma D depends_on library a.d\nint x;\n"
					  " #pragma D depends_on provider p\n";
		struct d_depend *d = NULL, here = {D_DEP_LIBRARY, "a.d", NULL};

		et_err_clear(&c->error);
		ok(d_depends(c, lib, strlen(lib), &d) == 0 && d != NULL &&
				d->kind == D_DEP_LIBRARY && strcmp(d->name, "a.d") == 0 &&
				d->next != NULL && d->next->kind == D_DEP_PROVIDER &&
				d->next->next == NULL,
			"d_depends", NULL);
		c->libs = &here;
		got = parse_in(c, "#pragma D depends_on library a.d\n", 33);
		ok(got[0] == '\0', "depends_on library there", got);
		got = parse_in(c, "#pragma D depends_on library b.d\n", 33);
		ok(strncmp(got, "D_PRAGMA_DEPEND", 15) == 0, "D_PRAGMA_DEPEND", got);
	}
	comp_free(c);
}

/* Places: lines of the text, of #line, and the source line for the caret. */
static void test_places(void)
{
	struct d_comp *c = comp_new();
	static const char a[] = "BEGIN\n{\n\tx = = 1;\n}\n";
	static const char b[] = "int x;\n# 100 \"inc.h\" 1\nint y;\nint z z;\n";

	parse_in(c, a, strlen(a));
	ok(c->error.line == 3 && c->error.col == 6 && strcmp(c->error.src, "\tx = = 1;") == 0,
		"line, column and text", c->error.src);
	parse_in(c, b, strlen(b));
	ok(strcmp(c->error.file, "inc.h") == 0 && c->error.line == 101 && c->error.col == 7 &&
			strcmp(c->error.src, "int z z;") == 0,
		"#line", c->error.src);
	c->file = "my.d";
	parse_in(c, "BEGIN { \x1b[31m }", 15);
	ok(strcmp(c->error.file, "my.d") == 0 && strcmp(c->error.src, "BEGIN { ?[31m }") == 0,
		"no escapes in messages", c->error.src);
	comp_free(c);
}

struct layout_c {
	char a;
	int b : 3;
	unsigned c : 30;
	long d : 40;
	short e;
	int : 0;
	char f : 2;
	union {
		int g;
		char h[6];
	};
	struct {
		char i;
		double j;
	} k[2];
	_Bool l : 1;
	long double m;
	char *n;
};

static void test_layout(void)
{
	static const char text[] =
		"struct s { char a; int b : 3; unsigned c : 30; long d : 40; short e; int : 0; "
		"char f : 2; union { int g; char h[6]; }; struct { char i; double j; } k[2]; "
		"_Bool l : 1; long double m; char *n; }; struct s x;";
	static const struct {
		const char *name;
		size_t off;
	} want[] = {{"a", offsetof(struct layout_c, a)}, {"e", offsetof(struct layout_c, e)},
		{"g", offsetof(struct layout_c, g)}, {"h", offsetof(struct layout_c, h)},
		{"k", offsetof(struct layout_c, k)}, {"m", offsetof(struct layout_c, m)},
		{"n", offsetof(struct layout_c, n)}};
	static const char *const bits[] = {"b", "c", "d", "f", "l"};
	struct d_comp *c = comp_new();
	const struct d_type *t;
	struct layout_c v;
	uint64_t off;

	parse_in(c, text, strlen(text));
	t = d_type_parse(c, "struct s");
	if (!ok(t != NULL && t->size == sizeof(v) && t->align == _Alignof(struct layout_c),
		    "layout", c->error.text))
		return;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		ok(d_member(t, want[i].name, &off) != NULL && off == want[i].off, want[i].name,
			"offset");
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		const struct d_member *m = d_member(t, bits[i], &off);
		uint64_t unit = 0, mask;

		memset(&v, 0, sizeof(v));
		switch (i) {
		case 0: v.b = -1; break;
		case 1: v.c = 0x3fffffff; break;
		case 2: v.d = -1; break;
		case 3: v.f = -1; break;
		case 4: v.l = 1; break;
		}
		memcpy(&unit, (char *)&v + off, d_base(m->type)->size);
		mask = (m->bit_width == 64 ? ~0ULL : (1ULL << m->bit_width) - 1) << m->bit_off;
		ok(unit == mask, bits[i], "bit-field");
	}
	comp_free(c);
}

static void name_is(struct d_comp *c, const char *text, const char *want)
{
	const struct d_type *t = d_type_parse(c, text);
	char buf[256] = "";

	if (t != NULL)
		d_type_name(t, buf, sizeof(buf));
	ok(strcmp(buf, want) == 0, text, t != NULL ? buf : c->error.text);
	et_err_clear(&c->error);
}

static void test_types(void)
{
	struct d_comp *c = comp_new();
	const struct d_type *a, *b;
	char buf[8];

	name_is(c, "int", "int");
	name_is(c, "struct foo *", "struct foo *");
	name_is(c, "int [4]", "int [4]");
	name_is(c, "int (*)(char)", "int (*)(char)");
	name_is(c, "char *[3]", "char *[3]");
	name_is(c, "char (*)[3]", "char (*)[3]");
	name_is(c, "int (*(*)(int))(void)", "int (*(*)(int))(void)");
	name_is(c, "int (char, string)", "int (char, string)");
	name_is(c, "const char *const", "const char *const");
	name_is(c, "char *const *", "char *const *");
	name_is(c, "const uint8_t [2][3]", "const uint8_t [2][3]");
	name_is(c, "unsigned", "unsigned int");
	name_is(c, "stack", "stack");
	name_is(c, "nope", "");
	name_is(c, "int x", "");
	name_is(c, "", "");
	a = d_type_parse(c, "int64_t *");
	b = d_type_parse(c, "long *");
	ok(d_same(a, b) && !d_same(a, d_type_parse(c, "int *")), "d_same", NULL);
	ok(d_is_byref(c->t.ldouble) && !d_is_byref(c->t.string), "d_is_byref", NULL);
	ok(d_is_signed(c->t.i8) && !d_is_signed(c->t.u8), "d_is_signed", NULL);
	ok(d_is_kind(d_qualified(c, c->t.i32, TQ_CONST), T_INT), "qualified", NULL);
	d_type_name(a, buf, sizeof(buf));
	ok(strcmp(buf, "int64_t") == 0, "a name cut short", buf);
	comp_free(c);
}

static void test_undo(void)
{
	struct d_comp *c = comp_new();
	const struct d_type *s, *q;
	size_t mark;
	const char *got;

	parse_in(c, "struct f; typedef struct f f_t; struct f *p;", 44);
	s = d_base(d_typedef_find(c, "f_t"));
	q = d_typedef_find(c, "f_t");
	mark = d_types_mark(c);
	parse_in(c, "struct f { int a; long b; }; typedef int g_t; struct h { int x; };", 66);
	ok(s->complete && s->size == 16 && q->size == 16, "completed", NULL);
	for (int i = 0; i < 500; i++) {
		char text[64];

		snprintf(text, sizeof(text), "typedef int t%d_t; struct s%d { int x; };", i, i);
		parse_in(c, text, strlen(text));
	}
	d_types_undo(c, mark);
	ok(!s->complete && s->size == 0 && q->size == 0 && s->members == NULL, "incomplete again",
		NULL);
	ok(d_typedef_find(c, "g_t") == NULL && d_typedef_find(c, "t499_t") == NULL &&
			d_typedef_find(c, "f_t") == q && d_typedef_find(c, "size_t") != NULL,
		"typedefs undone", NULL);
	got = parse_in(c, "struct f { char c; }; f_t x; struct h { char y; };", 50);
	ok(strcmp(got, "type | var x<f_t> | type") == 0 && s->size == 1, "and anew", got);
	/* A header that two scripts read: the same struct again is no error. */
	got = parse_in(c, "struct f { char c; }; enum e { A, B };", 38);
	ok(strcmp(got, "type | type") == 0, "the same struct from another text", got);
	got = parse_in(c, "struct f { long c; };", 21);
	ok(strncmp(got, "D_DECL_TYPERED", 14) == 0, "another struct of that name", got);
	comp_free(c);
}

/* n times a, then b, then n times z. */
static char *nest(
	size_t n, const char *pre, const char *a, const char *b, const char *z, const char *post)
{
	char *s = malloc(n * (strlen(a) + strlen(z)) + strlen(pre) + strlen(b) + strlen(post) + 1),
	     *p = s;

	p = stpcpy(p, pre);
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, a);
	p = stpcpy(p, b);
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, z);
	stpcpy(p, post);
	return s;
}

static void test_limits(void)
{
	static const struct {
		const char *pre, *a, *b, *z, *post;
	} deep[] = {
		{"BEGIN{", "(", "x", ")", "}"},
		{"BEGIN{", "-", "x", "", "}"},
		{"BEGIN{", "x+", "x", "", "}"},
		{"BEGIN{", "x=", "x", "", "}"},
		{"BEGIN{", "x?x:", "x", "", "}"},
		{"BEGIN{", "x,", "x", "", "}"},
		{"BEGIN{x", "->y", "", "", "}"},
		{"BEGIN{x[0]", "[0]", "", "", "}"},
		{"BEGIN{", "f(", "x", ")", "}"},
		{"BEGIN{", "x[", "x", "]", "}"},
		{"BEGIN{", "(int)", "x", "", "}"},
		{"BEGIN{", "sizeof ", "x", "", "}"},
		{"BEGIN{", "1||1&&1|1^1&1==1<1<<1+1*(", "x", ")", "}"},
		{"BEGIN{", "if(1)", ";", "", "}"},
		{"BEGIN{", "if(1){", "", "}", "}"},
		{"BEGIN{", "if(1);else ", ";", "", "}"},
		{"int ", "*", "x", "", ";"},
		{"int ", "(", "x", ")", ";"},
		{"int x", "[1]", "", "", ";"},
		{"int x", "(int(", "", "))", ";"},
		{"", "struct{", "int x;", "}x;", ""},
	};
	char *s, what[64];
	const char *got;

	for (size_t i = 0; i < sizeof(deep) / sizeof(deep[0]); i++) {
		s = nest(100000, deep[i].pre, deep[i].a, deep[i].b, deep[i].z, deep[i].post);
		snprintf(what, sizeof(what), "depth: %s", deep[i].a);
		got = parse(s);
		ok(strncmp(got, "D_SYNTAX", 8) == 0 && strstr(got, "too deeply") != NULL, what,
			got);
		free(s);
		s = nest(60, deep[i].pre, deep[i].a, deep[i].b, deep[i].z, deep[i].post);
		if (i != 12) {
			got = parse(s);
			ok(strncmp(got, "D_", 2) != 0, what, got);
		}
		free(s);
	}
	s = nest(5000, "BEGIN/", "a==1||", "b", "", "/{}");
	ok(strncmp(parse(s), ":::BEGIN", 8) == 0, "a predicate of 5000 terms", out);
	free(s);
	s = nest(1025, "BEGIN{", "x", "", "", "}");
	ok(strncmp(parse(s), "D_SYNTAX", 8) == 0, "a long name", out);
	free(s);
	s = nest(70000, "BEGIN{\"", "x", "", "", "\"}");
	ok(strncmp(parse(s), "D_SYNTAX", 8) == 0, "a long string", out);
	free(s);
	s = nest(60000, "BEGIN{\"", "x", "", "", "\"}");
	ok(strncmp(parse(s), ":::BEGIN", 8) == 0, "a string not too long", out);
	free(s);
	s = nest(5000, "", "a", "", "", "{}");
	ok(strncmp(parse(s), "D_PDESC_INVAL", 13) == 0, "a long description", out);
	free(s);
	s = nest(200, "int f(", "int,", "int", "", ");");
	ok(strncmp(parse(s), "D_SYNTAX", 8) == 0, "many parameters", out);
	free(s);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Time grows with the text, not faster; nothing is asked of the machine but that. */
static void test_linear(void)
{
	static const struct {
		const char *pre, *a, *post;
	} big[] = {
		{"", "syscall::read:entry/self->x && arg0 > 3/{ @a[execname, pid] = count(); }\n",
			""},
		{"BEGIN{", "x = y + 3 * (z - 1); ", "}"},
		{"struct s {", "int *a[3];", "};"},
		{"", "typedef int t; ", ""},
		{"", "/* c */ # 3 \"f\"\n", ""},
		{"", "BEGIN{}\n# 3 \"f\"\n", ""},
		{"BEGIN/", "a / /* c */ ", "a/{}"},
		{"BEGIN{f(", "1,", "1)}"},
	};

	for (size_t i = 0; i < sizeof(big) / sizeof(big[0]); i++) {
		size_t n = 65536 / strlen(big[i].a);
		char *s = nest(n, big[i].pre, big[i].a, "", "", big[i].post),
		     *t = nest(16 * n, big[i].pre, big[i].a, "", "", big[i].post);
		double t0 = seconds(), t1, t2;
		char got[64];

		parse(s);
		t1 = seconds();
		parse(t);
		t2 = seconds();
		snprintf(got, sizeof(got), "64 KiB %.1f ms, 1 MiB %.1f ms", (t1 - t0) * 1e3,
			(t2 - t1) * 1e3);
		ok(t2 - t1 < 64 * (t1 - t0) + 0.25, big[i].a, got);
		if (getenv("VERBOSE") != NULL)
			printf("%s: %.40s\n", got, big[i].a);
		free(s);
		free(t);
	}
}

static void test_cpp(void)
{
	struct d_comp *c = comp_new();
	static const char script[] =
		"#!/usr/bin/x -Cs\n#define N 3\nint x[N];\n#ifdef FOO\nint y;\n"
		"#endif\n#ifdef __SUNW_D\nint z z;\n#endif\n";
	struct et_error e = {0};
	const char *got;
	char *s = NULL;
	size_t len;

	et_setopt(&opts, "define", "FOO", &e);
	if (system("command -v cpp >/dev/null 2>&1") != 0) {
		printf("no cpp here: its tests are passed over\n");
	} else {
		if (ok(d_cpp(c, "dir/my.d", script, strlen(script), &s, &len) == 0, "d_cpp",
			    c->error.text)) {
			got = parse_in(c, s, len);
			ok(strcmp(c->error.file, "dir/my.d") == 0 && c->error.line == 8,
				"place behind cpp", got);
		}
		free(s);
		et_err_clear(&c->error);
		s = NULL;
		ok(d_cpp(c, "my.d", "#include <no/such/file.h>\n", 26, &s, &len) == -1 &&
				strcmp(c->error.tag, "ET_CPP") == 0 && c->error.line == 1 &&
				strcmp(c->error.file, "my.d") == 0,
			"cpp fails", c->error.text);
	}
	et_err_clear(&c->error);
	et_setopt(&opts, "cpppath", "/no/such/cpp", &e);
	ok(d_cpp(c, "", "x", 1, &s, &len) == -1 && strstr(c->error.text, "install") != NULL,
		"no preprocessor", c->error.text);
	comp_free(c);
}

/* Every tag has a meaning, and they are in order. */
static void test_tags(void)
{
	static const struct {
		const char *tag, *text;
	} tags[] = {
#define D_TAG(name, meaning) {#name, meaning},
#include "../c_src/d/tags.def"
	};

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		ok(tags[i].text[0] != '\0' && strlen(tags[i].tag) < 32 &&
				(i == 0 || strcmp(tags[i - 1].tag, tags[i].tag) < 0),
			tags[i].tag, "no meaning, or out of order");
}

int main(void)
{
	test_constants();
	test_operators();
	test_chars();
	test_probes();
	test_default_action();
	test_macros();
	test_decls();
	test_decl_errors();
	test_pragmas();
	test_places();
	test_layout();
	test_types();
	test_undo();
	test_limits();
	test_linear();
	test_cpp();
	test_tags();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
