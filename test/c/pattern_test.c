/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of Erlang: what each text is read as, and what is refused, and where. */
#include <stdio.h>

#include "checks.h"
#include "pattern_env.h"

/* ---- nodes as text --------------------------------------------------------------------- */

static char shown[1 << 16];
static size_t len;

static __attribute__((format(printf, 1, 2))) void add(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	len += (size_t)vsnprintf(shown + len, sizeof(shown) - len, fmt, ap);
	va_end(ap);
	if (len >= sizeof(shown))
		len = sizeof(shown) - 1;
}

static unsigned show(const struct pat *p, unsigned i);

static unsigned show_all(const struct pat *p, unsigned i, unsigned n, const char *name)
{
	add("%s(", name);
	for (unsigned k = 0; k < n; k++) {
		if (k > 0)
			add(" ");
		i = show(p, i);
	}
	add(")");
	return i;
}

static void show_bytes(const struct pat_node *node)
{
	for (uint32_t i = 0; i < node->len; i++)
		if (node->text[i] > ' ' && node->text[i] < 127)
			add("%c", node->text[i]);
		else
			add("\\%02x", (unsigned char)node->text[i]);
}

static unsigned show(const struct pat *p, unsigned i)
{
	const struct pat_node *node = &p->nodes[i];

	switch (node->op) {
	case PAT_ANY: add("_"); break;
	case PAT_VAR: add("%s", p->vars[node->n]); break;
	case PAT_ATOM: add("%s", node->text); break;
	case PAT_INT: add("%lld", (long long)node->num); break;
	case PAT_FLOAT: add("%.17g~", node->real); break;
	case PAT_NIL: add("[]"); break;
	case PAT_BIG:
		add("%sbig", node->n != 0 ? "-" : "");
		for (uint32_t k = node->len / 8; k-- > 0;)
			add(":%llx", ((const unsigned long long *)(const void *)node->text)[k]);
		break;
	case PAT_BOTH: return show_all(p, i + 1, 2, "both");
	case PAT_CONS: return show_all(p, i + 1, 2, "cons");
	case PAT_TUPLE: return show_all(p, i + 1, node->n, "tuple");
	case PAT_MAP: return show_all(p, i + 1, 2 * node->n, "map");
	case PAT_BINARY: return show_all(p, i + 1, node->n, "bin");
	case SEG_BYTES: show_bytes(node); break;
	case SEG_INT:
		add("int%s%s%u:", node->num & SEG_LITTLE ? "l" : "",
			node->num & SEG_SIGNED ? "s" : "", node->n);
		return show(p, i + 1);
	case SEG_PART: add("part%u:", node->n); return show(p, i + 1);
	case SEG_REST: add("rest%u:", node->n); return show(p, i + 1);
	default: add("?");
	}
	return i + 1;
}

/* ---- what is read ---------------------------------------------------------------------- */

static bool keys; /* what is read now are keys */

static void reads(const char *text, const char *want)
{
	struct pattern_env env = {.key = keys};
	struct et_error e = {.tag = ""};
	struct pat pat;
	size_t at;

	len = 0;
	shown[0] = '\0';
	if (pattern_read(&env, text, strlen(text), &pat, &at, &e) < 0)
		add("%zu: %s", at, e.text);
	else if (!pattern_is_sound(&pat))
		add("nodes that do not hold together");
	else
		show(&pat, 0);
	ok(strcmp(shown, want) == 0, text, shown);
	pattern_free(&env);
}

/* An error at this position, that has this in its text. */
static void fails(const char *text, size_t where, const char *why)
{
	struct pattern_env env = {.key = keys};
	struct et_error e = {.tag = ""};
	struct pat pat;
	size_t at = 0;
	char got[1100];
	bool failed_ = pattern_read(&env, text, strlen(text), &pat, &at, &e) < 0;

	snprintf(got, sizeof(got), "%zu: %s", at, failed_ ? e.text : "no error");
	ok(failed_ && at == where && strcmp(e.tag, "D_PATTERN") == 0 && strstr(e.text, why) != NULL,
		text, got);
	pattern_free(&env);
}

static void atoms_and_variables(void)
{
	reads("ok", "ok");
	reads(" 'it\\'s' ", "it's");
	reads("'\\x41\\x{3a9}\\101\\n'", "A\xce\xa9"
					 "A\n");
	reads("'\\^a\\e\\s\\d\\\\'", "\x01\x1b \x7f\\");
	reads("'\xce\xa9'", "\xce\xa9");
	reads("\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9");
	reads("a@b_C1", "a@b_C1");
	reads("''", "");
	reads("'end'", "end");
	reads("maybe", "maybe");
	reads("_", "_");
	reads("{X, _Y, X, _}", "tuple(X _Y X _)");
	fails("end", 0, "'end'");
	fails("{a, 'b", 6, "ends within an atom");
	fails("'\\q'", 1, "escape");
	fails("'\\x{d800}'", 1, "character");
	fails("'\xff'", 1, "UTF-8");
	fails("'\xc0\x80'", 1, "UTF-8");
	fails("\xce\xa9", 0, "begin");
	fails("{\xc3\x89t\xc3\xa9}", 1, "plain letters");
	fails("A@b", 0, "plain letters");
	fails("f(X)", 0, "calls no function");
	fails("lists:seq", 0, "calls no function");
}

static void numbers(void)
{
	reads("0", "0");
	reads("- 1", "-1");
	reads("+7", "7");
	reads("1_000_000", "1000000");
	reads("16#fF", "255");
	reads("2#1010", "10");
	reads("36#Zz", "1295");
	reads("$a", "97");
	reads("$\\n", "10");
	reads("$\xc3\xab", "235");
	reads("$ ", "32");
	reads("$'", "39");
	reads("9223372036854775807", "9223372036854775807");
	reads("9223372036854775808", "big:8000000000000000");
	reads("-9223372036854775808", "-9223372036854775808");
	reads("-9223372036854775809", "-big:8000000000000001");
	reads("16#123456789abcdef0123456789abcdef", "big:123456789abcdef:123456789abcdef");
	reads("1.5", "1.5~");
	reads("-0.0", "-0~");
	reads("1.0e3", "1000~");
	reads("1_0.2_5E-2", "0.10249999999999999~");
	fails("1__0", 1, "goes on");
	fails("1_", 1, "goes on");
	fails("12ab", 2, "goes on");
	fails("37#1", 0, "base");
	fails("1#1", 0, "base");
	fails("2#12", 3, "goes on");
	fails("1.0e400", 0, "float");
	fails("1.5e", 3, "exponent");
	fails("16#1.8", 4, "goes on");
	fails("$", 1, "behind $");
	fails("-X", 0, "computes nothing");
	fails("1 + 2", 2, "more text follows");
}

static void lists(void)
{
	reads("[]", "[]");
	reads("[a]", "cons(a [])");
	reads("[a, B | T]", "cons(a cons(B T))");
	reads("[[a] | [b]]", "cons(cons(a []) cons(b []))");
	reads("\"ab\"", "cons(97 cons(98 []))");
	reads("\"\"", "[]");
	reads("\"a\" \"b\"", "cons(97 cons(98 []))");
	reads("\"a\" ++ T", "cons(97 T)");
	reads("\"a\" ++ \"b\" ++ T", "cons(97 cons(98 T))");
	reads("\"\" ++ T", "T");
	reads("\"\xc3\xab\\x{3a9}\"", "cons(235 cons(937 []))");
	fails("[a", 2, "ends where ]");
	fails("[a b]", 3, "] or a comma");
	fails("[a, ]", 4, "cannot begin with ]");
	fails("[X || X]", 3, "comprehension");
	fails("[a] ++ T", 4, "more text follows");
	fails("\"abc", 4, "within a text");
}

static void tuples_and_maps(void)
{
	reads("{}", "tuple()");
	reads("{a, {b}, c}", "tuple(a tuple(b) c)");
	reads("{'$gen_call', _, {reserve, Item, N}}", "tuple($gen_call _ tuple(reserve Item N))");
	reads("#{}", "map()");
	reads("#{plan := gold, user := #{id := Id}}", "map(plan gold user map(id Id))");
	reads("#{a:=1}", "map(a 1)");
	reads("#{{a, [1]} := X, \"k\" := Y, <<\"b\">> := Z, 1.0 := _}",
		"map(tuple(a cons(1 [])) X cons(107 []) Y bin(b) Z 1~ _)");
	reads("#{#{a => 1} := X}", "map(map(a 1) X)");
	reads("% all\n{a, % first\n b}", "tuple(a b)");
	fails("{a, b", 5, "ends where }");
	fails("{a; b}", 2, "} or a comma");
	fails("#{a => 1}", 4, ":=");
	fails("#{X := 1}", 2, "no variables");
	fails("#{{_} := 1}", 3, "no variables");
	fails("#{#{a := 1} := X}", 6, "=> is expected");
	fails("#{a}", 3, ":= is expected");
	fails("#{a = b := 1}", 4, ":= between key and value, not =");
	fails("#{id = Id}", 5, ":= between key and value, not =");
	fails("#Ref<0.1.2.3>", 0, "references");
	fails("<0.1.0>", 0, "pids");
	fails("fun() -> ok end", 0, "word of the language");
}

static void records(void)
{
	reads("#order{}", "tuple(order _ _ _)");
	reads("#'order'{n = N, id = 1}", "tuple(order 1 _ N)");
	reads("#order{_ = '_', item = I}", "tuple(order _ I _)");
	reads("#order{_ = V}", "tuple(order V V V)");
	reads("#order{_ = {V}, id = #order{n = [1]}}",
		"tuple(order tuple(order _ _ cons(1 [])) tuple(V) tuple(V))");
	reads("{#order{id = A = B}, c}", "tuple(tuple(order both(A B) _ _) c)");
	reads("#none{}", "tuple(none)");
	fails("#what{}", 1, "not known");
	fails("#order{price = 1}", 7, "no field price");
	fails("#order{id = 1, id = 2}", 15, "twice");
	fails("#order{id}", 9, "= is expected");
	fails("#order{Id = 1}", 7, "name of a field");
	fails("#order.id", 6, "{ is expected");
	fails("#{#order{} := 1}", 3, "no records");
}

static void binaries(void)
{
	reads("<<>>", "bin()");
	reads("<<\"text\">>", "bin(text)");
	reads("<<\"prefix\", Rest/binary>>", "bin(prefix rest8:Rest)");
	reads("<<Len:16, Type, _/binary>>", "bin(int16:Len int8:Type rest8:_)");
	reads("<<\"zo\xc3\xab\"/utf8>>", "bin(zo\\c3\\ab)");
	reads("<<\"zo\xc3\xab\">>", "bin(zo\\eb)");
	reads("<<1, 2:16, 3:16/little, \"a\", 16#ff>>", "bin(\\01\\00\\02\\03\\00a\\ff)");
	reads("<<-1:8/signed, -2:16/signed-little>>", "bin(\\ff\\fe\\ff)");
	reads("<<A:4, 5:3, B:1/bits, C/bitstring>>", "bin(int4:A int3:5 part1:B rest1:C)");
}

static void segments(void)
{
	reads("<<A:2/binary, B:4/signed-little-unit:8, C:2/binary-unit:4>>",
		"bin(part16:A intls32:B part8:C)");
	reads("<<$\xce\xa9/utf8, 8364/utf8>>", "bin(\\ce\\a9\\e2\\82\\ac)");
	reads("<<\"a\" , \"\xce\xa9\" / utf8 >>", "bin(a\\ce\\a9)");
	reads("<<+1, A:4/unit:8-integer-little-little, B/bytes-unit:8>>",
		"bin(\\01 intl32:A rest8:B)");
	reads("<<16#fedcba9876543210:64/little>>", "bin(\\102Tv\\98\\ba\\dc\\fe)");
	fails("<<16#10000000000000000:64>>", 2, "at most 64 bits");
	fails("<<16#fedcba9876543210:64/signed>>", 2, "at most 64 bits");
	reads("<<X:64/native>>", "bin(intl64:X)");
	fails("<<\"\xce\xa9\">>", 6, "utf8");
	fails("<<300>>", 5, "does not fit");
	fails("<<-1>>", 4, "does not fit");
	fails("<<A/float>>", 4, "float");
	fails("<<A/utf16>>", 4, "utf16");
	fails("<<A/utf8>>", 3, "utf8");
	fails("<<A:N/binary>>", 4, "plain number");
	fails("<<A:(1)>>", 4, "plain number");
	fails("<<A:65>>", 3, "1 to 64 bits");
	fails("<<A:0>>", 3, "1 to 64 bits");
	fails("<<A:5/unit:16>>", 3, "1 to 64 bits");
	fails("<<A:12/little>>", 3, "whole bytes");
	fails("<<A/binary, 1>>", 12, "only the last");
	fails("<<a>>", 2, "is expected in a binary");
	fails("<<1.5>>", 2, "integer");
	fails("<<1", 3, "ends where >>");
	fails("<<1:4>", 5, ">> or a comma");
	fails("#{<<1:4>> := X}", 5, "whole bytes");
	fails("#{<<X>> := X}", 4, "no variables");
}

/* As Erlang's compiler does. */
static void refused_segments(void)
{
	fails("<<\"a\"/binary>>", 5, "no type but utf8");
	fails("<<\"a\"/big-signed>>", 5, "no type but utf8");
	fails("<<\"a\"/integer>>", 5, "no type but utf8");
	fails("<<\"ab\":16>>", 6, "no size");
	fails("<<\"a\":8/utf8>>", 5, "utf8 has no size");
	fails("<<A/unit:4>>", 3, "has a size too");
	fails("<<1/signed-unsigned>>", 11, "unsigned contradicts");
	fails("<<A:16/big-little>>", 11, "little contradicts");
	fails("<<A:16/native-big>>", 14, "big contradicts");
	fails("<<A/integer-binary>>", 12, "binary contradicts");
	fails("<<A:2/bits-bytes>>", 11, "bytes contradicts");
	fails("<<A:2/bits-unit:8>>", 11, "unit contradicts");
	fails("<<A:2/unit:4-unit:8>>", 13, "unit contradicts");
}

static void aliases(void)
{
	reads("A = b", "both(A b)");
	reads("A = {b, C} = D", "both(A both(tuple(b C) D))");
	reads("{A = b, [C = D | E]}", "tuple(both(A b) cons(both(C D) E))");
	reads("((a))", "a");
	reads("{(A = B)}", "tuple(both(A B))");
	fails("A == B", 2, "more text follows");
	fails("A =:= B", 2, "more text follows");
	fails("a when true", 2, "predicate");
	fails("", 0, "ends where a term");
	fails("a,", 1, "more text follows");
	fails("(a", 2, "ends where )");
	fails("?MODULE", 0, "cannot begin with ?");
}

/* A key is made: nothing in it is matched. */
static void keys_of_maps(void)
{
	keys = true;
	reads("{a, [1 | \"b\"], <<\"c\", 1:16>>}", "tuple(a cons(1 cons(98 [])) bin(c\\00\\01))");
	reads("#{a => #{}}", "map(a map())");
	fails("X", 0, "no variables");
	fails("{a, _}", 4, "no variables");
	fails("#{a := 1}", 4, "=> is expected");
	fails("a = b", 2, "without =");
	fails("#order{id = 1}", 1, "no records");
	fails("<<1:4, 1:4>>", 3, "whole bytes");
	fails("<<\"a\", _/binary>>", 7, "no variables");
	keys = false;
}

/* ---- limits ---------------------------------------------------------------------------- */

static char *times(const char *what, size_t n)
{
	size_t each = strlen(what);
	char *text = malloc(n * each + 1);

	for (size_t i = 0; i < n; i++)
		memcpy(text + i * each, what, each);
	text[n * each] = '\0';
	return text;
}

static void limit(const char *begin, const char *what, size_t n, const char *why)
{
	struct pattern_env env = {.most = 0};
	struct et_error e = {.tag = ""};
	char *middle = times(what, n), *text = malloc(strlen(begin) + strlen(middle) + 1);
	struct pat pat;
	size_t at;
	int rc;

	strcpy(text, begin);
	strcat(text, middle);
	rc = pattern_read(&env, text, strlen(text), &pat, &at, &e);
	CHECK(rc < 0 && strstr(e.text, why) != NULL, "%s%s...: %s", begin, what, e.text);
	CHECK(env.used < 64 * (strlen(text) + 65536), "%zu bytes", env.used);
	pattern_free(&env);
	free(text);
	free(middle);
}

static void limits(void)
{
	char *names = times("x", 256), *vars = malloc(4096);
	struct pattern_env env = {.most = 100};
	struct et_error e = {.tag = ""};
	struct pat pat;
	size_t at = 0;

	limit("", "{", 100000, "nested deeper");
	limit("", "(", 100000, "nested deeper");
	limit("", "[", 100000, "nested deeper");
	limit("", "#{a := ", 100000, "nested deeper");
	limit("", "#order{_ = ", 100000, "nested deeper");
	limit("{", "a,", 100000, "too large");
	limit("[", "a,", 100000, "too large");
	limit("", "a = ", 100000, "too large");
	limit("\"", "a", 100000, "too large");
	limit("{", "\"\"", 100000, "ends where }");
	limit("", "9", 100000, "more than 1024 bits");
	limit("'", "a", 100000, "more than 255");
	limit("{", "#order{_ = {a,b,c,d}},", 1000, "too large");
	fails(names, 0, "more than 255");
	strcpy(vars, "{");
	for (int i = 0; i <= PAT_VARS; i++)
		sprintf(vars + strlen(vars), "V%d,", i);
	fails(vars, 1 + 3 * 10 + 4 * 22, "more than 32 variables");
	CHECK(pattern_read(&env, "{a, b, c, d, e}", 15, &pat, &at, &e) < 0 &&
			strstr(e.text, "memory") != NULL,
		"%s", e.text);
	pattern_free(&env);
	free(names);
	free(vars);
}

int main(void)
{
	atoms_and_variables();
	numbers();
	lists();
	tuples_and_maps();
	records();
	binaries();
	segments();
	refused_segments();
	aliases();
	keys_of_maps();
	limits();
	return finish();
}
