/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer alone: records, aggregations and drops come from a made-up engine, what is printed
 * is compared with texts written by hand from the layout rules. The consumer's files are part of
 * this program, with the engine's calls renamed, so that the engine of the library stays out.
 */
#define en_consume  fake_consume
#define en_agg_take fake_agg_take
#define en_drops    fake_drops
#define en_nthreads fake_nthreads
#define en_ecb	    fake_ecb
#define en_now	    fake_now
#define en_wall	    fake_wall

#include "../c_src/consume/act.c"
#include "../c_src/consume/aggs.c"
#include "../c_src/consume/consume.c"
#include "../c_src/consume/datum.c"
#include "../c_src/consume/dist.c"
#include "../c_src/consume/elf.c"
#include "../c_src/consume/format.c"
#include "../c_src/consume/json.c"
#include "../c_src/consume/print.c"
#include "../c_src/consume/printa.c"
#include "../c_src/consume/symbols.c"
#include "../c_src/consume/tell.c"
#include "../c_src/consume/text.c"
#include "../c_src/consume/value.c"

static unsigned passed, failed;
static const char *section = "";

static void check_text(int line, const char *got, const char *want)
{
	if (strcmp(got, want) == 0) {
		passed++;
		return;
	}
	failed++;
	printf("%s, line %d:\n--- wanted\n%s\n--- got\n%s\n---\n", section, line, want, got);
}

static void check_true(int line, bool ok, const char *what)
{
	passed += ok;
	failed += !ok;
	if (!ok)
		printf("%s, line %d: %s\n", section, line, what);
}
#define CHECK(got, want) check_text(__LINE__, got, want)
#define CHECK_TRUE(x)	 check_true(__LINE__, x, #x)

/* ---- the made-up world ---------------------------------------------------------------- */

#define MAX_ECBS 8
static struct {
	struct et_options opts;
	struct prog prog;
	struct prog_clause clause[MAX_ECBS], *clauses[MAX_ECBS];
	struct prog_agg agg[8], *aggs[8];
	struct en_probe probe[MAX_ECBS];
	struct en_ecb ecb[MAX_ECBS]; /* epid i + 1 */
	struct co *co;
	struct co_buf recs;   /* records waiting */
	struct co_buf deltas; /* aggregation data waiting */
	uint64_t drops[4][DROP_KINDS];
	unsigned nthreads;
	uint64_t now;
	struct co_buf text, drop_text, fault_text;
	int terminal;
} w;

int fake_consume(struct en *en, en_rec_cb cb, void *arg)
{
	size_t at = 0, len = w.recs.len;
	int rv = 0;

	(void)en;
	while (rv == 0 && at < len) {
		const struct rec_head *h = (const void *)(w.recs.p + at);

		rv = cb(arg, h->spec, h); /* spec serves as the thread here */
		at += (h->size + 7u) & ~7u;
	}
	w.recs.len = 0;
	return rv;
}

struct delta {
	unsigned thread, agg;
	size_t keylen, words;
};

int fake_agg_take(struct en *en, en_agg_cb cb, void *arg)
{
	size_t at = 0;
	int rv = 0;

	(void)en;
	while (rv == 0 && at < w.deltas.len) {
		struct delta *d = (void *)(w.deltas.p + at);
		uint64_t *data = (uint64_t *)(d + 1);

		rv = cb(arg, d->thread, d->agg, data + d->words, d->keylen, data);
		at += sizeof(*d) + d->words * 8 + ((d->keylen + 7) & ~(size_t)7);
	}
	w.deltas.len = 0;
	return rv;
}

uint64_t fake_drops(const struct en *en, unsigned thread, enum en_drop kind)
{
	(void)en;
	return w.drops[thread][kind];
}

unsigned fake_nthreads(const struct en *en)
{
	(void)en;
	return w.nthreads;
}

const struct en_ecb *fake_ecb(const struct en *en, uint32_t epid)
{
	(void)en;
	return epid >= 1 && epid <= w.prog.nclauses ? &w.ecb[epid - 1] : NULL;
}

uint64_t fake_now(void)
{
	return w.now += 1000000;
}

uint64_t fake_wall(uint64_t mono)
{
	return mono + 1000000000;
}

static struct et_str *str(const char *s)
{
	static struct et_str *all[64];
	static unsigned n;
	unsigned i;

	for (i = 0; i < n; i++)
		if (strcmp(all[i]->text, s) == 0)
			return all[i];
	all[n] = calloc(1, sizeof(struct et_str) + strlen(s) + 1);
	strcpy(all[n]->text, s);
	all[n]->len = (uint32_t)strlen(s);
	return all[n++];
}

static void reset(const char *name)
{
	section = name;
	if (w.co)
		co_free(w.co);
	cb_free(&w.recs);
	cb_free(&w.deltas);
	cb_free(&w.text);
	cb_free(&w.drop_text);
	cb_free(&w.fault_text);
	et_options_free(&w.opts);
	memset(&w, 0, sizeof(w));
	et_options_init(&w.opts);
	w.opts.running = true;
	w.prog.clauses = w.clauses;
	w.prog.aggs = w.aggs;
	w.prog.strsize = 32;
	w.now = 1000000;
	w.co = co_new(NULL, &w.prog, &w.opts, NULL);
}

static void opt(const char *name, const char *value)
{
	struct et_error e;

	et_err_clear(&e);
	w.opts.running = false;
	if (et_setopt(&w.opts, name, value, &e) != 0)
		check_true(__LINE__, false, e.text);
	w.opts.running = true;
}

/* A clause at a probe; its epid. */
static unsigned clause(const char *prov, const char *mod, const char *func, const char *name,
	struct prog_action *acts, unsigned nacts)
{
	unsigned i = w.prog.nclauses++;

	w.clauses[i] = &w.clause[i];
	w.clause[i] = (struct prog_clause){.actions = acts,
		.nactions = (uint16_t)nacts,
		.file = "t.d",
		.line = 7,
		.has_record = true};
	w.probe[i] = (struct en_probe){.id = i + 1,
		.prov = str(prov),
		.mod = str(mod),
		.func = str(func),
		.name = str(name)};
	w.ecb[i] = (struct en_ecb){.epid = i + 1, .clause = &w.clause[i], .probe = &w.probe[i]};
	return i + 1;
}

static void push(unsigned epid, unsigned thread, uint8_t kind, const void *fixed, size_t len)
{
	struct rec_head h = {.size = (uint32_t)(sizeof(h) + len),
		.kind = kind,
		.epid = epid,
		.spec = thread,
		.cpu = (uint16_t)thread,
		.ts = 5};

	cb_put(&w.recs, &h, sizeof(h));
	cb_put(&w.recs, fixed, len);
	cb_fill(&w.recs, 0, -w.recs.len & 7);
}

static int got_text(void *arg, const char *text, size_t len)
{
	(void)arg;
	cb_put(&w.text, text, len);
	return 0;
}

static int got_drop(void *arg, const erltrace_drop_t *d)
{
	(void)arg;
	cb_fmt(&w.drop_text, "[%s %d %llu/%llu] %s\n", d->kind, d->cpu,
		(unsigned long long)d->drops, (unsigned long long)d->total, d->message);
	return 0;
}

static int got_fault(void *arg, const erltrace_fault_t *f)
{
	(void)arg;
	cb_fmt(&w.fault_text, "%s line %d\n", f->message, f->line);
	return 0;
}

static const char *cstr(struct co_buf *b)
{
	cb_put(b, "", 1);
	b->len = 0;
	return b->p;
}

/* A round; what it printed. */
static const char *work(bool final)
{
	erltrace_handlers_t h = {.size = sizeof(h),
		.text = got_text,
		.drop = got_drop,
		.fault = got_fault,
		.terminal = w.terminal};

	w.text.len = 0;
	co_work(w.co, &h, final);
	return cstr(&w.text);
}

/* ---- values and formats --------------------------------------------------------------- */

/* Arguments of one action, laid out as the engine would. */
static struct {
	struct prog_val vals[16];
	unsigned n;
	struct co_buf fixed, strs;
	size_t fixups[16], nfix;
} a;

static void args_begin(void)
{
	cb_free(&a.fixed);
	cb_free(&a.strs);
	memset(&a, 0, sizeof(a));
}

static struct prog_val *arg_raw(unsigned kind, const void *p, size_t size, bool sign)
{
	struct prog_val *v = &a.vals[a.n++];

	cb_fill(&a.fixed, 0, -a.fixed.len & 7);
	*v = (struct prog_val){.kind = (uint8_t)kind,
		.size = (uint32_t)size,
		.is_signed = sign,
		.off = (uint32_t)a.fixed.len};
	cb_put(&a.fixed, p, size);
	return v;
}

static void arg_int(int64_t i, unsigned size, bool sign)
{
	arg_raw(V_INT, &i, size, sign);
}

static void arg_str(const char *s, size_t len)
{
	struct rec_str r = {.off = (uint32_t)a.strs.len, .len = (uint32_t)len};

	arg_raw(V_STR, &r, sizeof(r), false);
	a.fixups[a.nfix++] = a.vals[a.n - 1].off;
	cb_put(&a.strs, s, len);
}

/* The record: the fixed part, then the strings. */
static void args_push(unsigned epid, unsigned thread)
{
	struct rec_str r;
	size_t i;

	for (i = 0; i < a.nfix; i++) {
		memcpy(&r, a.fixed.p + a.fixups[i], sizeof(r));
		r.off += (uint32_t)(sizeof(struct rec_head) + a.fixed.len);
		memcpy(a.fixed.p + a.fixups[i], &r, sizeof(r));
	}
	cb_put(&a.fixed, a.strs.p, a.strs.len);
	push(epid, thread, REC_DATA, a.fixed.p, a.fixed.len);
}

/* A format as the compiler parses it, for tests that are written as D is. */
static struct d_fmt *parse(const char *s)
{
	static struct d_fmtpart parts[64];
	static struct d_fmt f;
	unsigned n = 0;

	memset(parts, 0, sizeof(parts));
	f = (struct d_fmt){.source = s, .parts = parts};
	for (;; n++) {
		struct d_fmtpart *p = &parts[n];

		p->text = s;
		p->len = (uint32_t)strcspn(s, "%");
		p->width = p->prec = -1;
		s += p->len;
		if (*s++ == '\0')
			return &f;
		p->next = p + 1;
		for (;; s++) {
			if (*s == '-')
				p->left = true;
			else if (*s == '+')
				p->plus = true;
			else if (*s == ' ')
				p->space = true;
			else if (*s == '0')
				p->zero = true;
			else if (*s == '#')
				p->alt = true;
			else if (*s == '\'')
				p->group = true;
			else if (*s == '@')
				p->agg = true;
			else
				break;
		}
		if (*s == '*')
			p->dynwidth = true, s++;
		else if (*s == '?')
			p->width = 16, s++;
		else if (*s >= '1' && *s <= '9')
			p->width = (int)strtol(s, (char **)&s, 10);
		if (*s == '.') {
			s++;
			if (*s == '*')
				p->dynprec = true, s++;
			else
				p->prec = (int)strtol(s, (char **)&s, 10);
		}
		while (strchr("hlLw", *s) && strlen(p->mod) < 2)
			p->mod[strlen(p->mod)] = *s++;
		p->conv = *s++;
	}
}

/* ---- rows and trace() ----------------------------------------------------------------- */

static struct prog_action acts[4];

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

/* ---- printf() ------------------------------------------------------------------------- */

static const char *print_args(const char *fmt)
{
	acts[0] = (struct prog_action){.act = ACT_PRINTF,
		.vals = a.vals,
		.nvals = (uint16_t)a.n,
		.fmt = parse(fmt),
		.present = -1};
	w.prog.nclauses = 0;
	clause("dtrace", "", "", "BEGIN", acts, 1);
	args_push(1, 0);
	return work(false);
}

static const char *pf_int(const char *fmt, int64_t i, unsigned size, bool sign)
{
	args_begin();
	arg_int(i, size, sign);
	return print_args(fmt);
}

static const char *pf_str(const char *fmt, const char *s)
{
	args_begin();
	arg_str(s, strlen(s));
	return print_args(fmt);
}

static const char *pf_raw(const char *fmt, unsigned kind, const void *p, size_t size)
{
	args_begin();
	arg_raw(kind, p, size, false);
	return print_args(fmt);
}

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

/* ---- aggregations --------------------------------------------------------------------- */

static struct prog_val keys2[2] = {{.kind = V_STR}, {.kind = V_INT, .size = 4, .is_signed = true}};

static unsigned add_agg(const char *name, unsigned fn, struct prog_val *keys, unsigned nkeys)
{
	unsigned i = w.prog.naggs++;

	w.aggs[i] = &w.agg[i];
	w.agg[i] = (struct prog_agg){.name = name,
		.fn = (uint16_t)fn,
		.keys = keys,
		.nkeys = (uint8_t)nkeys,
		.is_signed = true};
	w.agg[i].nbuckets = aggfn_nbuckets(&w.agg[i]);
	return i;
}

static struct co_buf key;

static void key_str(const char *s)
{
	uint32_t n = (uint32_t)strlen(s);

	cb_put(&key, &n, 4);
	cb_put(&key, s, n);
}

static void key_int(int64_t i)
{
	cb_put(&key, &i, 8);
}

/* The key gathered so far and data, as thread t gives them. */
static void give_data(unsigned t, unsigned agg, const uint64_t *data)
{
	struct delta d = {t, agg, key.len, aggfn_words(&w.agg[agg])};

	cb_put(&w.deltas, &d, sizeof(d));
	cb_put(&w.deltas, data, d.words * 8);
	cb_put(&w.deltas, key.p, key.len);
	cb_fill(&w.deltas, 0, -w.deltas.len & 7);
	key.len = 0;
}

static void give(unsigned agg, int64_t v)
{
	uint64_t data[4] = {(uint64_t)v};

	if (w.agg[agg].fn == AGG_AVG || w.agg[agg].fn == AGG_STDDEV) {
		data[0] = 1;
		data[1] = (uint64_t)v;
		data[2] = (uint64_t)(v * v);
	}
	give_data(0, agg, data);
}

/* One value into a distribution. */
static void give_dist(unsigned agg, int64_t v, int64_t incr)
{
	const struct prog_agg *g = &w.agg[agg];
	uint64_t *data = calloc(aggfn_words(g), 8);

	data[g->fn == AGG_QUANTIZE	 ? aggfn_quantize(v)
		: g->fn == AGG_LQUANTIZE ? aggfn_lquantize(g, v)
					 : aggfn_llquantize(g, v)] = (uint64_t)incr;
	give_data(0, agg, data);
	free(data);
}

/* An action on aggregations, performed with a number if n is not INT64_MIN. */
static const char *agg_act(
	unsigned act, const char *fmt, unsigned n, const uint16_t *aggs, int64_t num)
{
	static uint16_t which[8];

	args_begin();
	if (num != INT64_MIN)
		arg_int(num, 8, true);
	memcpy(which, aggs, n * sizeof(*aggs));
	acts[0] = (struct prog_action){.act = (uint16_t)act,
		.vals = a.vals,
		.nvals = (uint16_t)a.n,
		.naggs = (uint16_t)n,
		.aggs = which,
		.fmt = fmt ? parse(fmt) : NULL,
		.present = -1};
	w.prog.nclauses = 0;
	clause("dtrace", "", "", "BEGIN", acts, 1);
	args_push(1, 0);
	return work(false);
}

static const char *printa1(const char *fmt, unsigned agg)
{
	uint16_t which = (uint16_t)agg;

	return agg_act(ACT_PRINTA, fmt, 1, &which, INT64_MIN);
}

static void agg_do(unsigned act, unsigned agg, int64_t num)
{
	uint16_t which = (uint16_t)agg;

	agg_act(act, NULL, 1, &which, num);
}

static void test_quantize(void)
{
	unsigned q;

	reset("quantize");
	opt("quiet", NULL);
	q = add_agg("_", AGG_QUANTIZE, keys2, 2);
	key_str("a"), key_int(1);
	give_dist(q, 10, 1);
	key_str("a"), key_int(1);
	give_dist(q, 100, 1);
	CHECK(work(true), "\n"
			  "  a                                                         1\n"
			  "           value  ------------- Distribution ------------- count    \n"
			  "               4 |                                         0        \n"
			  "               8 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
			  "              16 |                                         0        \n"
			  "              32 |                                         0        \n"
			  "              64 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
			  "             128 |                                         0        \n"
			  "\n");

	reset("quantize, around zero");
	opt("quiet", NULL);
	q = add_agg("_", AGG_QUANTIZE, NULL, 0);
	give_dist(q, -3, 1);
	give_dist(q, -1, 1);
	give_dist(q, 0, 2);
	CHECK(printa1(NULL, q),
		"\n\n"
		"           value  ------------- Distribution ------------- count    \n"
		"              -4 |                                         0        \n"
		"              -2 |@@@@@@@@@@                               1        \n"
		"              -1 |@@@@@@@@@@                               1        \n"
		"               0 |@@@@@@@@@@@@@@@@@@@@                     2        \n"
		"               1 |                                         0        \n"
		"\n");
	CHECK(work(true), "\n"); /* printed already */

	reset("quantize, counts of both signs");
	opt("quiet", NULL);
	q = add_agg("_", AGG_QUANTIZE, NULL, 0);
	give_dist(q, 1, -1);
	give_dist(q, 2, 3);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"               0                     |                     0        \n"
		"               1                @@@@@|                     -1       \n"
		"               2                     |@@@@@@@@@@@@@@@      3        \n"
		"               4                     |                     0        \n");
	give_dist(q, 2, -3);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"               0                                         | 0        \n"
		"               1 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -1       \n"
		"               2                                         | 0        \n");
	give_dist(q, 1, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"              -1 |                                         0        \n"
		"               0 |                                         0        \n"
		"               1 |                                         0        \n");

	reset("quantize, the ends of 64 bits");
	opt("quiet", NULL);
	q = add_agg("_", AGG_QUANTIZE, NULL, 0);
	give_dist(q, INT64_MIN, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"-4611686018427387904 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
		"-2305843009213693952 |                                         0        \n");
}

static void test_lquantize(void)
{
	unsigned q;

	reset("lquantize");
	opt("quiet", NULL);
	q = add_agg("_", AGG_LQUANTIZE, NULL, 0);
	w.agg[q].param[0] = (uint64_t)-10;
	w.agg[q].param[1] = 10;
	w.agg[q].param[2] = 5;
	give_dist(q, -100, 1);
	give_dist(q, 3, 2);
	give_dist(q, 10, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"           < -10 |@@@@@@@@@@                               1        \n"
		"             -10 |                                         0        \n"
		"              -5 |                                         0        \n"
		"               0 |@@@@@@@@@@@@@@@@@@@@                     2        \n"
		"               5 |                                         0        \n"
		"           >= 10 |@@@@@@@@@@                               1        \n");
	agg_do(ACT_NORMALIZE, q, 2);
	agg_do(ACT_CLEAR, q, INT64_MIN);
	give_dist(q, 7, 8);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"               0 |                                         0        \n"
		"               5 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 4        \n"
		"           >= 10 |                                         0        \n");
	agg_do(ACT_CLEAR, q, INT64_MIN);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"           < -10 |                                         0        \n"
		"             -10 |                                         0        \n"
		"              -5 |                                         0        \n");
}

static void test_llquantize(void)
{
	unsigned q;

	reset("llquantize");
	opt("quiet", NULL);
	q = add_agg("_", AGG_LLQUANTIZE, NULL, 0);
	w.agg[q].param[0] = 10;
	w.agg[q].param[1] = 1;
	w.agg[q].param[2] = 2;
	w.agg[q].param[3] = 10;
	w.agg[q].nbuckets = aggfn_nbuckets(&w.agg[q]);
	give_dist(q, 3, 1);
	give_dist(q, 35, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"             -10 |                                         0        \n"
		"      abs() < 10 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"              10 |                                         0        \n"
		"              20 |                                         0        \n"
		"              30 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"              40 |                                         0        \n");
	agg_do(ACT_TRUNC, q, INT64_MIN);
	give_dist(q, 15, 1);
	give_dist(q, 5000, 1);
	CHECK(printa1("%@d", q) + strlen("\n           value  ------------- Distribution "
					 "------------- count    \n"),
		"            < 10 |                                         0        \n"
		"              10 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"              20 |                                         0        \n"
		"              30 |                                         0        \n"
		"              40 |                                         0        \n"
		"              50 |                                         0        \n"
		"              60 |                                         0        \n"
		"              70 |                                         0        \n"
		"              80 |                                         0        \n"
		"              90 |                                         0        \n"
		"             100 |                                         0        \n"
		"             200 |                                         0        \n"
		"             300 |                                         0        \n"
		"             400 |                                         0        \n"
		"             500 |                                         0        \n"
		"             600 |                                         0        \n"
		"             700 |                                         0        \n"
		"             800 |                                         0        \n"
		"             900 |                                         0        \n"
		"         >= 1000 |@@@@@@@@@@@@@@@@@@@@                     1        \n");
	agg_do(ACT_TRUNC, q, INT64_MIN);
	give_dist(q, -5000, 1);
	give_dist(q, -950, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"        <= -1000 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"            -900 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"            -800 |                                         0        \n");
}

static void test_packed(void)
{
	static struct prog_val k1[1] = {{.kind = V_STR}};
	unsigned c, q, l;

	reset("agghist, aggpack, aggzoom");
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "xterm", 1);
	opt("quiet", NULL);
	opt("agghist", NULL);
	opt("aggpack", NULL);
	c = add_agg("c", AGG_COUNT, k1, 1);
	q = add_agg("q", AGG_QUANTIZE, k1, 1);
	l = add_agg("l", AGG_LQUANTIZE, NULL, 0);
	w.agg[l].param[1] = 4;
	w.agg[l].param[2] = 1;
	key_str("x"), give(c, 1);
	key_str("yy"), give(c, 3);
	CHECK(printa1(NULL, c),
		"\n\n"
		"              key  ------------- Distribution ------------- count    \n"
		"                x |@@@@@@@@@@                               1        \n"
		"               yy |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n");
	opt("aggzoom", NULL);
	CHECK(printa1(NULL, c),
		"\n\n"
		"              key  ------------- Distribution ------------- count    \n"
		"                x |@@@@@@@@@@@@@                            1        \n"
		"               yy |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   3        \n");
	opt("aggzoom", "0");
	key_str("x"), give_dist(q, 8, 4);
	key_str("x"), give_dist(q, 4, 4);
	key_str("y"), give_dist(q, 16, 1);
	CHECK(printa1(NULL, q), "\n\n"
				"              key min .-----. max | count\n"
				"                y   2 :   \xe2\x96\x88 : 32  | 1\n"
				"                x   2 : \xe2\x96\x85\xe2\x96\x85  : 32  | 8\n");
	setenv("LC_ALL", "C", 1);
	give_dist(l, 2, 1);
	give_dist(l, 3, 1);
	CHECK(printa1(NULL, l), "\n\n"
				"     min .------. max      | count\n"
				"     < 0 :   xx : >= 4     | 2\n");
}

static void test_printa(void)
{
	static struct prog_val k1[1] = {{.kind = V_STR}};
	uint16_t both[3];
	unsigned x, y, z;

	reset("printa");
	opt("quiet", NULL);
	x = add_agg("x", AGG_COUNT, k1, 1);
	y = add_agg("y", AGG_AVG, k1, 1);
	z = add_agg("z", AGG_STDDEV, NULL, 0);
	key_str("one"), give(x, 1);
	key_str("two"), give(x, 2);
	key_str("two"), give(y, 10);
	key_str("two"), give(y, -20);
	key_str("three"), give(y, 7);
	both[0] = (uint16_t)x;
	both[1] = (uint16_t)y;
	both[2] = (uint16_t)y;
	CHECK(printa1(NULL, x),
		"\n"
		"  one                                                               1\n"
		"  two                                                               2\n");
	CHECK(printa1("%-5s|%@5d|\n", x), "one  |    1|\ntwo  |    2|\n");
	CHECK(printa1("%@d %@x\n", x), "1 1\n2 2\n");
	CHECK(agg_act(ACT_PRINTA, NULL, 2, both, INT64_MIN),
		"\n"
		"  three                                                             0"
		"                7\n"
		"  one                                                               1"
		"                0\n"
		"  two                                                               2"
		"               -5\n");
	CHECK(agg_act(ACT_PRINTA, "%s %@d %@d %@d\n", 3, both, INT64_MIN),
		"three 0 7 7\none 1 0 0\ntwo 2 -5 -5\n");
	opt("aggsortpos", "1");
	CHECK(agg_act(ACT_PRINTA, "%s %@d %@d\n", 2, both, INT64_MIN),
		"two 2 -5\none 1 0\nthree 0 7\n");
	opt("aggsortkey", NULL);
	CHECK(agg_act(ACT_PRINTA, "%s ", 2, both, INT64_MIN), "one three two ");
	opt("aggsortrev", NULL);
	CHECK(agg_act(ACT_PRINTA, "%s ", 2, both, INT64_MIN), "two three one ");
	/* Deviation of 2, 4, 4, 4, 5, 5, 7, 9 is 2. */
	give(z, 2), give(z, 4), give(z, 4), give(z, 4);
	give(z, 5), give(z, 5), give(z, 7), give(z, 9);
	CHECK(printa1("%@d", z), "2");
	agg_do(ACT_CLEAR, z, INT64_MIN);
	CHECK(printa1("%@d", z), "0");
	/* A printa() of nothing does not count as printed. */
	x = add_agg("late", AGG_MIN, NULL, 0);
	CHECK(printa1(NULL, x), "\n");
	give(x, -7);
	CHECK(work(true), "\n               -7\n");
}

static void test_agg_actions(void)
{
	static struct prog_val k1[1] = {{.kind = V_INT, .size = 8, .is_signed = true}};
	unsigned x, m, i;

	reset("clear, trunc, normalize");
	opt("quiet", NULL);
	x = add_agg("x", AGG_SUM, k1, 1);
	m = add_agg("m", AGG_MIN, NULL, 0);
	for (i = 0; i < 5; i++)
		key_int(i), give(x, (int64_t)(i * 7 % 5) - 2);
	give(m, 5);
	/* Values by key: 0 -2, 1 0, 2 2, 3 -1, 4 1. */
	CHECK(printa1("%d:%@d ", x), "0:-2 3:-1 1:0 4:1 2:2 ");
	CHECK(printa1("%@d", m), "5");
	agg_do(ACT_CLEAR, m, INT64_MIN);
	CHECK(printa1("%@d", m), "0");
	give(m, 9);
	CHECK(printa1("%@d", m), "9");
	agg_do(ACT_TRUNC, x, 3);
	CHECK(printa1("%d:%@d ", x), "1:0 4:1 2:2 ");
	agg_do(ACT_TRUNC, x, -2);
	CHECK(printa1("%d:%@d ", x), "1:0 4:1 ");
	agg_do(ACT_TRUNC, x, INT64_MIN + 1);
	CHECK(printa1("%d:%@d ", x), "1:0 4:1 ");
	key_int(4), give(x, 99);
	work(false);
	agg_do(ACT_NORMALIZE, x, 10);
	CHECK(printa1("%d:%@d ", x), "1:0 4:10 ");
	agg_do(ACT_NORMALIZE, x, 0); /* nobody divides by it */
	agg_do(ACT_DENORMALIZE, x, INT64_MIN);
	CHECK(printa1("%d:%@d ", x), "1:0 4:100 ");
	agg_do(ACT_CLEAR, x, INT64_MIN);
	CHECK(printa1("%d:%@d ", x), "1:0 4:0 ");
	agg_do(ACT_TRUNC, x, INT64_MIN);
	CHECK(printa1("%d:%@d ", x), "");
	CHECK_TRUE(co_clear(w.co, "nobody") != 0 && co_trunc(w.co, NULL) == 0);
}

static void test_percpu(void)
{
	uint64_t two = 2, three = 3;
	unsigned x;

	reset("aggpercpu");
	opt("quiet", NULL);
	opt("aggpercpu", NULL);
	x = add_agg("x", AGG_COUNT, NULL, 0);
	give_data(1, x, &two);
	give_data(0, x, &three);
	CHECK(work(true), "\n                5\n    [CPU 0]                3\n    [CPU 1]"
			  "                2\n");
}

static void test_aggmax(void)
{
	static struct prog_val k1[1] = {{.kind = V_INT, .size = 8}};
	unsigned x, i, n = 20000;
	struct ag *ag;

	reset("aggmax");
	opt("quiet", NULL);
	opt("aggmax", "64k");
	x = add_agg("x", AGG_COUNT, k1, 1);
	for (i = 0; i < n; i++)
		key_int(i), give(x, 1);
	for (i = 0; i < 100; i++)
		key_int(0), give(x, 1);
	w.drop_text.len = 0;
	co_snapshot(w.co);
	ag = w.co->ag;
	CHECK_TRUE(ag->mem <= 65536 + 256 && ag->n > 100);
	CHECK_TRUE(ag->n + ag_drops(ag) == n);
	work(true);
	CHECK_TRUE(strstr(cstr(&w.drop_text), "aggregation drops of the merged table") != NULL);
	co_trunc(w.co, NULL);
	CHECK_TRUE(ag->n == 0 && ag->mem == ag->ntab * sizeof(void *));
}

/* Random rows against a plain model sorted by the rules as they are written. */
struct model {
	int64_t v, k1;
	char k0[4];
};
static unsigned sort_how;

static int model_cmp(const void *p, const void *q)
{
	const struct model *x = p, *y = q;
	int v = (x->v > y->v) - (x->v < y->v), s = strcmp(x->k0, y->k0);
	int i = (x->k1 > y->k1) - (x->k1 < y->k1), c;
	int k = sort_how & 4 ? (i ? i : s) : (s ? s : i);

	c = sort_how & 1 ? (k ? k : v) : (v ? v : k);
	return sort_how & 2 ? -c : c;
}

static void test_sorting(void)
{
	struct model rows[200];
	struct co_buf want = {0};
	unsigned x, i, j, n, round;

	for (round = 0; round < 64; round++) {
		reset("sorting");
		opt("quiet", NULL);
		sort_how = round & 7;
		opt("aggsortkey", sort_how & 1 ? "1" : "0");
		opt("aggsortrev", sort_how & 2 ? "1" : "0");
		opt("aggsortkeypos", sort_how & 4 ? "1" : "0");
		x = add_agg("x", round & 8 ? AGG_QUANTIZE : AGG_SUM, keys2, 2);
		for (i = n = 0; i < 200; i++) {
			struct model m = {.v = rand() % 21 - 10, .k1 = rand() % 7 - 3};

			snprintf(m.k0, sizeof(m.k0), "%c%c", 'a' + rand() % 3, 'a' + rand() % 3);
			for (j = 0; j < n; j++)
				if (strcmp(rows[j].k0, m.k0) == 0 && rows[j].k1 == m.k1)
					break;
			if (j < n)
				continue;
			if (round & 8 && m.v != 0) /* the bucket's bound is what sorts */
				m.v = di_label(&w.agg[x], aggfn_quantize(m.v));
			rows[n++] = m;
			key_str(m.k0), key_int(m.k1);
			if (round & 8)
				give_dist(x, m.v, 1);
			else
				give(x, m.v);
		}
		qsort(rows, n, sizeof(rows[0]), model_cmp);
		want.len = 0;
		for (i = 0; i < n; i++)
			cb_fmt(&want, "%s/%d ", rows[i].k0, (int)rows[i].k1);
		CHECK(printa1("%s/%d ", x), cstr(&want));
	}
	cb_free(&want);
}

static int got_agg(void *arg, const erltrace_agg_t *g)
{
	struct co_buf *b = arg;
	unsigned i;

	cb_fmt(b, "%s %s [", g->name, g->function);
	for (i = 0; i < g->nkeys; i++) {
		if (g->keys[i].kind == ERLTRACE_STRING)
			cb_fmt(b, "%.*s,", (int)g->keys[i].len, (const char *)g->keys[i].bytes);
		else
			cb_fmt(b, "%lld,", (long long)g->keys[i].i);
	}
	cb_fmt(b, "] %lld %.3f", (long long)g->value, g->avg);
	for (i = 0; i < g->nbuckets; i++)
		cb_fmt(b, " %lld..%lld=%lld", (long long)g->buckets[i].lo,
			(long long)g->buckets[i].hi, (long long)g->buckets[i].count);
	cb_str(b, "\n");
	return 0;
}

static void test_walk(void)
{
	struct co_buf b = {0};
	unsigned x, y, z;

	reset("walk");
	x = add_agg("x", AGG_AVG, keys2, 2);
	y = add_agg("y", AGG_QUANTIZE, NULL, 0);
	z = add_agg("z", AGG_STDDEV, NULL, 0);
	key_str("k"), key_int(-4), give(x, 1);
	key_str("k"), key_int(-4), give(x, 2);
	give_dist(y, -5, 1);
	give_dist(y, 0, 2);
	give_dist(y, 5, 3);
	give(z, 1), give(z, 2);
	co_snapshot(w.co);
	CHECK_TRUE(co_walk(w.co, NULL, got_agg, &b) == 0);
	CHECK(cstr(&b), "x avg [k,-4,] 1 1.500\n"
			"y quantize [] 0 0.000 -7..-3=1 0..1=2 4..8=3\n"
			"z stddev [] 1 0.500\n");
	CHECK_TRUE(co_walk(w.co, "z", got_agg, &b) == 0);
	CHECK(cstr(&b), "z stddev [] 1 0.500\n");
	CHECK_TRUE(co_walk(w.co, "q", got_agg, &b) != 0);
	cb_free(&b);
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
		"[PRINCIPAL 0 1/1] 1 drop on CPU 0\n"
		"[AGGREGATION 1 3/3] 3 aggregation drops on CPU 1\n"
		"[DYNAMIC -1 1/1] 1 dynamic variable drop\n"
		"[DYNRINSE -1 2/2] 2 dynamic variable drops with non-empty rinsing list\n"
		"[DYNDIRTY -1 2/2] 2 dynamic variable drops with non-empty dirty list\n"
		"[SPEC -1 2/2] 2 speculative drops\n"
		"[SPECBUSY -1 1/1] 1 failed speculation (available buffer(s) still busy)\n"
		"[SPECUNAVAIL -1 2/2] 2 failed speculations (no speculative buffer available)\n"
		"[DBLERROR -1 1/1] 1 error in ERROR probe enabling\n"
		"[STKSTROVERFLOW -1 2/2] 2 jstack()/ustack() string table overflows\n");
	w.drops[0][DROP_PRINCIPAL] = 6;
	work(false); /* too early */
	CHECK(cstr(&w.drop_text), "");
	work(true);
	CHECK(cstr(&w.drop_text), "[PRINCIPAL 0 5/6] 5 drops on CPU 0\n");
}

static void test_faults(void)
{
	struct rec_error bad = {.fault = FAULT_BADADDR, .pc = 2, .addr = 0xdead};
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
		"error in dt_clause_1 for probe ID 2 (a:b:c:d): invalid address (0xdead) at BPF pc "
		"2 line 9\n"
		"error in dt_clause_1 for probe ID 2 (a:b:c:d): divide-by-zero at BPF pc 5 line "
		"7\n");
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
		"error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): couldn't "
		"freopen() \"/no/such/folder/x\": No such file or directory line 7\n");
	CHECK(action_text(ACT_FREOPEN, "/dev/full"), "");
	action_text(ACT_PRINTF, "lost\n");
	CHECK(cstr(&w.fault_text),
		"error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): couldn't "
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
	CHECK_TRUE(strstr(cstr(&w.fault_text), "(dtrace:::BEGIN): couldn't set option \"nonsense\" "
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
		"        int b:3 = 0x5\n"
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
		"\"error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): invalid address (0x1) at "
		"BPF "
		"pc 2\"}\n"
		"{\"type\":\"drop\",\"kind\":\"PRINCIPAL\",\"cpu\":0,\"drops\":2,\"total\":2,"
		"\"message\":\"2 drops on CPU 0\"}\n"
		"{\"type\":\"aggregation\",\"aggregation\":\"c\",\"function\":\"sum\",\"keys\":["
		"\"k\","
		"5],\"value\":-9223372036854775808,\"normal\":1}\n"
		"{\"type\":\"aggregation\",\"aggregation\":\"q\",\"function\":\"quantize\","
		"\"keys\":[],"
		"\"buckets\":[{\"lo\":2,\"hi\":4,\"count\":1}],\"normal\":1}\n");
	co_json_free(&j);
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
	if (fstat(in, &st) != 0 || (elf = elf_bytes(in, 0, (uint64_t)st.st_size, 1u << 30)) == NULL) {
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
	static void (*const tests[])(void) = {test_rows, test_flow, test_trace, test_tracemem,
		test_stack, test_printf_ints, test_printf_rest, test_quantize, test_lquantize,
		test_llquantize, test_packed, test_printa, test_agg_actions, test_percpu,
		test_aggmax, test_sorting, test_walk, test_drops, test_faults, test_files,
		test_setopt, test_terminal, test_print, test_json, test_symbols, test_anything,
		test_stop};
	unsigned i;

	srand(1);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tests[i]();
	reset("");
	co_free(w.co);
	cb_free(&key);
	args_begin();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
