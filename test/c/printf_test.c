/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the consumer: printf(), JSON, and whatever formats and values come together.
 */
#include "consume_env.h"

/* ---- printf() ------------------------------------------------------------------------- */

static void test_printf_ints(void)
{
	reset("printf, integers");
	opt("quiet", NULL);
	CHECK(pf_int("[%d]", -5, 4, true), "[-5]");
	CHECK(pf_int("[%i]", -5, 8, true), "[-5]");
	CHECK(pf_int("[%d]", -1, 4, false), "[4294967295]");
	CHECK(pf_int("[%d]", -1, 8, false), "[18446744073709551615]");
	CHECK(pf_int("[%u]", -1, 4, true), "[4294967295]");
	CHECK(pf_int("[%x]", -1, 2, true), "[ffff]");
	CHECK(pf_int("[%X]", 0xbeef, 4, true), "[BEEF]");
	CHECK(pf_int("[%#x]", 255, 4, true), "[0xff]");
	CHECK(pf_int("[%#o]", 8, 4, true), "[010]");
	CHECK(pf_int("[%o]", -1, 1, true), "[377]");
	CHECK(pf_int("[%+d]", 5, 4, true), "[+5]");
	CHECK(pf_int("[% d]", 5, 4, true), "[ 5]");
	CHECK(pf_int("[%6d]", 5, 4, true), "[     5]");
	CHECK(pf_int("[%-6d]", 5, 4, true), "[5     ]");
	CHECK(pf_int("[%06d]", -5, 4, true), "[-00005]");
	CHECK(pf_int("[%.4d]", 5, 4, true), "[0005]");
	CHECK(pf_int("[%8.4d]", 5, 4, true), "[    0005]");
	CHECK(pf_int("[%lld]", 5, 8, true), "[5]");
	CHECK(pf_int("[%hd]", -3, 2, true), "[-3]");
	CHECK(pf_int("[%p]", 0xabc, 8, false), "[abc]");
	CHECK(pf_int("[%?p]", 0xabc, 8, false), "[             abc]");
	CHECK(pf_int("[%c]", 'x', 4, true), "[x]");
	CHECK(pf_int("[%3c]", 'x', 1, true), "[  x]");
	CHECK(pf_int("[%C]", '\n', 1, true), "[\\n]");
	CHECK(pf_int("[%C]", 1, 1, true), "[\\001]");
	CHECK(pf_int("[%lc]", 0x20ac, 4, true), "[\xe2\x82\xac]");
	CHECK(pf_int("[%a]", 0x10, 8, false), "[0x10]");
	CHECK(pf_int("[%A]", 0x10, 8, false), "[0x10]");
	CHECK(pf_int("[%-8a]", 0x10, 8, false), "[0x10    ]");
	CHECK(pf_int("[%s]", -7, 4, true), "[-7]"); /* refused earlier; here it must not crash */
	args_begin();
	arg_int(6, 4, true);
	arg_int(42, 4, true);
	CHECK(print_args("[%*d]"), "[    42]");
	args_begin();
	arg_int(-6, 4, true);
	arg_int(42, 4, true);
	CHECK(print_args("[%*d]"), "[42    ]");
	args_begin();
	arg_int(8, 4, true);
	arg_int(3, 4, true);
	arg_int(42, 4, true);
	CHECK(print_args("[%*.*d] end"), "[     042] end");
}

static void test_printf_rest(void)
{
	float f = 1.5f;
	double d = -0.25;
	long double ld = 1e10L;
	uint32_t wide[4] = {'a', 0x20ac, 0, 'z'};
	uint64_t pcs[3] = {0x10, 0x20, 0};

	reset("printf, the rest");
	opt("quiet", NULL);
	setenv("TZ", "UTC", 1);
	CHECK(pf_str("[%s]", "abc"), "[abc]");
	CHECK(pf_str("[%10s]", "abc"), "[       abc]");
	CHECK(pf_str("[%-10s]", "abc"), "[abc       ]");
	CHECK(pf_str("[%.2s]", "abc"), "[ab]");
	CHECK(pf_str("[%5.1s]", "abc"), "[    a]");
	CHECK(pf_str("[%S]", "a\t\"b\"\\"), "[a\\t\\\"b\\\"\\\\]");
	CHECK(pf_str("[%s]", ""), "[]");
	CHECK(pf_raw("[%s]", V_BYTES, "ab\0cd", 5), "[ab]");
	CHECK(pf_raw("[%s]", V_BYTES, "abcde", 5), "[abcde]");
	CHECK(pf_raw("[%ls]", V_BYTES, wide, 16), "[a\xe2\x82\xac]");
	CHECK(pf_raw("[%ws]", V_BYTES, wide, 16), "[a\xe2\x82\xac]");
	CHECK(pf_raw("[%f]", V_FLOAT, &f, 4), "[1.500000]");
	CHECK(pf_raw("[%8.2f]", V_FLOAT, &d, 8), "[   -0.25]");
	CHECK(pf_raw("[%e]", V_FLOAT, &d, 8), "[-2.500000e-01]");
	CHECK(pf_raw("[%E]", V_FLOAT, &d, 8), "[-2.500000E-01]");
	CHECK(pf_raw("[%g]", V_FLOAT, &d, 8), "[-0.25]");
	CHECK(pf_raw("[%Lg]", V_FLOAT, &ld, 16), "[1e+10]");
	CHECK(pf_int("[%Y]", 86399LL * 1000000000 + 5, 8, true), "[1970 Jan  1 23:59:59]");
	CHECK(pf_int("[%T]", 86399LL * 1000000000 + 5, 8, true), "[Thu, 01 Jan 1970 23:59:59 UTC]");
	CHECK(pf_raw("[%k]", V_STACK, pcs, 24), "[\n0x10\n0x20\n]");
	CHECK(pf_raw("[%-6k]", V_STACK, pcs, 24), "[\n      0x10  \n      0x20  \n]");
	args_begin();
	CHECK(print_args("plain\n"), "plain\n");
	args_begin();
	CHECK(print_args("[%d]"), "[]"); /* fewer values than conversions */
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void test_json(void)
{
	struct co_json j = {.text = got_text};
	erltrace_handlers_t h = {0};
	struct rec_error bad = {.fault = FAULT_BADADDR, .pc = 2, .addr = 1};
	unsigned c, q;

	reset("json");
	co_json_handlers(&j, &h);
	args_begin();
	arg_str("a\"\\\n\x01\xff\xc3\xa9", 8);
	arg_int(-1, 8, false);
	acts[0] = (struct prog_action){
		.act = ACT_PRINTF, .vals = a.vals, .nvals = 2, .fmt = parse("%s!"), .present = -1};
	clause("dtrace", "", "", "BEGIN", acts, 1);
	args_push(1, 0);
	push(1, 0, REC_ERROR, &bad, sizeof(bad));
	w.nthreads = 1;
	w.drops[0][DROP_PRINCIPAL] = 2;
	c = add_agg("c", AGG_SUM, keys2, 2);
	q = add_agg("q", AGG_QUANTIZE, NULL, 0);
	key_str("k"), key_int(5), give(c, INT64_MIN);
	give_dist(q, 3, 1);
	w.text.len = 0;
	co_work(w.co, &h, true);
	CHECK(cstr(&w.text),
		"{\"type\":\"probe\",\"provider\":\"dtrace\",\"module\":\"\",\"function\":\"\","
		"\"name\":"
		"\"BEGIN\",\"id\":1,\"cpu\":0,\"timestamp\":5,\"walltimestamp\":1000000005,"
		"\"epid\":1}\n"
		"{\"type\":\"printf\",\"provider\":\"dtrace\",\"module\":\"\",\"function\":\"\","
		"\"name\":"
		"\"BEGIN\",\"id\":1,\"cpu\":0,\"timestamp\":5,\"walltimestamp\":1000000005,"
		"\"values\":["
		"\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\",18446744073709551615],\"text\":"
		"\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9!\"}\n"
		"{\"type\":\"error\",\"provider\":\"dtrace\",\"module\":\"\",\"function\":\"\","
		"\"name\":"
		"\"BEGIN\",\"id\":1,\"cpu\":0,\"timestamp\":5,\"walltimestamp\":1000000005,"
		"\"fault\":"
		"\"invalid "
		"address\",\"address\":1,\"pc\":2,\"file\":\"t.d\",\"line\":7,\"message\":"
		"\"error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): invalid address (0x1) in "
		"predicate at "
		"BPF pc 2 (line 7 of t.d)\"}\n"
		"{\"type\":\"drop\",\"kind\":\"PRINCIPAL\",\"cpu\":0,\"drops\":2,\"total\":2,"
		"\"message\":\"2 drops on CPU 0: -x bufsize=SIZE makes the buffers larger\"}\n"
		"{\"type\":\"aggregation\",\"aggregation\":\"c\",\"function\":\"sum\",\"keys\":["
		"\"k\","
		"5],\"value\":-9223372036854775808,\"normal\":1}\n"
		"{\"type\":\"aggregation\",\"aggregation\":\"q\",\"function\":\"quantize\","
		"\"keys\":[],"
		"\"buckets\":[{\"lo\":2,\"hi\":4,\"count\":1}],\"normal\":1}\n");
	co_json_free(&j);
}

/* ---- anything at all ------------------------------------------------------------------ */

static void random_format(char *s, size_t size)
{
	static const char some[] = "%%%%-+ 0#'@*?.123456789hlLwaAcCdiouxXpeEfgGksSYT []\n";
	size_t i, n = (size_t)rand() % (size - 8);

	for (i = 0; i < n; i++)
		s[i] = some[(size_t)rand() % (sizeof(some) - 1)];
	/* The parser of this test wants a conversion behind every %. */
	strcpy(s + i, "d d");
}

static bool well_formed(const char *s)
{
	for (; (s = strchr(s, '%')) != NULL; s++) {
		s += 1 + strspn(s + 1, "-+ 0#'@");
		s += strspn(s, "*?0123456789");
		s += strspn(s, ".*0123456789hlLw");
		if (strchr("aAcCdiouxXpeEfgGksSYT", *s) == NULL || *s == '\0')
			return false;
	}
	return true;
}

static void test_anything(void)
{
	uint8_t junk[256];
	char fmt[64];
	unsigned i, k, n, ran = 0;

	reset("random formats and values");
	opt("quiet", NULL);
	for (i = 0; i < 200000 && ran < 4000; i++) {
		random_format(fmt, sizeof(fmt));
		if (!well_formed(fmt))
			continue;
		ran++;
		args_begin();
		n = (unsigned)rand() % 8;
		for (k = 0; k < sizeof(junk); k++)
			junk[k] = (uint8_t)rand();
		for (k = 0; k < n; k++) {
			switch (rand() % 6) {
			case 0: arg_int(rand() - rand(), 1u << rand() % 4, rand() & 1); break;
			case 1: arg_str((char *)junk, (size_t)rand() % 64); break;
			case 2: arg_raw(V_FLOAT, junk, 4u << rand() % 2, false); break;
			case 3: arg_raw(V_BYTES, junk, 1 + (size_t)rand() % 200, false); break;
			case 4: arg_raw(V_STACK, junk, 8 * (1 + (size_t)rand() % 4), false); break;
			default: arg_raw(V_SYM, junk, 8, false)->sub = ACT_SYM; break;
			}
		}
		w.terminal = rand() & 1;
		print_args(fmt);
		w.text.len = 0;
	}
	CHECK_TRUE(ran == 4000);
	w.terminal = 0;

	section = "records shorter than they say";
	for (i = 0; i < 500; i++) {
		args_begin();
		arg_int(1, 8, true);
		arg_str("hello", 5);
		arg_raw(V_BYTES, junk, 100, false);
		n = (unsigned)rand() % 3;
		acts[0] = (struct prog_action){.act = ACT_TRACE,
			.vals = a.vals + n,
			.nvals = 1,
			.present = rand() % 200 - 1};
		w.prog.nclauses = 0;
		clause("dtrace", "", "", "BEGIN", acts, 1);
		push(1, 0, REC_DATA, junk, (size_t)rand() % 120);
		push(9, 0, REC_DATA, junk, 8);
		push(1, 0, REC_ERROR, junk, (size_t)rand() % 24);
		work(false);
	}
	CHECK_TRUE(true);
}

/* A handler that says stop is not called again. */

int main(void)
{
	static test_fn *const tests[] = {test_printf_ints, test_printf_rest, test_json,
		test_anything};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
