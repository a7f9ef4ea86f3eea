/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of declarations and types: what is declared, how it is laid out, what it is called.
 */
#include "parse_env.h"

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
	expect_error("signed unsigned x;", "D_UNKNOWN", "signed");
	expect_error("self nope_t x;", "D_SYNTAX", "nope_t");
	expect_error("struct s { nope_t x; };", "D_SYNTAX", "nope_t");
	expect_error("self this int x;", "D_DECL_CLASS", "two storage classes");
	expect_error("static int x;", "D_DECL_BADCLASS", "static");
	expect_error("register int x;", "D_DECL_BADCLASS", "register");
	expect_error("auto int x;", "D_DECL_BADCLASS", "auto");
	expect_error("struct s { static int x; };", "D_DECL_BADCLASS", "member");
	expect_error("int f(register int x);", "D_DECL_PARMCLASS", "parameter");
	expect_error("int x[-1];", "D_DECL_ARRSUB", "positive");
	expect_error("int x[nope];", "D_DECL_ARRSUB", "types");
	expect_error("int x[0];", "D_DECL_ARRSUB", "positive");
	expect_error("int x[];", "D_DECL_ARRNULL", "size");
	expect_error("int x[2][];", "D_DECL_ARRNULL", "first dimension");
	expect_error("int x[0x7fffffffffffffff];", "D_DECL_ARRBIG", "2 GiB");
	expect_error("enum a { X }; enum b { X };", "D_DECL_IDRED", "X");
	expect_error("int x; typedef int x;", "D_DECL_IDRED", "x");
	expect_error("typedef int t; typedef char t;", "D_DECL_IDRED", "t");
	expect_error("struct s { int a; }; struct s { int a; };", "D_DECL_TYPERED", "struct s");
	expect_error("struct s { int a; }; union s x;", "D_DECL_INCOMPLETE", "s");
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
	expect_error("int a[void];", "D_DECL_PROTO_TYPE", "key");
	expect_error("int f(int, void);", "D_DECL_PROTO_VOID", "only");
	expect_error("int f(int a[int]);", "D_DECL_PROTO_TYPE", "parameter");
	expect("inline int f[int] = 1;", "inline f[<int>]<int>=1");
	expect_error("provider p { probe a(int x) : (int); };", "D_DECL_PROTO_NAME", "name");
	expect_error("provider p { probe a(int x) : (int y); };", "D_DECL_PROTO_FORM", "y");
	expect_error("int f(int x) { return x; }", "D_SYNTAX", "no user-defined functions");
	expect_error("static inline int x;", "D_DECL_BADCLASS", "static");
	expect_error("static inline int f(void) { {", "D_SYNTAX", "end of the function");
	expect_error("int x = 1;", "D_SYNTAX", "initialiser");
	expect_error("int x", "D_SYNTAX", "';'");
	expect_error("int for;", "D_SYNTAX", "reserved");
	expect_error("BEGIN { sizeof (struct); }", "D_SYNTAX", "tag");
	expect_error("BEGIN { offsetof(nope_t, x); }", "D_SYNTAX", "nope_t");
	expect_error("translator nope_t < int x > { };", "D_SYNTAX", "nope_t");
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

int main(void)
{
	test_decls();
	test_decl_errors();
	test_layout();
	test_types();
	return finish();
}
