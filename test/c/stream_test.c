/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: what a consumer prints of one is what it prints of the engine itself; several are read in
 * the order of time; and bytes that are no stream are an error, whatever they are.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/in_node.h"
#include "checks.h"
#include "erltrace.h"
#include "stream/writer.h"

static erltrace_error_t err;

/* ---- scripts ------------------------------------------------------------------------------ */

/* Each is fired 60 times, with numbers and texts that repeat. */
static const char *const scripts[] = {
	"t:::p { printf(\"%d %s\\n\", arg0, args[1]); }",
	"t:::p { trace(arg0); trace(args[1]); } END { printf(\"the end\\n\"); }",
	"t:::p { @[args[1]] = count(); @n = sum(arg0); @m = min(arg0); @x = max(arg0); }",
	"t:::p { @a = avg(arg0); @s = stddev(arg0); @q[args[1]] = quantize(arg0); }",
	"t:::p { @l = lquantize(arg0, 0, 40, 5); @ll = llquantize(arg0, 10, 0, 3, 5); }",
	"t:::p { @p[args[1]] = percentile(arg0, 50, 99.9); }",
	"t:::p { @[args[1], arg0 % 3] = count(); } t:::p /arg0 == 30/ { printa(\"%s %d %@d\\n\", @); "
	"clear(@); } END { trunc(@, 3); normalize(@, 2); printa(@); }",
	"t:::p /arg0 % 20 == 0/ { printf(\"%-8s|%5x|%Y\\n\", args[1], (int)arg0, (uint64_t)arg0); }",
	"struct pair { int a; char name[8]; struct pair *next; struct { unsigned b : 3; } in; }; "
	"t:::p /arg0 < 3/ { this->p = (struct pair *)alloca(sizeof(struct pair)); this->p->a = arg0; "
	"this->p->name[0] = 'x'; this->p->next = NULL; this->p->in.b = 5; print(*this->p); }",
	"t:::p /arg0 < 2/ { this->m = (char *)alloca(4); this->m[0] = 'q'; tracemem(this->m, 3); } t:::p /arg0 == 2/ { exit(3); }",
	"t:::p { self->n++; } t:::p /self->n % 25 == 0/ { setopt(\"aggsortrev\"); @[arg0] = count(); "
	"printa(@); }",
	"t:::p /arg0 == 7/ { trace(*(int *)8); } ERROR { printf(\"fault %d\\n\", arg4); }",
	"t:::p /arg0 == 1/ { alert(\"much\", \"there are %d\", arg0); }",
	"t:::p { @[arg0 % 2 ? (int64_t)-1 : (int64_t)arg0] = count(); } END { printa(\"%d: %@u\\n\", @); }",
	"t:::p /arg0 < 3/ { printf(\"100%%|a\\0b|%05.2d|%-*d|%#x\\n\", (int)arg0, 4, (int)arg0, (int)arg0); }",
	"enum colour { RED, GREEN = 7 }; t:::p /arg0 == 7/ { print((enum colour)arg0); }",
};
enum { SCRIPTS = sizeof(scripts) / sizeof(*scripts), TIMES = 60 };
static const char *const words[] = {"one", "two", "three", "a longer one: \\ \" \n", ""};

struct out {
	char text[1 << 16];
	size_t len;
};

static void add(struct out *o, const char *p, size_t len)
{
	if (o->len + len >= sizeof(o->text))
		len = sizeof(o->text) - o->len - 1;
	memcpy(o->text + o->len, p, len);
	o->len += len;
	o->text[o->len] = '\0';
}

static int on_text(void *arg, const char *text, size_t len)
{
	add(arg, text, len);
	return 0;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	add(arg, d->message, strlen(d->message));
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	add(arg, f->message, strlen(f->message));
	return 0;
}

static erltrace_handlers_t handlers(struct out *o)
{
	o->len = 0;
	o->text[0] = '\0';
	return (erltrace_handlers_t){.size = sizeof(erltrace_handlers_t),
		.arg = o,
		.text = on_text,
		.drop = on_drop,
		.fault = on_fault};
}

struct traced {
	erltrace_t *h;
	erltrace_probe_t *p;
};

static struct traced begin(const char *script, bool quiet)
{
	static const char *const types[] = {"int", "string"};
	struct traced t = {.h = erltrace_open(&err)};

	if (quiet)
		erltrace_setopt(t.h, "quiet", NULL, &err);
	t.p = erltrace_probe_add(t.h, "t", "mod", "func", "p", 2, types, &err);
	CHECK(erltrace_compile(t.h, script, NULL, &err) == 0, "%s: %s", script, err.text);
	CHECK(erltrace_go(t.h, &err) == 0, "%s: %s", script, err.text);
	return t;
}

static void fire(const struct traced *t, unsigned i)
{
	erltrace_string_t *s = erltrace_string_new(words[i % 5]);
	uint64_t args[] = {i, erltrace_string_arg(s)};

	erltrace_fire(t->p, args, 2, 2, 1);
	erltrace_string_free(s);
}

/* ---- one stream ----------------------------------------------------------------------------- */

struct bytes {
	char *p;
	size_t n;
};

/* All of it so far; in rounds of so many bytes. 1: that was its end. */
static int take(const struct traced *t, struct bytes *to, size_t most)
{
	struct sw_round round = {.most = most, .every = 1000000};
	char *bytes;
	size_t len;
	int rc;

	do {
		rc = api_forward(t->h, "here@host", &round, NULL, &bytes, &len, &err);
		to->p = realloc(to->p, to->n + len + 1);
		if (len > 0)
			memcpy(to->p + to->n, bytes, len);
		to->n += len;
		free(bytes);
	} while (rc == API_MORE);
	CHECK(rc >= 0, "%s", err.text);
	return rc == ERLTRACE_DONE;
}

static struct bytes stream_of(const char *script, bool quiet, size_t most)
{
	struct traced t = begin(script, quiet);
	struct bytes all = {0};

	for (unsigned i = 0; i < TIMES; i++) {
		fire(&t, i);
		if (i % 20 == 19)
			take(&t, &all, most);
	}
	erltrace_stop(t.h, &err);
	while (!take(&t, &all, most))
		;
	erltrace_close(t.h);
	return all;
}

static int read_all(erltrace_t *r, const struct bytes *all, size_t piece, struct out *o)
{
	erltrace_handlers_t hs = handlers(o);
	int rc = ERLTRACE_OK;

	for (size_t at = 0; at < all->n && rc == ERLTRACE_OK; at += piece) {
		size_t n = piece < all->n - at ? piece : all->n - at;

		if (erltrace_feed(r, 0, all->p + at, n, &err) < 0)
			return -1;
		rc = erltrace_work(r, &hs, &err);
	}
	erltrace_feed_end(r, 0);
	return rc == ERLTRACE_OK ? erltrace_work(r, &hs, &err) : rc;
}

static void direct(const char *script, bool quiet, struct out *o, int *code)
{
	struct traced t = begin(script, quiet);
	erltrace_handlers_t hs = handlers(o);
	int rc = ERLTRACE_OK;

	for (unsigned i = 0; i < TIMES; i++) {
		fire(&t, i);
		if (i % 20 == 19 && rc == ERLTRACE_OK)
			rc = erltrace_work(t.h, &hs, &err);
	}
	erltrace_stop(t.h, &err);
	while (rc == ERLTRACE_OK)
		rc = erltrace_work(t.h, &hs, &err);
	*code = -1;
	if (erltrace_status(t.h, code) != ERLTRACE_EXITED)
		*code = -1;
	erltrace_close(t.h);
}

static void test_same(void)
{
	static const size_t pieces[] = {1, 7, 1000, 1 << 20};
	static struct out want, got;

	for (unsigned i = 0; i < SCRIPTS; i++)
		for (int quiet = 0; quiet < 2; quiet++)
			for (unsigned k = 0; k < 4; k++) {
				struct bytes all = stream_of(scripts[i], quiet, k % 2 ? 64 : 1 << 20);
				erltrace_t *r = erltrace_reader(1, &err);
				int code, is = -1;

				direct(scripts[i], quiet, &want, &code);
				CHECK(read_all(r, &all, pieces[k], &got) == ERLTRACE_DONE, "%s",
					err.text);
				CHECK(want.len == got.len && memcmp(want.text, got.text, got.len) == 0,
					"%s\n--- wanted\n%s\n--- got\n%s", scripts[i], want.text, got.text);
				if (erltrace_status(r, &is) != ERLTRACE_EXITED)
					is = -1;
				CHECK(is == code, "%s: %d, not %d", scripts[i], is, code);
				erltrace_close(r);
				free(all.p);
			}
}

static void *fire_some(void *t)
{
	for (unsigned i = 0; i < 10; i++)
		fire(t, i);
	return NULL;
}

/* threads_have_their_own_numbers: also if none has come of those before. */
static void test_threads(void)
{
	static const char script[] = "#pragma D option aggpercpu\n#pragma D option quiet\n"
				     "t:::p /arg0 < 10/ { @ = count(); }";
	struct traced t[2] = {begin(script, false), begin(script, false)};
	static struct out want, got;
	struct bytes all = {0};
	erltrace_handlers_t hs = handlers(&want);
	erltrace_t *r = erltrace_reader(1, &err);
	pthread_t other;

	for (unsigned k = 0; k < 2; k++) {
		fire(&t[k], 10); /* the first thread */
		CHECK(pthread_create(&other, NULL, fire_some, &t[k]) == 0);
		pthread_join(other, NULL);
		erltrace_stop(t[k].h, &err);
	}
	while (erltrace_work(t[0].h, &hs, &err) == ERLTRACE_OK)
		;
	while (!take(&t[1], &all, 1 << 20))
		;
	CHECK(read_all(r, &all, 1 << 20, &got) == ERLTRACE_DONE, "%s", err.text);
	CHECK(strstr(want.text, "[CPU 1]") != NULL && strcmp(want.text, got.text) == 0, "%s%s", want.text,
		got.text);
	erltrace_close(r);
	erltrace_close(t[0].h);
	erltrace_close(t[1].h);
	free(all.p);
}

/* One that breaks off: what has come is what there is. */
static void test_cut(void)
{
	struct bytes all = stream_of(scripts[2], true, 1 << 20);
	static struct out o;

	for (size_t n = 0; n < all.n; n += 97) {
		struct bytes some = {all.p, n};
		erltrace_t *r = erltrace_reader(1, &err);

		CHECK(read_all(r, &some, 1 << 20, &o) == ERLTRACE_DONE, "%zu: %s", n, err.text);
		erltrace_close(r);
	}
	free(all.p);
}

/* ---- several streams ------------------------------------------------------------------------ */

enum { NODES = 3, EVENTS = 90 };

/* records_of_three_nodes_come_in_order: whichever comes first here. */
static void test_order(void)
{
	static const char script[] = "t:::p { printf(\"%d\\n\", arg0); @[args[1]] = count(); } "
				     "END { printf(\"end\\n\"); printa(\"%s %@d\\n\", @); }";
	struct traced t[NODES];
	struct bytes all[NODES] = {{0}};
	static struct out o;
	erltrace_handlers_t hs = handlers(&o);
	erltrace_t *r = erltrace_reader(NODES, &err);
	char want[4096] = "", line[32];
	int rc;

	for (unsigned k = 0; k < NODES; k++)
		t[k] = begin(script, true);
	for (unsigned i = 0; i < EVENTS; i++) {
		fire(&t[i * 7 % NODES], i);
		snprintf(line, sizeof(line), "%u\n", i);
		strcat(want, line);
	}
	for (unsigned k = 0; k < NODES; k++) {
		erltrace_stop(t[k].h, &err);
		while (!take(&t[k], &all[k], 200))
			;
	}
	for (unsigned k = NODES; k-- > 0;) {
		CHECK(erltrace_feed(r, k, all[k].p, all[k].n, &err) == 0, "%s", err.text);
		if (k > 0) /* the others may have older ones */
			CHECK(erltrace_work(r, &hs, &err) == ERLTRACE_OK && o.len == 0, "%s", o.text);
	}
	while ((rc = erltrace_work(r, &hs, &err)) == ERLTRACE_OK)
		;
	CHECK(rc == ERLTRACE_DONE, "%s", err.text);
	strcat(want, "end\n");
	CHECK(strncmp(o.text, want, strlen(want)) == 0, "%s", o.text);
	CHECK(strstr(o.text, "one 18\n") != NULL && strstr(o.text, "two 18\n") != NULL, "%s", o.text);
	CHECK(strstr(o.text + strlen(want), "end\n") == NULL, "%s", o.text);
	erltrace_close(r);
	for (unsigned k = 0; k < NODES; k++) {
		erltrace_close(t[k].h);
		free(all[k].p);
	}
}

/* Of nodes whose rounds come one by one. */
struct several {
	erltrace_t *r;
	struct traced t[2];
	erltrace_handlers_t hs;
};
static struct out several_said;

static struct several several(const char *script)
{
	struct several s = {.r = erltrace_reader(2, &err), .t = {begin(script, true), begin(script, true)}};

	s.hs = handlers(&several_said);
	return s;
}

/* 1: that was its end. */
static int feed_round(struct several *s, unsigned k)
{
	struct bytes b = {0};
	int rc = take(&s->t[k], &b, 1 << 20);

	CHECK(erltrace_feed(s->r, k, b.p, b.n, &err) == 0, "%s", err.text);
	free(b.p);
	return rc;
}

static void feed_rest(struct several *s, unsigned k)
{
	erltrace_stop(s->t[k].h, &err);
	while (!feed_round(s, k))
		;
}

static void end_several(struct several *s)
{
	erltrace_close(s->r);
	erltrace_close(s->t[0].h);
	erltrace_close(s->t[1].h);
}

/* end_is_behind_what_all_have_gathered: though a node is known to live, and has said no more, after it. */
static void test_end_waits(void)
{
	struct several s = several("t:::p { @[args[1]] = count(); } END { printa(\"%s %@d\\n\", @); }");

	feed_round(&s, 0);
	fire(&s.t[1], 0);
	feed_round(&s, 1);
	feed_rest(&s, 0);
	fire(&s.t[1], 0);
	feed_round(&s, 1);
	CHECK(erltrace_work(s.r, &s.hs, &err) == ERLTRACE_OK && several_said.len == 0, "%s",
		several_said.text);
	fire(&s.t[1], 0);
	feed_rest(&s, 1);
	CHECK(erltrace_work(s.r, &s.hs, &err) == ERLTRACE_DONE, "%s", err.text);
	CHECK(strcmp(several_said.text, "one 3\n\n") == 0, "%s", several_said.text);
	end_several(&s);
}

/* records_behind_aggregations_keep_their_order */
static void test_order_behind_aggregations(void)
{
	struct several s = several(
		"t:::p { printf(\"%d\\n\", arg0); @ = count(); } t:::p /arg0 == 3/ { printa(\"all %@d\\n\", @); }");

	for (unsigned k = 0; k < 2; k++)
		feed_round(&s, k);
	for (unsigned i = 0; i < 3; i++) {
		fire(&s.t[0], i);
		feed_round(&s, 0);
	}
	fire(&s.t[1], 3);
	feed_rest(&s, 1);
	feed_rest(&s, 0);
	while (erltrace_work(s.r, &s.hs, &err) == ERLTRACE_OK)
		;
	CHECK(strncmp(several_said.text, "0\n1\n2\n3\nall 4\n", 14) == 0, "%s", several_said.text);
	end_several(&s);
}

/* a_node_that_says_nothing_has_no_ticks: not even empty ones. */
static void test_ticks(void)
{
	struct several s = several("t:::p { @ = count(); }");
	static struct out o;
	unsigned before;

	CHECK(erltrace_stream_age(s.r, 0) == UINT64_MAX);
	feed_round(&s, 0);
	for (unsigned k = 0; k < 2; k++) {
		o.len = 0;
		CHECK(erltrace_stream_tick(s.r, k, "n", on_text, &o, &err) == 0, "%s", err.text);
		CHECK((o.len > 0) == (k == 0), "%u: %s", k, o.text);
	}
	feed_round(&s, 1);
	erltrace_work(s.r, &s.hs, &err);
	o.len = 0;
	CHECK(erltrace_stream_tick(s.r, 0, "n", on_text, &o, &err) == 0 && o.len == 0, "%s", o.text);
	CHECK(erltrace_stream_age(s.r, 0) == UINT64_MAX);
	fire(&s.t[0], 1);
	feed_rest(&s, 0);
	CHECK(erltrace_stream_age(s.r, 0) != UINT64_MAX);
	CHECK(erltrace_stream_tick(s.r, 0, "n", on_text, &o, &err) == 0 && strstr(o.text, "\"value\":1") != NULL,
		"%s", o.text);
	before = (unsigned)o.len;
	CHECK(erltrace_stream_tick(s.r, 0, "n", on_text, &o, &err) == 0 && o.len == before, "%s", o.text);
	end_several(&s);
}

/* a_node_without_a_probe_is_joined: it was compiled there as with -Z, and with other options. */
static void test_without_probe(void)
{
	static const char script[] = "t:::p { @[args[1]] = count(); } u:::q { printf(\"%d\\n\", arg0); } "
				     "END { printa(\"%s %@d\\n\", @); }";
	static const char *const types[] = {"int", "string"};
	struct several s = several("t:::p { }");

	for (unsigned k = 0; k < 2; k++) {
		erltrace_compile_opts_t opts = {.size = sizeof(opts), .zero_matches = k};

		erltrace_close(s.t[k].h);
		s.t[k].h = erltrace_open(&err);
		erltrace_setopt(s.t[k].h, "quiet", NULL, &err);
		if (k == 1)
			erltrace_setopt(s.t[k].h, "zdefs", NULL, &err);
		else
			erltrace_probe_add(s.t[k].h, "u", "m", "f", "q", 1, types, &err);
		s.t[k].p = erltrace_probe_add(s.t[k].h, "t", "mod", "func", "p", 2, types, &err);
		CHECK(erltrace_compile(s.t[k].h, script, &opts, &err) == 0, "%s", err.text);
		CHECK(erltrace_go(s.t[k].h, &err) == 0, "%s", err.text);
		fire(&s.t[k], 1);
		feed_round(&s, k);
	}
	for (unsigned k = 0; k < 2; k++)
		feed_rest(&s, k);
	while (erltrace_work(s.r, &s.hs, &err) == ERLTRACE_OK)
		;
	CHECK(strcmp(several_said.text, "two 2\n\n") == 0, "%s", several_said.text);
	end_several(&s);
}

static int on_drop_of(void *arg, const erltrace_drop_t *d)
{
	add(arg, d->node, strlen(d->node));
	add(arg, " ", 1);
	return on_drop(arg, d);
}

/* drops_say_their_node: also those of no thread. */
static void test_drops(void)
{
	struct several s = several("t:::p { self->s = speculation(); }");

	s.hs.drop = on_drop_of;
	for (unsigned i = 0; i < 8; i++)
		fire(&s.t[i % 4 == 0], i);
	for (unsigned k = 0; k < 2; k++)
		feed_rest(&s, k);
	while (erltrace_work(s.r, &s.hs, &err) == ERLTRACE_OK)
		;
	CHECK(strstr(several_said.text, "here@host 5 failed spec") != NULL &&
			strstr(several_said.text, "here@host 1 failed spec") != NULL,
		"%s", several_said.text);
	end_several(&s);
}

static void work_until(struct several *s, const char *want)
{
	for (int i = 0; i < 600 && strstr(several_said.text, want) == NULL; i++) {
		CHECK(erltrace_work(s->r, &s->hs, &err) == ERLTRACE_OK, "%s", err.text);
		usleep(10000);
	}
	CHECK(strstr(several_said.text, want) != NULL, "%s", several_said.text);
}

/* records_do_not_wait_for_a_stream_that_hangs: what comes of it later is late, and not lost. */
static void test_hangs(void)
{
	struct several s = several("t:::p { printf(\"%d \", arg0); }");

	feed_round(&s, 0);
	feed_round(&s, 1);
	fire(&s.t[0], 1);
	fire(&s.t[1], 2);
	feed_round(&s, 1);
	CHECK(erltrace_work(s.r, &s.hs, &err) == ERLTRACE_OK && several_said.len == 0, "%s",
		several_said.text);
	erltrace_feed_hangs(s.r, 0);
	CHECK(erltrace_work(s.r, &s.hs, &err) == ERLTRACE_OK && strcmp(several_said.text, "2 ") == 0,
		"%s", several_said.text);
	feed_round(&s, 0);
	CHECK(erltrace_work(s.r, &s.hs, &err) == ERLTRACE_OK && strcmp(several_said.text, "2 1 ") == 0,
		"%s", several_said.text);
	fire(&s.t[0], 3); /* it goes on: there is order again */
	fire(&s.t[1], 4);
	feed_round(&s, 1);
	CHECK(erltrace_work(s.r, &s.hs, &err) == ERLTRACE_OK && strcmp(several_said.text, "2 1 ") == 0,
		"%s", several_said.text);
	feed_rest(&s, 0);
	feed_rest(&s, 1);
	while (erltrace_work(s.r, &s.hs, &err) == ERLTRACE_OK)
		;
	CHECK(strncmp(several_said.text, "2 1 3 4 ", 8) == 0, "%s", several_said.text);
	end_several(&s);
}

/* records_wait_for_others_for_a_bounded_time: though nobody has said that the other hangs. */
static void test_wait_is_bounded(void)
{
	struct several s = several("t:::p { printf(\"%d \", arg0); }");

	feed_round(&s, 0);
	feed_round(&s, 1);
	fire(&s.t[1], 2);
	feed_round(&s, 1);
	work_until(&s, "2 ");
	end_several(&s);
}

static void test_another_script(void)
{
	struct bytes a = stream_of(scripts[0], true, 1 << 20), b = stream_of(scripts[1], true, 1 << 20);
	erltrace_t *r = erltrace_reader(2, &err);

	CHECK(erltrace_feed(r, 0, a.p, a.n, &err) == 0, "%s", err.text);
	CHECK(erltrace_feed(r, 1, b.p, b.n, &err) < 0);
	CHECK(strcmp(err.tag, "ET_NODE") == 0 && strstr(err.text, "another script") != NULL, "%s", err.text);
	CHECK(erltrace_feed(r, 2, b.p, b.n, &err) < 0 && strcmp(err.tag, "ET_AGENT") == 0);
	erltrace_close(r);
	free(a.p);
	free(b.p);
}

/* ---- what may be done here ------------------------------------------------------------------ */

static int on_system(void *arg, const char *command)
{
	add(arg, command, strlen(command));
	return 0;
}

/* Both are of the same length. */
static void replace(struct bytes *all, const char *what, const char *by)
{
	char *at = memmem(all->p, all->n, what, strlen(what));

	CHECK(at != NULL && strlen(what) == strlen(by), "%s", what);
	if (at != NULL)
		memcpy(at, by, strlen(by));
}

struct wish {
	const char *call, *action, *permitted;
	const char *done;     /* NULL: it is refused */
	const char *lie, *as; /* what the stream says instead */
};

static void test_wish(const struct wish *w)
{
	erltrace_error_t why = {.tag = ""};
	erltrace_t *r = erltrace_reader(1, &err);
	static char script[256];
	static struct out o;
	erltrace_handlers_t hs = handlers(&o);
	struct bytes all;
	size_t n = w->done != NULL ? strlen(w->done) : 0;
	int rc;

	snprintf(script, sizeof(script),
		"#pragma D option destructive\n#pragma D option quiet\nt:::p /arg0 == 0/ { %s; }",
		w->call);
	all = stream_of(script, false, 1 << 20);
	if (w->lie != NULL)
		replace(&all, w->lie, w->as);
	hs.system = hs.reopen = on_system;
	CHECK(erltrace_permit(r, w->action, w->permitted, &err) == 0, "%s", err.text);
	rc = erltrace_feed(r, 0, all.p, all.n, &why);
	erltrace_feed_end(r, 0);
	CHECK(erltrace_work(r, &hs, &err) == ERLTRACE_DONE, "%s", err.text);
	if (w->done != NULL)
		CHECK(rc == 0 && o.len == n + 1 && memcmp(o.text, w->done, n) == 0, "%s: %s%s", w->call,
			why.text, o.text);
	else
		CHECK(rc < 0 && o.len == 0 && strstr(why.text, "that no script asked for") != NULL,
			"%s: %s%s", w->call, why.text, o.text);
	erltrace_close(r);
	free(all.p);
}

/* system_runs_formats_that_are_permitted: and each number in them is one, whatever a stream says. */
static void test_permitted(void)
{
	static const struct wish wishes[] = {
		{"system(\"echo %d\", 7)", "system", "echo %d", "echo 7", NULL, NULL},
		{"system(\"echo %s\", \"; x\")", "system", "echo %s", "echo ; x", NULL, NULL},
		{"system(\"echo 100%% %5d %-*d\", 7, 3, 8)", "system", "echo 100%% %5d %-*d",
			"echo 100%     7 8  ", NULL, NULL},
		{"system(\"date\\0%s\", \"x\")", "system", "date", "date", NULL, NULL},
		{"freopen(\"%s\", \"file\")", "freopen", "%s", "file", NULL, NULL},
		{"ftruncate()", "ftruncate", NULL, "", NULL, NULL},
		{"system(\"date\")", "freopen", "date", NULL, NULL, NULL},
		{"system(\"date\")", "ftruncate", NULL, NULL, NULL, NULL},
		{"system(\"date\")", "system", "dat", NULL, NULL, NULL},
		{"system(\"date\")", "system", "dates", NULL, NULL, NULL},
		{"system(\"date\")", "system", "%s", NULL, NULL, NULL},
		{"freopen(\"file\")", "system", "file", NULL, NULL, NULL},
		{"ftruncate()", "system", "", NULL, NULL, NULL},
		{"system(\"echo %s\", \"; x\")", "system", "echo %d", NULL, "echo %s", "echo %d"},
		{"system(\"echo %s\", \"; x\")", "system", "echo %B", NULL, "echo %s", "echo %B"},
		{"system(\"echo %s\", \"; x\")", "system", "echo %Y", NULL, "echo %s", "echo %Y"},
		{"system(\"kill 1d\")", "system", "kill %d", NULL, "kill 1d", "kill %d"},
		{"system(\"kill %d 7 \", 7)", "system", "kill %d %d", NULL, "kill %d 7 ", "kill %d %d"},
	};

	for (size_t i = 0; i < sizeof(wishes) / sizeof(*wishes); i++)
		test_wish(&wishes[i]);
}

/* only_what_is_done_here_can_be_permitted */
static void test_permit(void)
{
	erltrace_t *r = erltrace_reader(1, &err), *h = erltrace_open(&err);

	CHECK(erltrace_permit(r, "panic", NULL, &err) < 0 && strcmp(err.tag, "ET_DESTRUCTIVE") == 0);
	CHECK(erltrace_permit(r, "system", NULL, &err) < 0);
	CHECK(erltrace_permit(h, "system", "date", &err) < 0);
	erltrace_close(r);
	erltrace_close(h);
}

/* ---- hostile bytes -------------------------------------------------------------------------- */

static uint64_t seed = 12345;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Some bytes are others: an error that says so, or a result; nothing else. */
static void test_hostile(void)
{
	static struct out o;
	unsigned refused = 0, rounds = 0;

	for (unsigned i = 0; i < SCRIPTS; i++) {
		struct bytes all = stream_of(scripts[i], i % 2, 1 << 20);

		for (unsigned k = 0; k < 150; k++, rounds++) {
			struct bytes bad = {malloc(all.n), all.n};
			erltrace_t *r = erltrace_reader(1, &err);
			unsigned n = 1 + any() % 4;
			int rc;

			memcpy(bad.p, all.p, all.n);
			while (n-- > 0)
				bad.p[any() % bad.n] = (char)(any() % 3 ? any() : any() % 2 ? 0xff : 0);
			err.tag[0] = '\0';
			rc = read_all(r, &bad, 1 + any() % 5000, &o);
			CHECK(rc >= 0 || err.tag[0] != '\0');
			refused += rc < 0;
			erltrace_close(r);
			free(bad.p);
		}
		free(all.p);
	}
	CHECK(refused > rounds / 20 && refused < rounds, "%u of %u", refused, rounds);
}

/* Behind HEAD and PROGRAM so many messages. */
static struct bytes with_news(const struct bytes *all, unsigned count)
{
	static const char frame[] = "\12\0\0\0W\5\0\0\0hello"; /* the length, 'W', a text */
	enum { LEN = sizeof(frame) - 1 };
	struct bytes to = {malloc(all->n + (size_t)count * LEN), 0};
	uint32_t n;

	for (int i = 0; i < 2; i++) {
		memcpy(&n, all->p + to.n, sizeof(n));
		to.n += 4 + n;
	}
	memcpy(to.p, all->p, to.n);
	for (; count > 0; count--, to.n += LEN)
		memcpy(to.p + to.n, frame, LEN);
	return to;
}

static unsigned count_of(const char *text, const char *word)
{
	unsigned n = 0;

	for (; (text = strstr(text, word)) != NULL; text++)
		n++;
	return n;
}

/* messages_of_a_node_take_no_end_of_memory: those that wait to be told are bounded. */
static void test_news(void)
{
	static const char script[] = "#pragma D option statusrate=1us\nt:::p { @ = count(); }";
	struct bytes all = stream_of(script, true, 1 << 20), few = with_news(&all, 200),
		     many = with_news(&all, 5000);
	size_t head = few.n - (size_t)200 * 14;
	erltrace_t *r = erltrace_reader(1, &err);
	static struct out o;
	erltrace_handlers_t hs = handlers(&o);

	CHECK(erltrace_feed(r, 0, few.p, few.n, &err) == 0, "%s", err.text);
	erltrace_work(r, &hs, &err);
	CHECK(count_of(o.text, "hello") == 200, "%s", o.text);
	for (int i = 0; i < 2; i++) {
		hs = handlers(&o);
		CHECK(erltrace_feed(r, 0, many.p + head, many.n - head, &err) == 0, "%s", err.text);
		erltrace_work(r, &hs, &err);
		CHECK(count_of(o.text, "hello") == 256, "%s", o.text);
		CHECK(strstr(o.text, "4744 more messages were dropped") != NULL, "%s", o.text);
	}
	hs = handlers(&o);
	erltrace_work(r, &hs, &err);
	CHECK(o.len == 0, "told again: %s", o.text);
	erltrace_close(r);
	free(all.p);
	free(few.p);
	free(many.p);
}

static void test_versions(void)
{
	struct bytes all = stream_of(scripts[0], true, 1 << 20);
	erltrace_t *r = erltrace_reader(1, &err);
	static struct out o;

	all.p[9]++; /* the version, behind the length, the kind and the magic */
	CHECK(read_all(r, &all, 1 << 20, &o) < 0);
	CHECK(strcmp(err.tag, "ET_AGENT") == 0 && strstr(err.text, "another version") != NULL, "%s", err.text);
	erltrace_close(r);
	free(all.p);
	CHECK(erltrace_reader(0, &err) == NULL);
}

/* Of what the fuzzer permits. */
static const char runs[] = "#pragma D option destructive\nt:::p /arg0 < 3/ { "
			   "system(\"echo %s %d\", args[1], (int)arg0); freopen(\"%d\", (int)arg0); }";

/* stream_test DIR: what the fuzzer begins with, test/corpus/fuzz_stream. */
static int make_corpus(const char *dir)
{
	for (unsigned i = 0; i <= SCRIPTS; i++) {
		struct bytes all = stream_of(i < SCRIPTS ? scripts[i] : runs, i % 2, 1 << 20);
		char path[512];
		FILE *f;

		snprintf(path, sizeof(path), "%s/script%u", dir, i);
		f = fopen(path, "wb");
		if (f == NULL)
			return 1;
		fprintf(f, "%c%c", '0' + i % 8, '@');
		fwrite(all.p, 1, all.n, f);
		fclose(f);
		free(all.p);
	}
	return 0;
}

int main(int argc, char **argv)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one); /* rows have the CPU */
	if (argc > 1)
		return make_corpus(argv[1]);
	test_same();
	test_cut();
	test_threads();
	test_order();
	test_end_waits();
	test_order_behind_aggregations();
	test_hangs();
	test_wait_is_bounded();
	test_ticks();
	test_without_probe();
	test_drops();
	test_another_script();
	test_permitted();
	test_permit();
	test_hostile();
	test_news();
	test_versions();
	return finish();
}
