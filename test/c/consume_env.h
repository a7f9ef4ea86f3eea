/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer alone: records, aggregations and drops come from a made-up origin, what is printed
 * is compared with texts written by hand from the layout rules. The consumer's files are part of
 * the program, so that its clock is the test's.
 */
#ifndef CONSUME_ENV_H
#define CONSUME_ENV_H

#define en_now fake_now

#include "consume/actions.c"
#include "consume/aggs.c"
#include "consume/consume.c"
#include "consume/datum.c"
#include "consume/dist.c"
#include "symbols/elf.c"
#include "consume/format.c"
#include "json/json.c"
#include "consume/print_value.c"
#include "consume/printa.c"
#include "symbols/symbols.c"
#include "consume/faults.c"
#include "consume/textbuf.c"
#include "consume/value.c"

static unsigned passed, failed;
static const char *section = "";

static inline void check_text(int line, const char *got, const char *want)
{
	if (strcmp(got, want) == 0) {
		passed++;
		return;
	}
	failed++;
	printf("%s, line %d:\n--- wanted\n%s\n--- got\n%s\n---\n", section, line, want, got);
}

static inline void check_true(int line, bool ok, const char *what)
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
	erltrace_probe_info_t probe[MAX_ECBS]; /* epid i + 1 */
	struct co *co;
	struct co_buf recs;   /* records waiting */
	struct co_buf deltas; /* aggregation data waiting */
	uint64_t drops[4][DROP_KINDS];
	unsigned nthreads;
	uint64_t now;
	struct co_buf text, drop_text, fault_text;
	int terminal;
} w;

static int fake_records(void *of, en_rec_cb cb, void *arg)
{
	size_t at = 0, len = w.recs.len;
	int rv = 0;

	(void)of;
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

static int fake_aggregations(void *of, en_agg_cb cb, void *arg)
{
	size_t at = 0;
	int rv = 0;

	(void)of;
	while (rv == 0 && at < w.deltas.len) {
		struct delta *d = (void *)(w.deltas.p + at);
		uint64_t *data = (uint64_t *)(d + 1);

		rv = cb(arg, d->thread, d->agg, data + d->words, d->keylen, data);
		at += sizeof(*d) + d->words * 8 + ((d->keylen + 7) & ~(size_t)7);
	}
	w.deltas.len = 0;
	return rv;
}

static uint64_t fake_drops(void *of, unsigned thread, enum en_drop kind)
{
	(void)of;
	return w.drops[thread][kind];
}

static unsigned fake_threads(void *of)
{
	(void)of;
	return w.nthreads;
}

static bool fake_news(void *of, char *buf, size_t size, unsigned *stream)
{
	(void)of, (void)buf, (void)size, (void)stream;
	return false;
}

static bool fake_at(void *of, uint32_t epid, struct co_at *at)
{
	(void)of;
	if (epid < 1 || epid > w.prog.nclauses)
		return false;
	*at = (struct co_at){.epid = epid, .clause = w.clauses[epid - 1], .probe = w.probe[epid - 1]};
	return true;
}

static int fake_address(void *of, uint64_t *addr)
{
	(void)of, (void)addr;
	return 0;
}

static struct sy *fake_symbols(void *of)
{
	(void)of;
	return sy_new(0, NULL);
}

uint64_t fake_now(void)
{
	return w.now += 1000000;
}

static uint64_t fake_wall(void *of, uint64_t mono)
{
	(void)of;
	return mono + 1000000000;
}

static const struct co_origin fake_origin = {
	.at = fake_at,
	.records = fake_records,
	.aggregations = fake_aggregations,
	.wall = fake_wall,
	.address = fake_address,
	.threads = fake_threads,
	.drops = fake_drops,
	.news = fake_news,
	.symbols = fake_symbols,
};

static inline void reset(const char *name)
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
	w.prog.strsize = 33;
	w.now = 1000000;
	w.co = co_new(&fake_origin, NULL, &w.prog, &w.opts, NULL);
}

static inline void opt(const char *name, const char *value)
{
	struct et_error e;

	et_err_clear(&e);
	w.opts.running = false;
	if (et_setopt(&w.opts, name, value, &e) != 0)
		check_true(__LINE__, false, e.text);
	w.opts.running = true;
}

/* A clause at a probe; its epid. */
static inline unsigned clause(const char *prov, const char *mod, const char *func, const char *name,
	struct prog_action *acts, unsigned nacts)
{
	unsigned i = w.prog.nclauses++;

	w.clauses[i] = &w.clause[i];
	w.clause[i] = (struct prog_clause){.actions = acts,
		.nactions = (uint16_t)nacts,
		.file = "t.d",
		.line = 7,
		.has_record = true};
	w.probe[i] = (erltrace_probe_info_t){
		.id = i + 1, .provider = prov, .module = mod, .function = func, .name = name};
	return i + 1;
}

static inline void push(unsigned epid, unsigned thread, uint8_t kind, const void *fixed, size_t len)
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

static inline int got_text(void *arg, const char *text, size_t len)
{
	(void)arg;
	cb_put(&w.text, text, len);
	return 0;
}

static inline int got_drop(void *arg, const erltrace_drop_t *d)
{
	(void)arg;
	cb_fmt(&w.drop_text, "[%s %d %llu/%llu] %s\n", d->kind, d->cpu,
		(unsigned long long)d->drops, (unsigned long long)d->total, d->message);
	return 0;
}

static inline int got_fault(void *arg, const erltrace_fault_t *f)
{
	(void)arg;
	cb_fmt(&w.fault_text, "%s line %d\n", f->message, f->line);
	return 0;
}

static inline const char *cstr(struct co_buf *b)
{
	cb_put(b, "", 1);
	b->len = 0;
	return b->p;
}

/* A round; what it printed. */
static inline const char *work(bool final)
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

static inline void args_begin(void)
{
	cb_free(&a.fixed);
	cb_free(&a.strs);
	memset(&a, 0, sizeof(a));
}

static inline struct prog_val *arg_raw(unsigned kind, const void *p, size_t size, bool sign)
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

static inline void arg_int(int64_t i, unsigned size, bool sign)
{
	arg_raw(V_INT, &i, size, sign);
}

static inline void arg_str(const char *s, size_t len)
{
	struct rec_str r = {.off = (uint32_t)a.strs.len, .len = (uint32_t)len};

	arg_raw(V_STR, &r, sizeof(r), false);
	a.fixups[a.nfix++] = a.vals[a.n - 1].off;
	cb_put(&a.strs, s, len);
}

/* The record: the fixed part, then the strings. */
static inline void args_push(unsigned epid, unsigned thread)
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
static inline struct d_fmt *parse(const char *s)
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

static __attribute__((unused)) struct prog_action acts[4];

/* ---- printf() ------------------------------------------------------------------------- */

static inline const char *print_args(const char *fmt)
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

static inline const char *pf_int(const char *fmt, int64_t i, unsigned size, bool sign)
{
	args_begin();
	arg_int(i, size, sign);
	return print_args(fmt);
}

static inline const char *pf_str(const char *fmt, const char *s)
{
	args_begin();
	arg_str(s, strlen(s));
	return print_args(fmt);
}

static inline const char *pf_raw(const char *fmt, unsigned kind, const void *p, size_t size)
{
	args_begin();
	arg_raw(kind, p, size, false);
	return print_args(fmt);
}

/* ---- aggregations --------------------------------------------------------------------- */

static __attribute__((unused)) struct prog_val keys2[2] = {
	{.kind = V_STR}, {.kind = V_INT, .size = 4, .is_signed = true}};

static inline unsigned add_agg(const char *name, unsigned fn, struct prog_val *keys, unsigned nkeys)
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

static inline void key_str(const char *s)
{
	uint32_t n = (uint32_t)strlen(s);

	cb_put(&key, &n, 4);
	cb_put(&key, s, n);
}

static inline void key_int(int64_t i)
{
	cb_put(&key, &i, 8);
}

/* The key gathered so far and data, as thread t gives them. */
static inline void give_data(unsigned t, unsigned agg, const uint64_t *data)
{
	struct delta d = {t, agg, key.len, aggfn_words(&w.agg[agg])};

	cb_put(&w.deltas, &d, sizeof(d));
	cb_put(&w.deltas, data, d.words * 8);
	cb_put(&w.deltas, key.p, key.len);
	cb_fill(&w.deltas, 0, -w.deltas.len & 7);
	key.len = 0;
}

static inline void give(unsigned agg, int64_t v)
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
static inline void give_dist(unsigned agg, int64_t v, int64_t incr)
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
static inline const char *agg_act(
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

static inline const char *printa1(const char *fmt, unsigned agg)
{
	uint16_t which = (uint16_t)agg;

	return agg_act(ACT_PRINTA, fmt, 1, &which, INT64_MIN);
}

static inline void agg_do(unsigned act, unsigned agg, int64_t num)
{
	uint16_t which = (uint16_t)agg;

	agg_act(act, NULL, 1, &which, num);
}

/* ---- the end ---------------------------------------------------------------------------- */

typedef void test_fn(void);

static inline int run_tests(test_fn *const *tests, size_t n)
{
	srand(1);
	for (size_t i = 0; i < n; i++)
		tests[i]();
	reset("");
	co_free(w.co);
	cb_free(&key);
	args_begin();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}

#endif
