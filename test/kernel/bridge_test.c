/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that brings its own bridge to Erlang nodes (erltrace_set_bridge()), and one that has
 * none. The node is this process: it has the library mapped, and so its USDT probes. Arming takes
 * root, and a kernel that lets us.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "erltrace.h"
#include "checks.h"

#define SCRIPT "erlang*:lists:*:function-entry { @ = count(); } syscall::getppid:entry { }"

static erltrace_error_t err;
static char own[16]; /* the number of this process */

/* ---- the bridge ------------------------------------------------------------------------- */

struct fake {
	char calls[128]; /* a letter each: List, Arm, News, Disarm */
	size_t n;
	char nodes[64], desc[64], options[64], script[1024];
	int pid;
	unsigned nscripts;
	const char *fails; /* list and arm do, with that text */
	int lines;	   /* news that there are */
	bool ends;	   /* then it ends by itself */
};

static void called(struct fake *f, char what)
{
	if (f->n > 0 && f->calls[f->n - 1] == what && what == 'N')
		return; /* it is asked again and again */
	if (f->n < sizeof(f->calls) - 1)
		f->calls[f->n++] = what;
}

static void put_all(char *to, size_t size, const char *const *v)
{
	size_t len = 0;

	to[0] = '\0';
	for (; *v != NULL && len < size; v++)
		len += (size_t)snprintf(to + len, size - len, "%s ", *v);
}

static int fails(const struct fake *f, erltrace_error_t *e)
{
	snprintf(e->tag, sizeof(e->tag), "ET_FAKE");
	snprintf(e->text, sizeof(e->text), "%s", f->fails);
	return -1;
}

static int f_list(void *arg, const char *const *nodes, const char *desc, erltrace_probe_cb *cb,
	void *cb_arg, erltrace_error_t *e)
{
	static const char *const functions[] = {"seq/2", "zip3/3"};
	struct fake *f = arg;
	char prov[32];
	int rc = 0;

	called(f, 'L');
	put_all(f->nodes, sizeof(f->nodes), nodes);
	snprintf(f->desc, sizeof(f->desc), "%s", desc);
	if (f->fails != NULL)
		return fails(f, e);
	snprintf(prov, sizeof(prov), "erlang%s", own);
	for (int i = 0; i < 2 && rc == 0; i++) {
		erltrace_probe_info_t p = {.provider = prov,
			.module = "lists",
			.function = functions[i],
			.name = "function-entry"};

		rc = cb(cb_arg, &p);
	}
	return rc;
}

static int f_arm(void *arg, const erltrace_arming_t *a, erltrace_error_t *e)
{
	struct fake *f = arg;

	called(f, 'A');
	put_all(f->nodes, sizeof(f->nodes), a->nodes);
	put_all(f->options, sizeof(f->options), a->options);
	f->nscripts = a->nscripts;
	f->pid = a->scripts[0].pid;
	snprintf(f->script, sizeof(f->script), "%s", a->scripts[0].text);
	return f->fails != NULL ? fails(f, e) : 0;
}

static int f_news(void *arg, char *buf, size_t size)
{
	struct fake *f = arg;

	called(f, 'N');
	if (f->lines > 0) {
		snprintf(buf, size, "line %d", f->lines--);
		return 1;
	}
	return f->ends ? -1 : 0;
}

static void f_disarm(void *arg)
{
	called(arg, 'D');
}

static const erltrace_bridge_t bridge = {.size = sizeof(bridge),
	.list = f_list,
	.arm = f_arm,
	.news = f_news,
	.disarm = f_disarm};

/* ---- handles ---------------------------------------------------------------------------- */

static erltrace_t *open_handle(struct fake *f, bool node)
{
	erltrace_t *h = erltrace_open(&err);

	memset(&err, 0, sizeof(err));
	if (h == NULL)
		exit(1);
	erltrace_setopt(h, "quiet", NULL, NULL);
	erltrace_setopt(h, "statusrate", "1ms", NULL);
	erltrace_setopt(h, "watchdog", "7", NULL);
	if (node)
		erltrace_setopt(h, "erlnode", own, NULL);
	if (f != NULL)
		erltrace_set_bridge(h, &bridge, f);
	return h;
}

struct told {
	char text[512];
};

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	struct told *t = arg;
	size_t len = strlen(t->text);

	snprintf(t->text + len, sizeof(t->text) - len, "%s\n", d->message);
	return 0;
}

/* Work until it is done; or stop it when a line has been told. */
static void work(erltrace_t *h, struct told *t, bool stops)
{
	erltrace_handlers_t handlers = {.size = sizeof(handlers), .arg = t, .drop = on_drop};
	bool stopped = false;

	t->text[0] = '\0';
	while (erltrace_work(h, &handlers, &err) == ERLTRACE_OK) {
		if (stops && !stopped && t->text[0] != '\0') {
			stopped = true;
			erltrace_stop(h, &err);
		}
		erltrace_sleep(h);
	}
}

/* ---- without one ------------------------------------------------------------------------ */

static int on_probe(void *arg, const erltrace_probe_info_t *p)
{
	char *names = arg;

	snprintf(names + strlen(names), 256 - strlen(names), "%s:%s:%s:%s ", p->provider, p->module,
		p->function, p->name);
	return 0;
}

static void test_none(void)
{
	erltrace_t *h = open_handle(NULL, false);
	char names[256] = "";

	ok(erltrace_compile(h, SCRIPT, NULL, &err) < 0 &&
			strstr(err.text, "need a bridge to the nodes: erltrace_set_bridge()") !=
				NULL,
		"no bridge, no nodes named", err.text);
	erltrace_close(h);
	h = open_handle(NULL, true);
	ok(erltrace_compile(h, SCRIPT, NULL, &err) < 0 && strcmp(err.tag, "ET_NODE") == 0 &&
			strstr(err.text, "need a bridge to the nodes: erltrace_set_bridge()") !=
				NULL,
		"no bridge, functions", err.text);
	ok(erltrace_compile(h, "erlang*:::process-spawn { }", NULL, &err) < 0 &&
			strstr(err.text, "need a bridge to the nodes") != NULL,
		"no bridge, what every node has", err.text);
	ok(erltrace_probes(h, "erlang*:lists::", on_probe, names, &err) < 0, "no bridge, a list",
		names);
	erltrace_close(h);
}

/* ---- with one --------------------------------------------------------------------------- */

static void test_list(void)
{
	struct fake f = {.n = 0};
	erltrace_t *h = open_handle(&f, true);
	char names[256] = "", want[256];
	int n = erltrace_probes(h, "erlang*:lists:*:function-entry", on_probe, names, &err);

	snprintf(want, sizeof(want),
		"erlang%s:lists:seq/2:function-entry erlang%s:lists:zip3/3:function-entry ", own,
		own);
	CHECK(n == 2, "%d: %s", n, err.text);
	ok(strcmp(names, want) == 0, "the probes", names);
	ok(strcmp(f.desc, "erlang*:lists:*:function-entry") == 0, "what it is asked for", f.desc);
	ok(strncmp(f.nodes, own, strlen(own)) == 0, "of which nodes", f.nodes);
	f.fails = "nobody is at home";
	ok(erltrace_probes(h, "erlang*:maps:*:function-entry", on_probe, names, &err) < 0 &&
			strcmp(err.text, "probes of an Erlang node: nobody is at home") == 0,
		"a list that fails", err.text);
	ok(erltrace_compile(h, "erlang*:sets::function-entry { }", NULL, &err) < 0 &&
			strstr(err.text, "nobody is at home") != NULL,
		"a script that needs it", err.text);
	erltrace_close(h);
	ok(strcmp(f.calls, "LLL") == 0, "nothing is armed", f.calls);
}

/* false: probes of the kernel are not for us. */
static bool test_ended(void)
{
	struct fake f = {.lines = 2, .ends = true};
	erltrace_t *h = open_handle(&f, true);
	struct told t;
	int code = 0;

	CHECK(erltrace_compile(h, SCRIPT, NULL, &err) == 0, "%s", err.text);
	if (erltrace_go(h, &err) < 0 && strchr(f.calls, 'A') == NULL) {
		printf("skipped: no probes of the kernel here: %s\n", err.text);
		erltrace_close(h);
		return false;
	}
	CHECK(err.tag[0] == '\0', "%s", err.text);
	CHECK(f.nscripts == 1 && f.pid == getpid(), "%u, %d", f.nscripts, f.pid);
	ok(strncmp(f.nodes, own, strlen(own)) == 0, "of which nodes", f.nodes);
	ok(strcmp(f.options, "watchdog=7 ") == 0, "with which options", f.options);
	ok(strstr(f.script, "lists:seq/2:function-entry") != NULL &&
			strstr(f.script, "lists:zip3/3:function-entry") != NULL &&
			strstr(f.script, "usdt();") != NULL,
		"the script", f.script);
	work(h, &t, false);
	ok(strcmp(t.text,
		   "in the node: line 2\nin the node: line 1\nthe events inside the node have "
		   "come to an end, and so has the script\n") == 0,
		"what is told", t.text);
	CHECK(erltrace_status(h, &code) == ERLTRACE_EXITED && code == 1, "%d", code);
	ok(strcmp(f.calls, "LAND") == 0, "the order, when it ends by itself", f.calls);
	erltrace_close(h);
	ok(strcmp(f.calls, "LAND") == 0, "it is disarmed once", f.calls);
	return true;
}

static void test_stopped(void)
{
	struct fake f = {.lines = 1};
	erltrace_t *h = open_handle(&f, true);
	struct told t;

	CHECK(erltrace_compile(h, SCRIPT, NULL, &err) == 0 && erltrace_go(h, &err) == 0, "%s",
		err.text);
	work(h, &t, true);
	ok(strcmp(t.text, "in the node: line 1\n") == 0, "what is told", t.text);
	CHECK(erltrace_status(h, NULL) == ERLTRACE_STOPPED);
	ok(strcmp(f.calls, "LANDN") == 0, "the order, when it is stopped: news at last", f.calls);
	erltrace_close(h);
	f = (struct fake){.lines = 0};
	h = open_handle(&f, true);
	CHECK(erltrace_compile(h, SCRIPT, NULL, &err) == 0 && erltrace_go(h, &err) == 0, "%s",
		err.text);
	erltrace_close(h);
	ok(strcmp(f.calls, "LAD") == 0, "the order, when it is closed", f.calls);
}

/* lib: what makes this process a node; not there any more when this returns. */
static void test_failing(void *lib, size_t size)
{
	struct fake f = {.n = 0};
	erltrace_t *h = open_handle(&f, true);

	CHECK(erltrace_compile(h, SCRIPT, NULL, &err) == 0, "%s", err.text);
	f.fails = "the node is asleep";
	ok(erltrace_go(h, &err) < 0 &&
			strcmp(err.text, "probes of an Erlang node: the node is asleep") == 0,
		"arming fails", err.text);
	erltrace_close(h);
	ok(strcmp(f.calls, "LA") == 0, "then nothing is disarmed", f.calls);
	f = (struct fake){.lines = 0};
	h = open_handle(&f, true);
	munmap(lib, size);
	CHECK(erltrace_compile(h, SCRIPT, NULL, &err) == 0, "%s", err.text);
	ok(erltrace_go(h, &err) < 0 && strstr(err.text, "has no USDT probes") != NULL,
		"a node without the library", err.text);
	ok(strcmp(f.calls, "LAD") == 0, "a go that fails later disarms", f.calls);
	erltrace_close(h);
	ok(strcmp(f.calls, "LAD") == 0, "once", f.calls);
}

static void *map_library(size_t *size)
{
	const char *bin = getenv("BIN");
	char path[4096];
	struct stat st;
	void *at = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/../priv/erltrace.so", bin != NULL ? bin : "bin");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		*size = (size_t)st.st_size;
		at = mmap(NULL, *size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return at;
}

int main(void)
{
	size_t size = 0;
	void *lib;

	alarm(120);
	snprintf(own, sizeof(own), "%d", (int)getpid());
	test_none();
	test_list();
	lib = map_library(&size);
	if (lib == MAP_FAILED) {
		printf("skipped: no priv/erltrace.so to be a node with\n");
	} else if (test_ended()) {
		test_stopped();
		test_failing(lib, size);
	}
	return finish();
}
