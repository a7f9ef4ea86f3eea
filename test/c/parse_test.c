/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the lexer and the parser: source goes in, the tree comes out as text. Declarations and
 * types are in decl_test.c.
 */
#include <time.h>
#include <unistd.h>

#include "parse_env.h"

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
	expect_error("BEGIN { 0x; }", "D_SYNTAX", "0x");
	expect_error("BEGIN { 12ab; }", "D_SYNTAX", "12ab");
	expect_error("BEGIN { 1lu; }", "D_SYNTAX", "1lu");
	expect_error("BEGIN { 18446744073709551616u; }", "D_INT_OFLOW", "too large");
	expect_error("BEGIN { 9223372036854775808; }", "D_INT_OFLOW", "signed");
	expr("f(1.5, 0.25)", "f(1.5,0.25)"); /* the checker says where it may be */
	expect_error("BEGIN { x = 1.5f; }", "D_SYNTAX", "floating-point");
	expect_error("BEGIN { x = 1.; }", "D_SYNTAX", "floating-point");
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
	expect("BEGIN { $5; }", ":::BEGIN{\"a b\";}");
	expect_error("BEGIN { $99999; }", "D_MACRO_OFLOW", "$99999");
	expect_error("BEGIN { $; }", "D_SYNTAX", "after '$'");
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
		ok(strncmp(got, "D_PRAGMA_DEPEND", 15) == 0, "depends_on in a script", got);
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
	ok(c->error.line == 3 && c->error.column == 6 && strcmp(c->error.source, "\tx = = 1;") == 0,
		"line, column and text", c->error.source);
	parse_in(c, b, strlen(b));
	ok(strcmp(c->error.file, "inc.h") == 0 && c->error.line == 101 && c->error.column == 7 &&
			strcmp(c->error.source, "int z z;") == 0,
		"#line", c->error.source);
	c->file = "my.d";
	parse_in(c, "BEGIN { \x1b[31m }", 15);
	ok(strcmp(c->error.file, "my.d") == 0 && strcmp(c->error.source, "BEGIN { ?[31m }") == 0,
		"no escapes in messages", c->error.source);
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
#define ERROR_TAG(name, meaning) {#name, meaning},
#include "errors.def"
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
	test_pragmas();
	test_places();
	test_undo();
	test_limits();
	test_linear();
	test_cpp();
	test_tags();
	return finish();
}
