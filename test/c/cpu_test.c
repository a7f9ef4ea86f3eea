/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu is the same in all clauses of a firing, though the thread is moved meanwhile: here by the
 * provider, when it is asked for erlsched.
 */
#include <sched.h>
#include <string.h>

#include "api/handle.h"
#include "checks.h"
#include "engine/current.h"
#include "engine/engine.h"

static cpu_set_t all;
static char out[64];

static uint64_t move(const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f)
{
	cpu_set_t others = all;
	int now = sched_getcpu();

	(void)cur, (void)pbi, (void)n, (void)f;
	CPU_CLR(now, &others);
	CHECK(sched_setaffinity(0, sizeof(others), &others) == 0 && sched_getcpu() != now);
	return 1;
}

static int on_text(void *arg, const char *s, size_t len)
{
	(void)arg;
	strncat(out, s, len < sizeof(out) - strlen(out) - 1 ? len : sizeof(out) - strlen(out) - 1);
	return 0;
}

static void run(const char *jit)
{
	static const struct en_current_ops ops = {.num = move};
	static const struct en_current me = {.key = 1, .ops = &ops};
	erltrace_handlers_t hs = {.size = sizeof(hs), .text = on_text};
	erltrace_error_t err = {.text = ""};
	erltrace_t *h = erltrace_open(&err);

	out[0] = '\0';
	erltrace_setopt(h, "quiet", NULL, &err);
	erltrace_setopt(h, "jit", jit, &err);
	en_set_host(h->en, &me);
	CHECK(erltrace_compile(h,
		      "BEGIN { was = cpu; moved = erlsched; printf(\"%d\", cpu == was); }"
		      "BEGIN { printf(\"%d\", cpu == was); }"
		      "BEGIN /cpu == was/ { printf(\"1\"); }"
		      "END { printf(\" %d\", cpu == was); }",
		      NULL, &err) == 0,
		"%s", err.text);
	CHECK(erltrace_go(h, &err) == 0, "%s", err.text);
	erltrace_stop(h, &err);
	while (erltrace_work(h, &hs, &err) == ERLTRACE_OK)
		;
	CHECK(strcmp(out, "111 0\n") == 0, "%s", out); /* END is another firing */
	erltrace_close(h);
	sched_setaffinity(0, sizeof(all), &all);
}

int main(void)
{
	sched_getaffinity(0, sizeof(all), &all);
	if (CPU_COUNT(&all) < 2) {
		puts("skipped: one CPU: no thread can be moved");
	} else {
		run("on");
		run("off");
	}
	return finish();
}
