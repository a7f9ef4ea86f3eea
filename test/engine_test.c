/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the engine: probes and globs, strings, bad addresses, rings of the three policies,
 * speculations, faults and ERROR, slots of threads that come and go, life from new to free.
 * Aggregations and dynamic variables are in tables_test.c, the accounting of losses in
 * drops_test.c.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine_env.h"

#ifdef __SANITIZE_ADDRESS__
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

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
	CHECK(match(&w, "", "tick-199us") == -1 && strstr(w.error.text, "200 microseconds"));
	CHECK(match(&w, "", "profile-5001") == -1 && match(&w, "", "tick-200us") == 1);
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
#define S(x) word(x)
#define I(x) (uint64_t)(int64_t)(x)

static void strings(struct world *w, struct fire *f, void *arg)
{
	char longer[400];

	(void)w, (void)arg;
	memset(longer, 'x', sizeof(longer));
	longer[399] = '\0';
	STR("ab", strjoin, 0, S("a"), S("b"));
	STR("a", strjoin, 0, S("a"), 0);
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
	NUM(5, index, S("hello"), S(""), 9);
	NUM(0, index, S("hello"), S("h"), I(-5));
	NUM(3, rindex, S("hello"), S("l"), INT64_MAX);
	NUM(2, rindex, S("hello"), S("l"), 2);
	NUM(-1, rindex, S("hello"), S("l"), I(-1));
	NUM(0, rindex, S("hello"), S(""), I(-1));
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
	STR(".", basename, 0, S(""));
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
	NUM(1, streq, S("a"), S("a"));
	NUM(0, streq, S("a"), 0);
	NUM(1, streq, 0, 0);
	CHECK((int64_t)rt_strcmp(word(f), S("a"), S("b"), 0, 0) < 0);
	CHECK((int64_t)rt_strcmp(word(f), S("ab"), S("a"), 0, 0) > 0);
	NUM(0, strcmp, S(""), 0);
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
	STR("x\n\"yA", json, 0, S(doc), S("a.b[1]"));
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
	STR("::ffff:10.0.0.1", inet_ntoa6, 0, S(mapped));
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

/* ---- rings ---------------------------------------------------------------------------- */

struct seen {
	uint64_t n, first, last, disorder, errors;
	uint32_t fault, epid;
	uint64_t stop_after;
};

static int see(void *arg, unsigned thread, const struct rec_head *rec)
{
	struct seen *s = arg;
	uint64_t v;

	(void)thread;
	if (rec->kind == REC_ERROR) {
		const struct rec_error *e = (const struct rec_error *)(const void *)(rec + 1);

		s->errors++;
		s->fault = e->fault;
		s->epid = rec->epid;
		return 0;
	}
	memcpy(&v, rec + 1, 8);
	if (s->n == 0)
		s->first = v;
	s->disorder += s->n > 0 && v <= s->last;
	s->last = v;
	s->n++;
	return s->stop_after != 0 && s->n % s->stop_after == 0;
}

static void test_switch(void)
{
	struct seen s = {0};
	struct world w;
	uint64_t i = 1;

	world_new(&w);
	world_opt(&w, "bufsize", "1080");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		for (; i <= 100; i++)
			fire1(&w, i);
		CHECK(en_drops(w.en, 0, DROP_PRINCIPAL) > 0);
		en_consume(w.en, see, &s);
		CHECK(s.n + en_drops(w.en, 0, DROP_PRINCIPAL) == 100 && s.first == 1);
		CHECK(s.last == s.n && s.disorder == 0); /* the oldest are kept */
		for (int k = 0; k < 10000; k++) {	 /* round and round */
			fire1(&w, i++);
			en_consume(w.en, see, &s);
		}
		CHECK(s.n + en_drops(w.en, 0, DROP_PRINCIPAL) == 10100 && s.last == i - 1);
		s.stop_after = 1;
		fire1(&w, i++);
		fire1(&w, i++);
		CHECK(en_consume(w.en, see, &s) == 1 && s.last == i - 2);
		CHECK(en_consume(w.en, see, &s) == 1 && s.last == i - 1);
		CHECK(en_consume(w.en, see, &s) == 0 && s.disorder == 0);
	}
	world_free(&w);
}

static void test_ring(void)
{
	struct seen s = {0};
	struct world w;

	world_new(&w);
	world_opt(&w, "bufsize", "1080");
	world_opt(&w, "bufpolicy", "ring");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		for (uint64_t i = 1; i <= 1000; i++)
			fire1(&w, i);
		en_consume(w.en, see, &s);
		CHECK(s.n == 0); /* not while it runs */
		en_stop(w.en);
		en_consume(w.en, see, &s);
		CHECK(s.n >= 1080 / 40 && s.n <= 1080 / 32 && s.last == 1000 && s.disorder == 0);
		CHECK(s.first == 1001 - s.n && en_drops(w.en, 0, DROP_PRINCIPAL) == 0);
	}
	world_free(&w);
}

static void test_fill(void)
{
	struct seen s = {0};
	struct world w;

	world_new(&w);
	world_opt(&w, "bufsize", "1080");
	world_opt(&w, "bufpolicy", "fill");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		fire1(&w, 1);
		CHECK(!en_filled(w.en));
		for (uint64_t i = 2; i <= 1000; i++)
			fire1(&w, i);
		CHECK(en_filled(w.en));
		en_stop(w.en);
		en_consume(w.en, see, &s);
		CHECK(s.n == 1080 / 32 && s.first == 1 && s.last == s.n);
		CHECK(s.n + en_drops(w.en, 0, DROP_PRINCIPAL) == 1000);
	}
	world_free(&w);
}

/* A record longer than half the ring, and one longer than all of it. */
static void test_long_records(void)
{
	struct seen s = {0};
	struct world w;
	struct prog_clause *c;

	world_new(&w);
	world_opt(&w, "bufsize", "1024");
	w.prog.rec_size = 4096;
	c = add_recorder(&w, "p");
	c->rec_size = 600;
	if (world_go(&w)) {
		for (uint64_t i = 1; i <= 100; i++) {
			fire1(&w, i);
			en_consume(w.en, see, &s);
		}
		CHECK(s.n >= 50 && s.n + en_drops(w.en, 0, DROP_PRINCIPAL) == 100);
	}
	world_free(&w);
	memset(&s, 0, sizeof(s));
	world_new(&w);
	world_opt(&w, "bufsize", "1024");
	w.prog.rec_size = 4096;
	c = add_recorder(&w, "p");
	c->rec_size = 2000;
	if (world_go(&w)) {
		fire1(&w, 1);
		en_consume(w.en, see, &s);
		CHECK(s.n == 0 && en_drops(w.en, 0, DROP_PRINCIPAL) == 1);
	}
	world_free(&w);
}

/* ---- speculations --------------------------------------------------------------------- */

static uint32_t spec_id;

static void do_speculation(struct world *w, struct fire *f, void *arg)
{
	(void)w, (void)arg;
	spec_id = (uint32_t)rt_speculation(word(f), 0, 0, 0, 0);
}

/* What a clause "speculate(id); trace(v)" does. */
static void do_record(struct world *w, struct fire *f, void *arg)
{
	uint64_t v = word(arg);
	struct prog_clause c = {.rec_size = 8};
	const struct prog_clause *was = f->clause;

	(void)w;
	f->clause = &c;
	rt_speculate(word(f), spec_id, 0, 0, 0);
	memcpy((void *)(uintptr_t)f->rec, &v, 8);
	rt_rec_end(word(f), 0, 0, 0, 0);
	f->clause = was;
}

static void do_commit(struct world *w, struct fire *f, void *arg)
{
	(void)w;
	if (arg)
		rt_commit(word(f), spec_id, 0, 0, 0);
	else
		rt_discard(word(f), spec_id, 0, 0, 0);
	rt_commit(word(f), spec_id, 0, 0, 0); /* once more changes nothing */
	rt_discard(word(f), 0, 0, 0, 0);
	rt_commit(word(f), 99, 0, 0, 0);
}

static void *record_elsewhere(void *arg)
{
	for (uint64_t i = 11; i <= 20; i++)
		inside(arg, do_record, (void *)(uintptr_t)i);
	return NULL;
}

static void test_speculation(void)
{
	struct seen s = {.stop_after = 7}; /* stops in the middle, and goes on */
	pthread_t t;
	struct world w;

	world_new(&w);
	world_opt(&w, "specsize", "64k");
	w.prog.rec_size = 64;
	add_recorder(&w, "p");
	add_call(&w, "nothing", RT_speculation, 0);
	if (world_go(&w)) {
		for (int round = 0; round < 50; round++) {
			uint64_t before = s.n, failed_so_far;

			inside(&w, do_speculation, NULL);
			CHECK(spec_id == 1);
			failed_so_far = en_drops(w.en, 0, DROP_SPECUNAVAIL);
			inside(&w, do_speculation, NULL);
			CHECK(spec_id == 0);
			CHECK(en_drops(w.en, 0, DROP_SPECUNAVAIL) == failed_so_far + 1);
			inside(&w, do_record, (void *)99); /* into none: lost */
			spec_id = 1;
			for (uint64_t i = 1; i <= 10; i++)
				inside(&w, do_record, (void *)i);
			pthread_create(&t, NULL, record_elsewhere, &w);
			pthread_join(t, NULL);
			while (en_consume(w.en, see, &s) != 0)
				;
			/* only what the plain clause left of these firings: arg0 is 0 */
			before = s.n;
			s.last = s.disorder = 0;
			inside(&w, do_commit, round % 2 ? (void *)1 : NULL);
			while (en_consume(w.en, see, &s) != 0)
				;
			CHECK(s.n - before == (round % 2 ? 21 : 1), "%d",
				(int)(s.n - before)); /* and the committing firing's own */
			inside(&w, do_speculation, NULL);
			CHECK(spec_id == 0 && en_drops(w.en, 0, DROP_SPECBUSY) > 0);
			for (int i = 0; i < 3; i++)
				en_clean(w.en);
		}
		CHECK(en_drops(w.en, 0, DROP_SPEC) == 0);
		inside(&w, do_speculation, NULL);
		for (uint64_t i = 1; i <= 10000; i++)
			inside(&w, do_record, (void *)i);
		CHECK(en_drops(w.en, 0, DROP_SPEC) > 0);
	}
	world_free(&w);
}

/* Policy ring: who writes over a commit frees the speculation. */
static void test_ring_forgets_commit(void)
{
	struct world w;

	world_new(&w);
	world_opt(&w, "bufsize", "1k");
	world_opt(&w, "bufpolicy", "ring");
	add_recorder(&w, "p");
	add_call(&w, "nothing", RT_speculation, 0);
	if (world_go(&w)) {
		for (int round = 0; round < 20; round++) {
			inside(&w, do_speculation, NULL);
			CHECK(spec_id == 1, "round %d", round);
			inside(&w, do_record, (void *)7);
			inside(&w, do_commit, (void *)1);
			for (int i = 0; i < 100; i++)
				fire1(&w, 1);
			for (int i = 0; i < 3; i++)
				en_clean(w.en);
		}
	}
	world_free(&w);
}

/* Many threads speculate at once: of a committed one all records come, of others none. */
#define GROUPS 3000
static uint8_t group_ended[GROUPS], group_seen[GROUPS]; /* 1: committed, 2: discarded */
static _Atomic unsigned next_group, speculators;

static void speculate_once(struct world *w, struct fire *f, void *arg)
{
	struct prog_clause c = {.rec_size = 8};
	const struct prog_clause *was = f->clause;
	uint64_t group = word(arg), id = rt_speculation(word(f), 0, 0, 0, 0);

	(void)w;
	if (id == 0)
		return;
	f->clause = &c;
	for (int i = 0; i < 3; i++) {
		f->spec = 0;
		f->rec_tail = 0;
		rt_speculate(word(f), id, 0, 0, 0);
		memcpy((void *)(uintptr_t)f->rec, &group, 8);
		rt_rec_end(word(f), 0, 0, 0, 0);
	}
	f->spec = 0;
	f->clause = was;
	group_ended[group] = group % 3 ? 1 : 2;
	if (group % 3)
		rt_commit(word(f), id, 0, 0, 0);
	else
		rt_discard(word(f), id, 0, 0, 0);
}

static void *speculate_often(void *arg)
{
	unsigned group;

	while ((group = atomic_fetch_add(&next_group, 1)) < GROUPS)
		do {
			inside(arg, speculate_once, (void *)(uintptr_t)group);
			usleep(10); /* until there is one free */
		} while (group_ended[group] == 0);
	atomic_fetch_sub(&speculators, 1);
	return NULL;
}

static int see_group(void *arg, unsigned thread, const struct rec_head *rec)
{
	uint64_t group;

	(void)arg, (void)thread;
	memcpy(&group, rec + 1, 8);
	if (CHECK(group < GROUPS && rec->kind == REC_DATA))
		group_seen[group]++;
	return 0;
}

static void test_speculation_threads(void)
{
	unsigned committed = 0, wrong = 0;
	pthread_t t[4];
	struct world w;

	world_new(&w);
	world_opt(&w, "nspec", "8");
	world_opt(&w, "specsize", "64k");
	add_call(&w, "nothing", RT_speculation, 0);
	if (world_go(&w)) {
		atomic_store(&speculators, 4);
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, speculate_often, &w);
		while (atomic_load(&speculators) > 0) {
			en_consume(w.en, see_group, NULL);
			en_clean(w.en);
		}
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		en_stop(w.en);
		en_consume(w.en, see_group, NULL);
		for (unsigned i = 0; i < GROUPS; i++) {
			committed += group_ended[i] == 1;
			wrong += group_seen[i] != (group_ended[i] == 1 ? 3 : 0);
		}
		CHECK(wrong == 0 && committed == GROUPS / 3 * 2, "%u wrong of %u", wrong, committed);
		CHECK(en_drops(w.en, 0, DROP_SPEC) == 0);
	}
	world_free(&w);
}

/* ---- faults --------------------------------------------------------------------------- */

/* *(int *)arg0, and rt_fault as the code generator calls it. */
static struct prog_clause *add_faulting(struct world *w, const char *name)
{
	struct ebpf_asm *a = code();
	int bad = ebpf_label(a), end = ebpf_label(a);

	ebpf_emit(a, EBPF_LDXDW, R2, R6, offsetof(struct fire, arg[0]), 0);
	ebpf_emit(a, EBPF_MOV64_IMM, R3, 0, 0, 4);
	call(a, RT_load);
	ebpf_emit(a, EBPF_LDXW, R1, R6, offsetof(struct fire, fault), 0);
	ebpf_jump(a, EBPF_JNE_IMM, R1, 0, 0, bad);
	call(a, RT_rec_end);
	ebpf_jump(a, EBPF_JA, 0, 0, 0, end);
	ebpf_place(a, bad);
	ebpf_emit(a, EBPF_MOV64_IMM, R2, 0, 0, 0);
	ebpf_emit(a, EBPF_MOV64_IMM, R3, 0, 0, 3);
	call(a, RT_fault);
	ebpf_place(a, end);
	return add_clause(w, name, a);
}

static void test_faults(bool jit)
{
	struct seen s = {0};
	struct world w;
	struct ebpf_asm *a;

	world_new(&w);
	world_opt(&w, "jit", jit ? "on" : "off");
	add_faulting(&w, "p")->has_record = true;
	add_recorder(&w, "p"); /* the clauses behind go on */
	/* ERROR { record arg4 * 1000 + arg3; } and one that faults itself */
	a = code();
	ebpf_emit(a, EBPF_LDXDW, R2, R6, offsetof(struct fire, arg[4]), 0);
	ebpf_emit(a, EBPF_MUL64_IMM, R2, 0, 0, 1000);
	ebpf_emit(a, EBPF_LDXDW, R3, R6, offsetof(struct fire, arg[3]), 0);
	ebpf_emit(a, EBPF_ADD64_REG, R2, R3, 0, 0);
	ebpf_emit(a, EBPF_LDXDW, R3, R6, offsetof(struct fire, rec), 0);
	ebpf_emit(a, EBPF_STXDW, R3, R2, 0, 0);
	call(a, RT_rec_end);
	add_clause(&w, "ERROR", a)->rec_size = 8;
	add_faulting(&w, "ERROR");
	if (world_go(&w)) {
		CHECK(en_jitted(w.en) == (jit && ebpf_jit_available()));
		fire1(&w, 0);
		en_consume(w.en, see, &s);
		CHECK(s.errors == 1 && s.fault == FAULT_BADADDR && s.epid == 2, "%u", s.epid);
		CHECK(s.n == 2 && s.first == 1003 && s.last == 0);
		CHECK(en_drops(w.en, 0, DROP_DBLERROR) == 1);
		fire1(&w, (uint64_t)-1);
		CHECK(en_drops(w.en, 0, DROP_DBLERROR) == 2);
		memset(&s, 0, sizeof(s));
		fire1(&w, word(&w) + 1);
		en_consume(w.en, see, &s);
		CHECK(s.errors == 2 && s.fault == FAULT_BADALIGN);
	}
	world_free(&w);
}

/* ---- slots ---------------------------------------------------------------------------- */

static void *fire_once(void *arg)
{
	fire1(arg, 7);
	return NULL;
}

static pthread_barrier_t together;

static void *fire_and_stay(void *arg)
{
	fire1(arg, 7);
	pthread_barrier_wait(&together);
	return NULL;
}

static void test_slots(void)
{
	struct seen s = {0};
	pthread_t t[8];
	struct world w;

	world_new(&w);
	world_opt(&w, "maxthreads", "4");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		for (int i = 0; i < 200; i++) { /* one after the other they share a slot */
			pthread_create(&t[0], NULL, fire_once, &w);
			pthread_join(t[0], NULL);
		}
		CHECK(en_nthreads(w.en) == 1 && en_drops(w.en, 0, DROP_THREADS) == 0, "%u",
			en_nthreads(w.en));
		en_consume(w.en, see, &s);
		CHECK(s.n == 200);
		pthread_barrier_init(&together, NULL, 8);
		for (int i = 0; i < 8; i++)
			pthread_create(&t[i], NULL, fire_and_stay, &w);
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
		pthread_barrier_destroy(&together);
		en_consume(w.en, see, &s);
		CHECK(s.n == 204 && en_drops(w.en, 0, DROP_THREADS) == 4);
		fire1(&w, 1); /* they are gone: there is room again */
		en_consume(w.en, see, &s);
		CHECK(s.n == 205 && en_fired(w.en) == 205);
	}
	world_free(&w);
}

static sigjmp_buf away;

static void jump_out(struct world *w, struct fire *f, void *arg)
{
	(void)w, (void)f, (void)arg;
	siglongjmp(away, 1);
}

static void *leave_half_way(void *arg)
{
	if (sigsetjmp(away, 0) == 0)
		inside(arg, jump_out, NULL);
	return NULL;
}

/* A thread that ended inside of a firing leaves a slot that others can use. */
static void test_slot_left_firing(void)
{
	struct seen s = {0};
	pthread_t t;
	struct world w;

	world_new(&w);
	world_opt(&w, "maxthreads", "1");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		pthread_create(&t, NULL, leave_half_way, &w);
		pthread_join(t, NULL);
		fire1(&w, 1);
		en_stop(w.en);
		en_consume(w.en, see, &s);
		CHECK(s.n == 1);
	}
	world_free(&w);
}

static struct en_thread *first_slot;

static void *keep_slot(void *arg)
{
	struct world *w = arg;

	fire1(w, 1);
	first_slot = en_slot_get(w->en);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	return NULL;
}

/* END comes even when others have all slots. */
static void test_end_without_slot(void)
{
	struct seen s = {0};
	pthread_t t;
	struct world w;

	world_new(&w);
	world_opt(&w, "maxthreads", "1");
	add_recorder(&w, "p");
	add_recorder(&w, "END");
	if (world_go(&w)) {
		pthread_barrier_init(&together, NULL, 2);
		pthread_create(&t, NULL, keep_slot, &w);
		pthread_barrier_wait(&together);
		fire1(&w, 8);
		en_stop(w.en);
		pthread_barrier_wait(&together);
		pthread_join(t, NULL);
		pthread_barrier_destroy(&together);
		en_consume(w.en, see, &s);
		CHECK(s.n == 2 && s.first == 1, "%d records", (int)s.n);
		CHECK(en_drops(w.en, 0, DROP_THREADS) == 1);
	}
	world_free(&w);
}

/* In a child of its own: whether a living thread keeps its slot where tgkill is refused. */
static bool keeps_slot(void)
{
	struct sock_filter refuse[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {4, refuse};
	static struct world w;
	pthread_t t;
	bool kept;

	world_new(&w);
	add_recorder(&w, "p");
	if (!world_go(&w))
		return false;
	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&t, NULL, keep_slot, &w);
	pthread_barrier_wait(&together);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return true; /* cannot be tried here */
	for (int i = 0; i < 20; i++)
		en_clean(w.en);
	fire1(&w, 1);
	kept = en_slot_get(w.en) != first_slot;
	pthread_barrier_wait(&together);
	pthread_join(t, NULL);
	return kept;
}

static void test_slot_in_a_sandbox(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(keeps_slot() ? 0 : 1);
	waitpid(child, &status, 0);
	CHECK(status == 0, "status %x", status);
}

static _Atomic int held_up;

static void hold_up(struct world *w, struct fire *f, void *arg)
{
	(void)w, (void)arg;
	held_up = 1;
	while (held_up == 1)
		usleep(1000);
	rt_rand(word(f), 0, 0, 0, 0); /* its slot is still there */
}

static void *hold_up_firing(void *arg)
{
	inside(arg, hold_up, NULL);
	return NULL;
}

/* What a firing that does not end looks at is not freed. */
static void test_free_while_held_up(void)
{
	static struct world w; /* stays */
	pthread_t t;

	world_new(&w);
	add_recorder(&w, "p");
	if (!world_go(&w))
		return;
	pthread_create(&t, NULL, hold_up_firing, &w);
	while (held_up == 0)
		usleep(1000);
	CHECK(!en_free(w.en));
	held_up = 2;
	pthread_join(t, NULL);
}

static void fire_again(struct world *w, struct fire *f, void *arg)
{
	(void)f, (void)arg;
	fire1(w, 3);
}

static void test_recursion(void)
{
	struct seen s = {0};
	struct world w;

	world_new(&w);
	add_recorder(&w, "p");
	if (world_go(&w)) {
		inside(&w, fire_again, NULL);
		en_consume(w.en, see, &s);
		CHECK(s.n == 1 && s.last == 0 && en_fired(w.en) == 1);
	}
	world_free(&w);
}

/* ---- life ----------------------------------------------------------------------------- */

static void test_exit(bool in_begin)
{
	struct seen s = {0};
	struct world w;
	int code_ = -1;

	world_new(&w);
	add_call(&w, in_begin ? "BEGIN" : "p", RT_exit, 3);
	add_recorder(&w, in_begin ? "BEGIN" : "p"); /* behind exit(): not run */
	add_recorder(&w, "END");
	add_recorder(&w, "tick-1ms");
	if (world_go(&w)) {
		fire1(&w, 5);
		CHECK(en_exited(w.en, &code_) && code_ == 3);
		fire1(&w, 6);
		usleep(5000);
		CHECK(en_state(w.en) == EN_RUNNING);
		en_stop(w.en);
		CHECK(en_state(w.en) == EN_STOPPED);
		fire1(&w, 7);
		en_consume(w.en, see, &s);
		CHECK(s.n >= 1 && (!in_begin || s.n == 1));
		CHECK(en_go(w.en, &w.prog, &w.error) == -1);
	}
	world_free(&w);
}

static void test_destructive(void)
{
	struct world w;

	world_new(&w);
	add_call(&w, "p", RT_rand, 0)->destructive = true;
	CHECK(en_go(w.en, &w.prog, &w.error) == -1);
	CHECK(strcmp(w.error.tag, "ET_DESTRUCTIVE") == 0 && strstr(w.error.text, "-w"));
	et_err_clear(&w.error);
	world_opt(&w, "destructive", NULL);
	world_go(&w);
	world_free(&w);
}

static void test_ticks(void)
{
	struct seen s = {0};
	struct world w;

	world_new(&w);
	add_recorder(&w, "tick-5ms");
	add_recorder(&w, "profile-100");
	if (world_go(&w)) {
		usleep(300000);
		en_stop(w.en);
		en_consume(w.en, see, &s);
		/* 60 ticks, and 30 for each CPU; a busy machine may miss some */
		CHECK(s.n > 30 && s.n < 61 + 31 * 64, "%d", (int)s.n);
	}
	world_free(&w);
}

static void test_clock(void)
{
	uint64_t before = 0, worst = 0;
	struct timespec ts;
	struct world w;

	world_new(&w);
	add_recorder(&w, "p");
	world_go(&w);
	for (int i = 0; i < 300000; i++) {
		uint64_t now = en_now();

		CHECK(now >= before);
		before = now;
		if (i % 1000 == 0) {
			uint64_t t;

			en_clean(w.en);
			now = en_now();
			clock_gettime(CLOCK_MONOTONIC, &ts);
			t = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
			if (i > 0 && t < now && now - t > worst)
				worst = now - t;
		}
	}
	CHECK(worst < 1000000, "ahead by %llu ns", (unsigned long long)worst);
	clock_gettime(CLOCK_REALTIME, &ts);
	CHECK(llabs((int64_t)(en_wall(en_now()) - (uint64_t)ts.tv_sec * 1000000000)) < 2000000000);
	world_free(&w);
}

/* Anything that leaks shows in the resident size, or under ASan. */
static long resident(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f != NULL) {
		if (fscanf(f, "%*d %ld", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages;
}

static void test_many_lives(void)
{
	long before = 0;

	for (int i = 0; i < 10000; i++) {
		struct world w;

		world_new(&w);
		add_recorder(&w, "p");
		add_var(&w, SC_SELF, &type_string, "si");
		add_agg(&w, AGG_QUANTIZE, "s", 0, 0, 0, 0);
		if (i % 100 == 0)
			add_recorder(&w, "tick-1ms");
		if (en_go(w.en, &w.prog, &w.error) < 0)
			CHECK(false, "%s", w.error.text);
		fire1(&w, 1);
		if (i % 2)
			en_stop(w.en);
		world_free(&w);
		if (i == 1000)
			before = resident();
	}
	/* ASan keeps freed memory for a while, and finds leaks itself */
	CHECK(WITH_ASAN || resident() < before + 1000, "%ld pages more", resident() - before);
}

int main(void)
{
	test_globs();
	test_probes();
	test_strings();
	test_memory();
	test_faults_blocked();
	test_handler_on_top();
	test_copy_sizes();
	test_switch();
	test_ring();
	test_fill();
	test_long_records();
	test_speculation();
	test_ring_forgets_commit();
	test_speculation_threads();
	test_faults(true);
	test_faults(false);
	test_slots();
	test_end_without_slot();
	test_slot_left_firing();
	test_slot_in_a_sandbox();
	test_free_while_held_up();
	test_recursion();
	test_exit(true);
	test_exit(false);
	test_destructive();
	test_ticks();
	test_clock();
	test_many_lives();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
