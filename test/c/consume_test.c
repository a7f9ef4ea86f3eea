/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the consumer: rows and trace(), what is told of drops and faults, files, print(),
 * symbols. printf() and JSON are in printf_test.c, aggregations in aggs_test.c.
 *
 */
#include "consume_env.h"

/* ---- rows and trace() ----------------------------------------------------------------- */
static const char *trace_one(void)
{
	unsigned epid;

	acts[0] = (struct prog_action){.act = ACT_TRACE, .vals = a.vals, .nvals = 1, .present = -1};
	w.prog.nclauses = 0;
	epid = clause("dtrace", "", "", "BEGIN", acts, 1);
	args_push(epid, 0);
	return work(false);
}

static void test_rows(void)
{
	int64_t one = 1;

	reset("rows");
	clause("dtrace", "", "", "BEGIN", NULL, 0);
	clause("erlang1", "lists", "seq/2", "function-entry", NULL, 0);
	push(1, 0, REC_DATA, NULL, 0);
	push(2, 3, REC_DATA, &one, 8);
	CHECK(work(false), "CPU     ID                    FUNCTION:NAME\n"
			   "  0      1                           :BEGIN \n"
			   "  3      2             seq/2:function-entry \n");
	push(1, 0, REC_DATA, NULL, 0);
	CHECK(work(false), "  0      1                           :BEGIN \n");
	CHECK(work(true), "\n");

	reset("rows, quiet");
	opt("quiet", NULL);
	clause("dtrace", "", "", "BEGIN", NULL, 0);
	push(1, 0, REC_DATA, NULL, 0);
	CHECK(work(false), "");

	reset("rows, actions inside if");
	opt("quiet", NULL);
	args_begin();
	arg_int(0x0101, 8, false); /* bytes 0 and 1: reached */
	acts[0] = (struct prog_action){.act = ACT_TRACE, .vals = a.vals, .nvals = 1, .present = 0};
	acts[1] = (struct prog_action){.act = ACT_TRACE, .vals = a.vals, .nvals = 1, .present = 2};
	acts[2] = (struct prog_action){.act = ACT_TRACE, .vals = a.vals, .nvals = 1, .present = -1};
	clause("dtrace", "", "", "BEGIN", acts, 3);
	args_push(1, 0);
	CHECK(work(false), "257257");
}

static void test_flow(void)
{
	reset("flow");
	opt("flowindent", NULL);
	clause("erlang1", "m", "f/1", "function-entry", NULL, 0);
	clause("erlang1", "m", "g/1", "function-entry", NULL, 0);
	clause("erlang1", "m", "g/1", "function-return", NULL, 0);
	clause("syscall", "", "read", "entry", NULL, 0);
	clause("syscall", "", "read", "return", NULL, 0);
	clause("x", "", "car", "carpentry", NULL, 0);
	push(1, 0, REC_DATA, NULL, 0);
	push(2, 0, REC_DATA, NULL, 0);
	push(6, 0, REC_DATA, NULL, 0);
	push(4, 0, REC_DATA, NULL, 0);
	push(5, 0, REC_DATA, NULL, 0);
	push(3, 0, REC_DATA, NULL, 0);
	push(6, 1, REC_DATA, NULL, 0);
	CHECK(work(false), "CPU FUNCTION                                 \n"
			   "  0  -> f/1                                   \n"
			   "  0    -> g/1                                 \n"
			   "  0     | car:carpentry                       \n"
			   "  0      => read                              \n"
			   "  0      <= read                              \n"
			   "  0    <- g/1                                 \n"
			   "  1 | car:carpentry                           \n");
}

static const char *row(const char *data)
{
	static char buf[4096];

	snprintf(buf, sizeof(buf), "  0      1                           :BEGIN %s\n", data);
	return buf;
}

static void trace_int(int64_t i, unsigned size, bool sign, const char *want)
{
	args_begin();
	arg_int(i, size, sign);
	CHECK(trace_one(), row(want));
}

static void test_trace(void)
{
	char raw[20] = "abc";

	reset("trace");
	push(1, 0, REC_DATA, NULL, 0);
	clause("dtrace", "", "", "BEGIN", NULL, 0);
	work(false); /* the header */
	trace_int(-1, 8, true, "                  -1");
	trace_int(-1, 8, false, " 18446744073709551615");
	trace_int(INT64_MIN, 8, true, " -9223372036854775808");
	trace_int(-1, 4, true, "         -1");
	trace_int(-1, 4, false, " 4294967295");
	trace_int(-1, 2, true, "    -1");
	trace_int(-1, 2, false, " 65535");
	trace_int(-1, 1, true, "  -1");
	trace_int(-1, 1, false, " 255");
	args_begin();
	arg_str("hello", 5);
	CHECK(trace_one(), row("  hello                            "));
	args_begin();
	arg_raw(V_BYTES, raw, 20, false);
	CHECK(trace_one(), row("  abc                              "));
	raw[19] = 1;
	args_begin();
	arg_raw(V_BYTES, raw, 20, false);
	CHECK(trace_one(),
		row("\n"
		    "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  "
		    "0123456789abcdef\n"
		    "         0: 61 62 63 00 00 00 00 00 00 00 00 00 00 00 00 00  "
		    "abc.............\n"
		    "        10: 00 00 00 01                                      ....\n"));
	opt("rawbytes", NULL);
	args_begin();
	arg_str("hi", 2);
	CHECK(trace_one(), row("\n"
			       "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  "
			       "0123456789abcdef\n"
			       "         0: 68 69 00 00 00 00 00 00 00 00 00 00 00 00 00 00  "
			       "hi..............\n"
			       "        10: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  "
			       "................\n"));
	reset("trace, quiet");
	opt("quiet", NULL);
	args_begin();
	arg_int(-5, 4, true);
	CHECK(trace_one(), "-5");
	args_begin();
	arg_str("hello", 5);
	CHECK(trace_one(), "hello");
}

static void test_tracemem(void)
{
	reset("tracemem");
	opt("quiet", NULL);
	args_begin();
	arg_raw(V_BYTES, "0123456789", 10, false);
	arg_int(4, 8, true);
	acts[0] = (struct prog_action){
		.act = ACT_TRACEMEM, .vals = a.vals, .nvals = 2, .param = 10, .present = -1};
	clause("dtrace", "", "", "BEGIN", acts, 1);
	args_push(1, 0);
	CHECK(work(false),
		"\n"
		"             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
		"         0: 30 31 32 33                                      0123\n");
}

static void test_stack(void)
{
	uint64_t pcs[4] = {0x10, 0x20, 0, 0x30};

	reset("stack");
	opt("quiet", NULL);
	args_begin();
	arg_raw(V_STACK, pcs, 32, false);
	CHECK(trace_one(), "\n              0x10\n              0x20\n");
	opt("stackindent", "2");
	args_begin();
	arg_raw(V_STACK, pcs, 32, false);
	CHECK(trace_one(), "\n  0x10\n  0x20\n");
	args_begin();
	arg_raw(V_SYM, pcs, 8, false)->sub = ACT_USYM;
	CHECK(trace_one(), "  0x10                                              ");
}

/* ---- told: drops, faults, files ------------------------------------------------------- */

static void test_drops(void)
{
	reset("drops");
	w.nthreads = 2;
	w.drops[0][DROP_PRINCIPAL] = 1;
	w.drops[1][DROP_AGGREGATION] = 3;
	w.drops[0][DROP_DYNAMIC] = 1;
	w.drops[0][DROP_DYNRINSE] = 2;
	w.drops[0][DROP_DYNDIRTY] = 2;
	w.drops[0][DROP_SPEC] = 2;
	w.drops[0][DROP_SPECBUSY] = 1;
	w.drops[0][DROP_SPECUNAVAIL] = 2;
	w.drops[0][DROP_DBLERROR] = 1;
	w.drops[0][DROP_STKSTROVERFLOW] = 2;
	work(false);
	CHECK(cstr(&w.drop_text),
		"[PRINCIPAL 0 1/1] 1 drop on CPU 0: -x bufsize=SIZE makes the buffers larger\n"
		"[AGGREGATION 1 3/3] 3 aggregation drops on CPU 1: -x aggsize=SIZE makes the tables larger\n"
		"[DYNAMIC -1 1/1] 1 dynamic variable drop: -x dynvarsize=SIZE makes more room\n"
		"[DYNRINSE -1 2/2] 2 dynamic variable drops with non-empty rinsing list: -x cleanrate=RATE frees deleted variables sooner, -x dynvarsize=SIZE makes more room\n"
		"[DYNDIRTY -1 2/2] 2 dynamic variable drops with non-empty dirty list: -x cleanrate=RATE frees deleted variables sooner, -x dynvarsize=SIZE makes more room\n"
		"[SPEC -1 2/2] 2 speculative drops: -x specsize=SIZE makes the buffers larger\n"
		"[SPECBUSY -1 1/1] 1 failed speculation (available buffer(s) still busy): -x nspec=N makes more\n"
		"[SPECUNAVAIL -1 2/2] 2 failed speculations (no speculative buffer available): -x nspec=N makes more\n"
		"[DBLERROR -1 1/1] 1 error in ERROR probe enabling\n"
		"[STKSTROVERFLOW -1 2/2] 2 jstack()/ustack() string table overflows: -x jstackstrsize=SIZE makes more room\n");
	w.drops[0][DROP_PRINCIPAL] = 6;
	work(false); /* too early */
	CHECK(cstr(&w.drop_text), "");
	work(true);
	CHECK(cstr(&w.drop_text), "[PRINCIPAL 0 5/6] 5 drops on CPU 0: -x bufsize=SIZE makes the buffers larger\n");
}

static void test_faults(void)
{
	struct rec_error bad = {.fault = FAULT_BADADDR, .pc = 2, .action = 4, .addr = 0xdead};
	struct rec_error div = {.fault = FAULT_DIVZERO, .pc = 5, .addr = 0xdead};
	int lines[3] = {7, 8, 9};

	reset("faults");
	clause("dtrace", "", "", "BEGIN", NULL, 0);
	clause("a", "b", "c", "d", NULL, 0);
	w.clause[1].lines = lines;
	w.clause[1].ninsns = 3;
	push(2, 0, REC_ERROR, &bad, sizeof(bad));
	push(2, 0, REC_ERROR, &div, sizeof(div));
	CHECK(work(false), "");
	CHECK(cstr(&w.fault_text),
		"error on enabled probe ID 2 (ID 2: a:b:c:d): invalid address (0xdead) in action "
		"#4 "
		"at BPF pc 2 (line 9 of t.d) line 9\n"
		"error on enabled probe ID 2 (ID 2: a:b:c:d): divide-by-zero in predicate at BPF "
		"pc 5 (line 7 of t.d) line 7\n");
}

static const char *action_text(unsigned act, const char *fmt)
{
	args_begin();
	acts[0] = (struct prog_action){
		.act = (uint16_t)act, .fmt = fmt ? parse(fmt) : NULL, .present = -1};
	w.prog.nclauses = 0;
	clause("dtrace", "", "", "BEGIN", acts, 1);
	push(1, 0, REC_DATA, NULL, 0);
	return work(false);
}

static const char *file_text(const char *path)
{
	static char buf[256];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(buf, 1, sizeof(buf) - 1, f) : 0;

	buf[n] = '\0';
	if (f)
		fclose(f);
	return buf;
}

static void test_files(void)
{
	char path[] = "/tmp/consume_test.XXXXXX", fmt[64];
	int fd = mkstemp(path);

	reset("freopen, ftruncate, system");
	opt("quiet", NULL);
	close(fd);
	CHECK(action_text(ACT_PRINTF, "first\n"), "first\n");
	CHECK(action_text(ACT_FREOPEN, path), "");
	CHECK(action_text(ACT_PRINTF, "second\n"), "");
	CHECK(file_text(path), "second\n");
	CHECK(action_text(ACT_SYSTEM, "echo third; true"), "");
	CHECK(action_text(ACT_PRINTF, "fourth\n"), "");
	CHECK(file_text(path), "second\nthird\nfourth\n");
	CHECK(action_text(ACT_FTRUNCATE, NULL), "");
	CHECK(action_text(ACT_PRINTF, "fifth\n"), "");
	CHECK(file_text(path), "fifth\n");
	CHECK(action_text(ACT_FREOPEN, ""), "");
	CHECK(action_text(ACT_PRINTF, "last\n"), "last\n");
	CHECK(action_text(ACT_FREOPEN, "/no/such/folder/x"), "");
	CHECK(cstr(&w.fault_text),
		"error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): couldn't "
		"freopen() \"/no/such/folder/x\": No such file or directory line 7\n");
	CHECK(action_text(ACT_FREOPEN, "/dev/full"), "");
	action_text(ACT_PRINTF, "lost\n");
	CHECK(cstr(&w.fault_text),
		"error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): couldn't "
		"write to the file of freopen(): No space left on device line 7\n");
	CHECK(action_text(ACT_FREOPEN, ""), "");
	snprintf(fmt, sizeof(fmt), "echo child >>%s", path);
	CHECK(action_text(ACT_SYSTEM, fmt), "");
	CHECK(file_text(path), "fifth\nchild\n");
	unlink(path);
}

static void test_setopt(void)
{
	reset("setopt");
	args_begin();
	arg_str("quiet", 5);
	acts[0] =
		(struct prog_action){.act = ACT_SETOPT, .vals = a.vals, .nvals = 1, .present = -1};
	clause("dtrace", "", "", "BEGIN", acts, 1);
	args_push(1, 0);
	work(false);
	CHECK_TRUE(w.opts.val[OPT_QUIET] == 1);
	args_begin();
	arg_str("nonsense", 8);
	arg_str("1", 1);
	acts[0].nvals = 2;
	args_push(1, 0);
	w.fault_text.len = 0;
	work(false);
	CHECK_TRUE(strstr(cstr(&w.fault_text), "dtrace:::BEGIN): couldn't set option \"nonsense\" "
					       "to \"1\": ") != NULL);
}

static void test_terminal(void)
{
	reset("terminal");
	opt("quiet", NULL);
	CHECK(pf_str("%s\x1b[m", "a\x1b[2Jb\x9b\xc2\x9b\r\n\t\x7f\xc3\xa9"),
		"a\x1b[2Jb\x9b\xc2\x9b\r\n\t\x7f\xc3\xa9\x1b[m");
	w.terminal = 1;
	CHECK(pf_str("%s\x1b[m", "a\x1b[2Jb\x9b\xc2\x9b\r\n\t\x7f\xc3\xa9"),
		"a\\x1b[2Jb\\x9b\\xc2\\x9b\\x0d\n\t\\x7f\xc3\xa9\x1b[m");
	CHECK(pf_int("%c", 7, 1, true), "\\x07");
	CHECK(pf_str("%s", "\xe2\x82"), "\xe2\\x82");
	args_begin();
	arg_str("\x1b]0;x\x07", 6);
	CHECK(trace_one(), "\\x1b]0;x\\x07");
}

/* ---- print() -------------------------------------------------------------------------- */

static const char *print_value(const struct d_type *t, unsigned kind, const void *p, size_t n)
{
	args_begin();
	arg_raw(kind, p, n, t->is_signed)->type = t;
	acts[0] = (struct prog_action){.act = ACT_PRINT, .vals = a.vals, .nvals = 1, .present = -1};
	w.prog.nclauses = 0;
	clause("dtrace", "", "", "BEGIN", acts, 1);
	args_push(1, 0);
	return work(false);
}

static void test_print(void)
{
	static struct d_type ti = {
		.kind = T_INT, .name = "int", .size = 4, .align = 4, .is_signed = true};
	static struct d_type tc = {.kind = T_INT, .name = "char", .size = 1, .is_char = true};
	static struct d_type ta = {.kind = T_ARRAY, .ref = &tc, .nelems = 8, .size = 8};
	static struct d_type tia = {.kind = T_ARRAY, .ref = &ti, .nelems = 2, .size = 8};
	static struct d_member red = {.name = "RED", .value = 1};
	static struct d_type te = {.kind = T_ENUM, .name = "color", .size = 4, .members = &red};
	static struct d_member in2 = {.name = "e", .type = &te, .off = 4};
	static struct d_member in1 = {
		.name = "b", .type = &ti, .bit_off = 1, .bit_width = 3, .next = &in2};
	static struct d_type inner = {.kind = T_STRUCT, .name = "in", .size = 8, .members = &in1};
	static struct d_type tp = {.kind = T_PTR, .ref = &ti, .size = 8};
	static struct d_member m5 = {.name = "p", .type = &tp, .off = 32};
	static struct d_member m4 = {.name = "i", .type = &inner, .off = 24, .next = &m5};
	static struct d_member m3 = {.name = "v", .type = &tia, .off = 16, .next = &m4};
	static struct d_member m2 = {.name = "s", .type = &ta, .off = 8, .next = &m3};
	static struct d_member m1 = {.name = "x", .type = &ti, .next = &m2};
	static struct d_type outer = {.kind = T_STRUCT, .name = "out", .size = 40, .members = &m1};
	struct {
		int32_t x, pad;
		char s[8];
		int32_t v[2], bits, e;
		uint64_t p;
	} value = {-1, 0, "hi\n", {0, 7}, 0xb, 1, 0x1234};
	int32_t one = 1;

	reset("print");
	opt("quiet", NULL);
	CHECK(print_value(&ti, V_INT, &one, 4), "int 0x1\n");
	CHECK(print_value(&te, V_INT, &one, 4), "enum color RED\n");
	CHECK(print_value(&outer, V_BYTES, &value, sizeof(value)),
		"struct out {\n"
		"    int x = 0xffffffff\n"
		"    char [8] s = [ \"hi\\n\" ]\n"
		"    int [2] v = [ 0, 0x7 ]\n"
		"    struct in i = {\n"
		"        int b :3 = 0x5\n"
		"        enum color e = RED\n"
		"    }\n"
		"    int *p = 0x1234\n"
		"}\n");
	opt("printsize", "20");
	CHECK(print_value(&outer, V_BYTES, &value, sizeof(value)),
		"struct out {\n"
		"    int x = 0xffffffff\n"
		"    char [8] s = [ \"hi\\n\" ]\n"
		"    int [2] v = [ 0, ... ]\n"
		"    ...\n"
		"}\n");
}

/* ---- symbols and hostile files -------------------------------------------------------- */

static void test_symbols(void)
{
	char text[512], want[64], path[] = "/tmp/consume_elf.XXXXXX";
	struct sy *sy = sy_new(0, NULL);
	struct elf f;
	Elf64_Shdr sh;
	struct stat st;
	uint8_t *elf, *copy;
	int in = open("/proc/self/exe", O_RDONLY), fd = mkstemp(path);
	unsigned i, k;

	section = "symbols";
	snprintf(want, sizeof(want), "`sy_format");
	sy_format(sy, (uint64_t)(uintptr_t)sy_format, SY_SYM, text, sizeof(text));
	CHECK_TRUE(strstr(text, want) != NULL);
	sy_format(sy, (uint64_t)(uintptr_t)sy_format + 1, SY_ADDR, text, sizeof(text));
	CHECK_TRUE(strstr(text, "`sy_format+0x1") != NULL);
	sy_format(sy, (uint64_t)(uintptr_t)sy_format, SY_MOD, text, sizeof(text));
	CHECK_TRUE(strchr(text, '`') == NULL && text[0] != '0');
	sy_format(sy, 0x10, SY_ADDR, text, sizeof(text));
	CHECK(text, "0x10");
	sy_free(sy);

	section = "hostile ELF files";
	if (fstat(in, &st) != 0 ||
		(elf = elf_bytes(in, 0, (uint64_t)st.st_size, 1u << 30)) == NULL) {
		check_true(__LINE__, false, "cannot read this program");
		return;
	}
	copy = malloc((size_t)st.st_size);
	for (i = 0; i < 60; i++) {
		size_t size = (size_t)st.st_size;

		memcpy(copy, elf, size);
		if (i & 1)
			size = (size_t)rand() % size;
		for (k = 0; k < 40 && size > 64; k++) {
			size_t at = rand() % 2 ? (size_t)rand() % 64
					       : (size_t)st.st_size - 1 - (size_t)rand() % 4096;

			if (at > 6 && at < size)
				copy[at] = (uint8_t)rand();
		}
		if (ftruncate(fd, 0) != 0 || pwrite(fd, copy, size, 0) != (ssize_t)size)
			break;
		memset(&f, 0, sizeof(f));
		elf_read(&f, fd);
		for (k = 0; k < 50; k++) {
			uint64_t at;

			if (elf_address(&f, (uint64_t)rand(), &at))
				elf_symbol(&f, at);
			elf_offset(&f, (uint64_t)rand(), true, &at);
		}
		elf_section(fd, ".nosuch", &sh);
		elf_free(&f);
	}
	CHECK_TRUE(i == 60);
	free(copy);
	free(elf);
	close(fd);
	close(in);
	unlink(path);
}

/* ---- stopped ---------------------------------------------------------------------------- */

static int stops(void *arg, const char *text, size_t len)
{
	(void)text, (void)len;
	return ++*(int *)arg, 42;
}

static void test_stop(void)
{
	int calls = 0, i;
	erltrace_handlers_t h = {.size = sizeof(h), .arg = &calls, .text = stops};
	static char big[1000];

	reset("a handler stops");
	memset(big, 'x', sizeof(big) - 1);
	args_begin();
	acts[0] = (struct prog_action){.act = ACT_PRINTF, .fmt = parse(big), .present = -1};
	clause("dtrace", "", "", "BEGIN", acts, 1);
	for (i = 0; i < 1000; i++)
		push(1, 0, REC_DATA, NULL, 0);
	CHECK_TRUE(co_work(w.co, &h, false) == 42);
	CHECK_TRUE(calls == 1);
}

int main(void)
{
	static test_fn *const tests[] = {test_rows, test_flow, test_trace, test_tracemem,
		test_stack, test_drops, test_faults, test_files, test_setopt, test_terminal,
		test_print, test_symbols, test_stop};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
