/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the engine: probes and globs, strings, bad addresses. Rings and speculations are in
 * rings_test.c, faults, slots and life from new to free in life_test.c, aggregations and dynamic
 * variables in tables_test.c, the accounting of losses in drops_test.c.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine_env.h"

/* ---- probes --------------------------------------------------------------------------- */

static void test_globs(void)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} t[] = {{"", "x", true}, {"a", "a", true}, {"a", "b", false}, {"a*", "abc", true},
		{"*c", "abc", true}, {"a*c*e", "abcde", true}, {"a*d", "abcde", false},
		{"?", "a", true}, {"?", "", false}, {"[a-c]x", "bx", true},
		{"[!a-c]x", "bx", false}, {"[!a-c]x", "dx", true}, {"\\*", "*", true},
		{"\\*", "a", false}, {"[", "[", true}, {"[]]", "]", true}, {"**", "", true},
		{"a**b", "ab", true}, {"*-entry", "function-entry", true}, {"[a-", "[a-", true}};

	for (unsigned i = 0; i < sizeof(t) / sizeof(*t); i++)
		CHECK(en_glob(t[i].pattern, t[i].text) == t[i].match, "%s %s", t[i].pattern,
			t[i].text);
}

static int match(struct world *w, const char *prov, const char *name)
{
	struct d_pdesc d = {.prov = prov, .mod = "", .func = "", .name = name};

	et_err_clear(&w->error);
	return en_probe_match(w->en, &d, NULL, NULL, &w->error);
}

static void test_probes(void)
{
	struct world w;

	world_new(&w);
	CHECK(en_probe_find(w.en, "dtrace", "", "", "BEGIN")->id == 1);
	CHECK(en_probe_find(w.en, "dtrace", "", "", "END")->id == 2);
	CHECK(en_probe_find(w.en, "dtrace", "", "", "ERROR")->id == 3);
	CHECK(match(&w, "dtrace", "") == 3 && match(&w, "", "E*") == 2);
	CHECK(match(&w, "", "tick-5ms") == 1 && match(&w, "", "tick-5msec") == 1);
	CHECK(match(&w, "", "tick-1day") == 1 && match(&w, "prof*", "profile-123hz") == 1);
	CHECK(match(&w, "", "tick-5parsec") == 0 && match(&w, "", "tick-") == 0);
	CHECK(match(&w, "", "tick-0") == 0 && match(&w, "dtrace", "tick-3") == 0);
	CHECK(match(&w, "", "tick-199us") == 0 && match(&w, "", "tick-200us") == 1);
	CHECK(match(&w, "", "profile-5001") == 0 && match(&w, "", "profile-5000") == 1);
	CHECK(match(&w, "", "tick-99999999999999999999s") == 0);
	for (int i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		CHECK(en_probe_add(w.en, NULL, NULL, "many", "m", "f", name) ==
			en_probe_find(w.en, "many", "m", "f", name));
	}
	CHECK(match(&w, "many", "n?") == 10 && match(&w, "many", "*9") == 100);
	world_free(&w);
}

/* ---- strings -------------------------------------------------------------------------- */

static const char *text(uint64_t ref)
{
	const struct et_str *s = str_interned(ref);

	return ref == 0 ? "(null)" : s ? s->text : (const char *)(uintptr_t)ref;
}

#define STR(want, fn, ...)                                                                         \
	do {                                                                                       \
		uint64_t args[5] = {word(f), __VA_ARGS__};                                         \
		const char *got = text(rt_##fn(args[0], args[1], args[2], args[3], args[4]));      \
		CHECK(strcmp(got, want) == 0, #fn ": '%s', not '%s'", got, want);                  \
	} while (0)
#define NUM(want, fn, ...)                                                                         \
	do {                                                                                       \
		uint64_t args[5] = {word(f), __VA_ARGS__};                                         \
		int64_t got = (int64_t)rt_##fn(args[0], args[1], args[2], args[3], args[4]);       \
		CHECK(got == (want), #fn ": %lld", (long long)got);                                \
	} while (0)
/* An empty string is two bytes: the second tells it from a NULL one. */
#define S(x) word(x)
#define I(x) (uint64_t)(int64_t)(x)

static void strings(struct world *w, struct fire *f, void *arg)
{
	char longer[400];

	(void)w, (void)arg;
	memset(longer, 'x', sizeof(longer));
	longer[399] = '\0';
	STR("ab", strjoin, 0, S("a"), S("b"));
	CHECK(rt_strjoin(word(f), 0, S("a"), 0, 0) == 0 && f->fault == FAULT_BADADDR);
	f->fault = 0;
	CHECK(strlen(text(rt_strjoin(word(f), 0, S(longer), S("b"), 0))) == 255);
	CHECK(rt_strjoin(word(f), 4000, S("a"), S("b"), 0) == 0); /* no such slot */
	STR("llo", substr, 0, S("hello"), 2, INT64_MAX);
	STR("ll", substr, 0, S("hello"), I(-3), 2);
	STR("he", substr, 0, S("hello"), I(-7), 4);
	STR("ell", substr, 0, S("hello"), 1, I(-1));
	STR("", substr, 0, S("hello"), 5, 1);
	STR("", substr, 0, S("hello"), I(INT64_MIN), I(INT64_MIN));
	NUM(2, index, S("hello"), S("l"), 0);
	NUM(3, index, S("hello"), S("l"), 3);
	NUM(-1, index, S("hello"), S("l"), 4);
	NUM(5, index, S("hello"), S("\0"), 9);
	NUM(0, index, S("hello"), S("h"), I(-5));
	NUM(3, rindex, S("hello"), S("l"), INT64_MAX);
	NUM(2, rindex, S("hello"), S("l"), 2);
	NUM(-1, rindex, S("hello"), S("l"), I(-1));
	NUM(0, rindex, S("hello"), S("\0"), I(-1));
	STR("lo", strstr, 0, S("hello"), S("lo"));
	STR("(null)", strstr, 0, S("hello"), S("x"));
	STR("llo", strchr, 0, S("hello"), 'l');
	STR("lo", strrchr, 0, S("hello"), 'l');
	STR("(null)", strchr, 0, S("hello"), 'z');
	STR("a", strtok, 0, S(",a,,b c"), S(", "));
	STR("b", strtok, 0, 0, S(", "));
	STR("c", strtok, 0, 0, S(", "));
	STR("(null)", strtok, 0, 0, S(", "));
	STR("b", basename, 0, S("/a/b//"));
	STR("/", basename, 0, S("///"));
	STR(".", basename, 0, S("\0"));
	STR("/a", dirname, 0, S("/a/b/"));
	STR("/", dirname, 0, S("/a"));
	STR(".", dirname, 0, S("a"));
	STR("/", dirname, 0, S("/"));
	STR("/a/c", cleanpath, 0, S("/a//b/../c"));
	STR("/a/b", cleanpath, 0, S("/./a/./b"));
	STR("/x", cleanpath, 0, S("/../../x"));
	STR("abc", tolower, 0, S("AbC"));
	STR("ABC-1", toupper, 0, S("aBc-1"));
	STR("-10", lltostr, 0, I(-10), 10);
	STR("0xff", lltostr, 0, 255, 16);
	STR("0x0", lltostr, 0, 0, 16);
	STR("0", lltostr, 0, 0, 10);
	STR("017", lltostr, 0, 15, 8);
	STR("-9223372036854775808", lltostr, 0, I(INT64_MIN), 10);
	STR("1111", lltostr, 0, 15, 2);
	NUM(-42, strtoll, S("  -42x"), 10);
	NUM(255, strtoll, S("0xff"), 16);
	NUM(INT64_MIN, strtoll, S("-9223372036854775808"), 10);
	NUM(0, strtoll, S("12"), 99);
	CHECK(f->fault == FAULT_ILLOP);
	f->fault = 0;
	NUM(1, streq, S("a"), S("a"));
	NUM(0, streq, S("a"), 0);
	NUM(1, streq, 0, 0);
	CHECK((int64_t)rt_strcmp(word(f), S("a"), S("b"), 0, 0) < 0);
	CHECK((int64_t)rt_strcmp(word(f), S("ab"), S("a"), 0, 0) > 0);
	NUM(0, strcmp, S("\0"), 0);
	NUM(5, strlen, S("hello"));
	NUM('e', strat, S("hello"), 1);
	NUM(0, strat, S("hello"), 5);
	CHECK(f->fault == 0);
	STR("(null)", lltostr, 0, 5, 37);
	CHECK(f->fault == FAULT_ILLOP);
	f->fault = 0;
}

static void strings2(struct world *w, struct fire *f, void *arg)
{
	static const char doc[] =
		"{\"a\": {\"b\": [10, \"x\\n\\\"y\\u0041\", {\"c\":true}]}, \"d e\" : null}";
	static const uint8_t v4[] = {192, 168, 0, 1};
	static const uint8_t v6[] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1};
	static const uint8_t all0[16];
	static const uint8_t gap[16] = {0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	struct et_str *s = et_str_new("interned", 8);

	(void)w, (void)arg;
	STR("10", json, 0, S(doc), S("a.b[0]"));
	STR("x\\n\\\"y\\u0041", json, 0, S(doc), S("a.b[1]"));
	STR("true", json, 0, S(doc), S("a.b.2.c"));
	STR("true", json, 0, S(doc), S("a.b[2].c"));
	STR("null", json, 0, S(doc), S("d e"));
	STR("{\"c\":true}", json, 0, S(doc), S("a.b[2]"));
	STR("(null)", json, 0, S(doc), S("a.b[3]"));
	STR("(null)", json, 0, S(doc), S("a.x"));
	STR("(null)", json, 0, S(doc), S("a.b.c"));
	STR("(null)", json, 0, S("{\"a\""), S("a"));
	STR("(null)", json, 0, S("{\"a\": [1"), S("a"));
	STR("192.168.0.1", inet_ntoa, 0, S(v4));
	STR("192.168.0.1", inet_ntop, 0, 2, S(v4));
	STR("2001:db8::1", inet_ntop, 0, 10, S(v6));
	STR("2001:db8::1", inet_ntoa6, 0, S(v6));
	STR("10.0.0.1", inet_ntoa6, 0, S(mapped));
	STR("::ffff:10.0.0.1", inet_ntop, 0, 10, S(mapped));
	STR("::", inet_ntoa6, 0, S(all0));
	STR("1:0:2::", inet_ntoa6, 0, S(gap));
	STR("20:01:0d:b8:00:00", link_ntop, 0, 1, S(v6));
	CHECK(f->fault == 0);
	rt_inet_ntop(word(f), 0, 77, S(v6), 0);
	CHECK(f->fault == FAULT_ILLOP);
	f->fault = 0;
	f->arg[3] = word(s->text);
	f->strmask = 1 << 3;
	CHECK(rt_argstr(word(f), 0, 3, 0, 0) == str_ref(s)); /* the very same, no copy */
	f->strmask = 0;
	STR("interned", argstr, 0, 3);
	STR("int", copyinstr, 0, word(s->text), 3);
	STR("p", strvar, BI_PROBENAME);
	STR("test", strvar, BI_PROBEPROV);
	STR("inter", memstr, 0, word("inter\0x"), 7);
	et_str_free(s);
}

static void test_strings(void)
{
	struct world w;

	world_new(&w);
	if (world_go(&w)) {
		inside(&w, strings, NULL);
		inside(&w, strings2, NULL);
	}
	world_free(&w);
}

/* ---- long strings ---------------------------------------------------------------------- */

#define LONG 65536

static int64_t model(const char *s, int64_t n, const char *t, int64_t m, int64_t from, int by)
{
	for (int64_t i = from; i >= 0 && i <= n; i += by)
		if (i + m <= n && memcmp(s + i, t, (size_t)m) == 0)
			return i;
	return -1;
}

/* Of few letters, so that much of the text is nearly what is looked for. */
static void searches(struct world *w, struct fire *f, void *arg)
{
	uint64_t seed = 4711;
	char *s = arg, t[1100];

	(void)w;
	for (int i = 0; i < 300; i++) {
		int64_t n = 500 + (int64_t)(next_random(&seed) % 3000), from;
		int64_t m = 1 + (int64_t)(next_random(&seed) % (i % 2 ? 1000 : 12));

		for (int64_t k = 0; k < n; k++)
			s[k] = "ab"[next_random(&seed) % (i % 3 ? 2 : 16) == 0];
		s[n] = '\0';
		if (m > n)
			m = n;
		memcpy(t, s + next_random(&seed) % (uint64_t)(n - m + 1), (size_t)m);
		t[m] = '\0';
		if (i % 5 == 0)
			t[m - 1] = 'b';
		from = (int64_t)(next_random(&seed) % (uint64_t)n);
		f->work = 0;
		NUM(model(s, n, t, m, 0, 1), index, S(s), S(t), 0);
		NUM(model(s, n, t, m, from, 1), index, S(s), S(t), (uint64_t)from);
		NUM(model(s, n, t, m, n, -1), rindex, S(s), S(t), INT64_MAX);
		NUM(model(s, n, t, m, from, -1), rindex, S(s), S(t), (uint64_t)from);
	}
	CHECK(f->fault == 0);
}

/* What takes a time that grows with the square of a string's length takes seconds for these. */
static void linear(struct world *w, struct fire *f, void *arg)
{
	char *s = arg, *t = s + LONG;
	uint64_t from = clock_thread();

	(void)w;
	for (int i = 0; i < 20; i++) {
		memset(s, 'a', LONG - 1);
		memset(t, 'a', LONG / 2);
		s[LONG - 1] = t[LONG / 2] = '\0';
		f->work = 0;
		t[LONG / 4] = 'b';
		NUM(-1, index, S(s), S(t), 0);
		NUM(-1, rindex, S(s), S(t), INT64_MAX);
		memset(t, 'b', LONG / 2);
		CHECK(strlen(text(rt_strtok(word(f), 0, S(s), S(t), 0))) == LONG - 1);
		for (unsigned k = 0; k < 12000; k++) {
			memcpy(s + 5 * k, "{\"a\":", 5);
			memcpy(t + 2 * k, "a.", 2);
		}
		strcpy(s + 60000, "7}");
		strcpy(t + 23999, "");
		f->work = 0;
		STR("7", json, 0, S(s), S(t));
	}
	CHECK(clock_thread() - from < 2000000000, "%llu ms",
		(unsigned long long)(clock_thread() - from) / 1000000);
	CHECK(f->fault == 0);
}

/* The ninth is beyond the bound. */
static void too_much(struct world *w, struct fire *f, void *arg)
{
	char *s = arg;

	memset(s, 'a', LONG - 1);
	s[LONG - 1] = '\0';
	f->work = 0;
	for (int i = 0; i < 8; i++)
		NUM(-1, index, S(s), S("b"), 0);
	CHECK(f->fault == 0 && f->work <= w->opts.val[OPT_MAXWORK]);
	rt_index(word(f), S(s), S("b"), 0, 0);
	CHECK(f->fault == FAULT_WORK);
	f->fault = 0;
}

static void test_long_strings(void)
{
	char *two = malloc(2 * LONG);
	struct world w;

	world_new(&w);
	w.prog.strsize = LONG;
	w.prog.scratch_size = 2 * LONG;
	if (world_go(&w)) {
		inside(&w, searches, two);
		inside(&w, linear, two);
		inside(&w, too_much, two);
	}
	world_free(&w);
	free(two);
}

/* ---- memory that is not there --------------------------------------------------------- */

static void bad_addresses(struct world *w, struct fire *f, void *arg)
{
	char *page = arg;
	const uint64_t bad[] = {0, 1, 8, (uint64_t)-1, (uint64_t)-8, 1ULL << 63, 0xffff800000000000,
		0x0000800000000000, 0x1234567890abcdef, word(page + 4096)};
	uint64_t buf[8];
	char *str;

	(void)w;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		for (int size = 1; size <= 8; size *= 2) {
			f->fault = 0;
			CHECK(rt_load(word(f), bad[i], I(size), 0, 0) == 0);
			CHECK(f->fault == FAULT_BADADDR && f->fault_addr == bad[i], "%llx %d: %u",
				(unsigned long long)bad[i], size, f->fault);
		}
		f->fault = 0;
		rt_read(word(f), word(buf), 64, bad[i], 0);
		CHECK(f->fault == FAULT_BADADDR);
		f->fault = 0;
		CHECK(rt_copyinstr(word(f), 0, bad[i], UINT64_MAX, 0) == 0);
		CHECK(f->fault == FAULT_BADADDR);
		f->fault = 0;
		CHECK(rt_copyin(word(f), bad[i], 8, 0, 0) == 0 && f->fault == FAULT_BADADDR);
	}
	f->fault = 0;
	memcpy(page + 4090, "fivex", 6);
	str = (char *)(uintptr_t)rt_copyinstr(word(f), 0, word(page + 4090), UINT64_MAX, 0);
	CHECK(str != NULL && strcmp(str, "fivex") == 0 && f->fault == 0);
	page[4095] = 'y'; /* now it runs over the end */
	CHECK(rt_copyinstr(word(f), 0, word(page + 4090), UINT64_MAX, 0) == 0);
	CHECK(f->fault == FAULT_BADADDR && f->fault_addr == word(page + 4096));
	f->fault = 0;
	str = (char *)(uintptr_t)rt_copyinstr(word(f), 0, word(page + 4090), 6, 0);
	CHECK(str != NULL && strcmp(str, "fivexy") == 0 && f->fault == 0);
	CHECK(rt_load(word(f), word(page + 1), 4, 0, 0) == 0 && f->fault == FAULT_BADALIGN);
	f->fault = 0;
	page[8] = (char)0x80;
	CHECK(rt_load(word(f), word(page + 8), I(-1), 0, 0) == (uint64_t)-128);
	CHECK(rt_load(word(f), word(page + 8), 1, 0, 0) == 128 && f->fault == 0);
}

static void allocas(struct world *w, struct fire *f, void *arg)
{
	uint64_t p, q;

	(void)w, (void)arg;
	f->fault = 0;
	f->alloca_used = 0;
	p = rt_alloca(word(f), 100, 0, 0, 0);
	CHECK(p != 0 && p % 8 == 0 && f->fault == 0);
	rt_store(word(f), p + 8, 8, 0x1122334455667788, 0);
	CHECK(rt_load(word(f), p + 8, 4, 0, 0) == 0x55667788 && f->fault == 0);
	rt_bcopy(word(f), p + 8, p + 16, 8, 0);
	CHECK(rt_load(word(f), p + 16, 8, 0, 0) == 0x1122334455667788 && f->fault == 0);
	rt_store(word(f), p + 104, 8, 1, 0);
	CHECK(f->fault == FAULT_BADADDR);
	f->fault = 0;
	rt_store(word(f), word(&p), 8, 1, 0); /* not its memory */
	CHECK(f->fault == FAULT_BADADDR);
	f->fault = 0;
	rt_bcopy(word(f), 8, p, 8, 0);
	CHECK(f->fault == FAULT_BADADDR);
	f->fault = 0;
	q = rt_copyin(word(f), word("hello"), 6, 0, 0);
	CHECK(q != 0 && strcmp((char *)(uintptr_t)q, "hello") == 0);
	CHECK(rt_alloca(word(f), 1000, 0, 0, 0) == 0 && f->fault == FAULT_NOSCRATCH);
	f->fault = 0;
	CHECK(rt_alloca(word(f), UINT64_MAX, 0, 0, 0) == 0 && f->fault == FAULT_NOSCRATCH);
	f->fault = 0;
	rt_copyout(word(f), p, word(&q), 8, 0); /* not without -w */
	CHECK(f->fault == FAULT_ILLOP);
	f->fault = 0;
	rt_destroy(word(f), ACT_RAISE, SIGKILL, 0, 0);
	CHECK(f->fault == FAULT_ILLOP);
	f->fault = 0;
}

static volatile sig_atomic_t passed_on;

static void my_handler(int sig)
{
	passed_on = sig;
}

static void test_memory(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction mine = {.sa_handler = my_handler}, old, now;
	struct world w;

	munmap(page + 4096, 4096);
	sigaction(SIGSEGV, &mine, &old);
	world_new(&w);
	add_call(&w, "nothing", RT_alloca, 8); /* a program that reads memory */
	if (world_go(&w)) {
		inside(&w, bad_addresses, page);
		inside(&w, allocas, NULL);
		raise(SIGSEGV); /* not ours: goes to who was there before */
		CHECK(passed_on == SIGSEGV);
	}
	world_free(&w);
	sigaction(SIGSEGV, &old, &now);
	CHECK(now.sa_handler == my_handler); /* put back */
	munmap(page, 4096);
}

static void *read_blocked(void *arg)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigset_t all;

	munmap(page + 4096, 4096);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	inside(arg, bad_addresses, page);
	munmap(page, 4096);
	return NULL;
}

/* A blocked SIGSEGV kills whatever handler there is. */
static void test_faults_blocked(void)
{
	struct world w;
	pthread_t t;

	world_new(&w);
	add_call(&w, "nothing", RT_alloca, 8);
	if (world_go(&w)) {
		pthread_create(&t, NULL, read_blocked, &w);
		pthread_join(t, NULL);
	}
	world_free(&w);
}

static struct sigaction below;

/* Of somebody who takes all faults for crashes; but one that was sent is passed on. */
static void crash_handler(int sig, siginfo_t *info, void *context)
{
	if (info->si_code > 0)
		_exit(3);
	below.sa_sigaction(sig, info, context);
}

/* A handler that came on top of ours: the next engine is on top again, and nothing goes round. */
static void test_handler_on_top(void)
{
	struct sigaction mine = {.sa_handler = my_handler}, old;
	struct sigaction crash = {.sa_sigaction = crash_handler, .sa_flags = SA_SIGINFO};
	struct world w;

	sigaction(SIGSEGV, &mine, &old);
	for (int i = 0; i < 8; i++) {
		char *page = mmap(
			NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(page + 4096, 4096);
		world_new(&w);
		add_call(&w, "nothing", RT_alloca, 8);
		if (world_go(&w)) {
			if (i == 0)
				sigaction(SIGSEGV, &crash, &below);
			else
				inside(&w, bad_addresses, page);
			passed_on = 0;
			raise(SIGSEGV);
			CHECK(passed_on == SIGSEGV);
		}
		world_free(&w);
		munmap(page, 4096);
	}
	sigaction(SIGSEGV, &below, NULL); /* it goes, and so do we with the next one */
	world_new(&w);
	add_call(&w, "nothing", RT_alloca, 8);
	world_go(&w);
	world_free(&w);
	sigaction(SIGSEGV, &old, &mine);
	CHECK(mine.sa_handler == my_handler);
}

/* One that takes all faults for crashes, and passes none on. */
static void deadly_handler(int sig)
{
	(void)sig;
	_exit(4);
}

/*
 * Somebody installs a handler while a script runs, again and again: when it has been looked at,
 * bad reads are bad reads. In a child, as handlers do not come back down.
 */
static int handlers_come(void)
{
	struct sigaction deadly = {.sa_handler = deadly_handler};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct world w;

	munmap(page + 4096, 4096);
	world_new(&w);
	add_call(&w, "nothing", RT_alloca, 8);
	if (!world_go(&w))
		return 1;
	for (int i = 0; i < 6; i++) { /* more than we go on top of */
		sigaction(i % 2 ? SIGBUS : SIGSEGV, &deadly, NULL);
		sigaction(SIGSEGV, &deadly, NULL);
		en_clean(w.en);
		inside(&w, bad_addresses, page);
		en_look_at_handler();
		inside(&w, bad_addresses, page);
	}
	world_free(&w);
	return failed != 0;
}

static void test_handler_while_running(void)
{
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(handlers_come());
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
		"%x", (unsigned)status);
}

static void copy_sizes(struct world *w, struct fire *f, void *arg)
{
	char to[8] = "abcdefg", from[8] = "ABCDEFG";

	(void)w, (void)arg;
	rt_copy(word(f), word(to), 8, word(from), 3);
	CHECK(memcmp(to, "ABCdefg", 8) == 0);
	rt_copy(word(f), word(to), 1, word("xyz"), 3);
	CHECK(memcmp(to, "xBCdefg", 8) == 0);
}

/* The verifier looks at both sizes of rt_copy, each by itself. */
static void test_copy_sizes(void)
{
	struct world w;

	world_new(&w);
	if (world_go(&w))
		inside(&w, copy_sizes, NULL);
	world_free(&w);
}

int main(void)
{
	test_globs();
	test_probes();
	test_strings();
	test_long_strings();
	test_memory();
	test_faults_blocked();
	test_handler_on_top();
	test_handler_while_running();
	test_copy_sizes();
	return finish();
}
