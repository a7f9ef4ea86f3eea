/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of options: every kind of value to text and back, limits, the environment, messages.
 * The last line is "N passed, N failed".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "checks.h"

static void set_is(const char *name, const char *value, const char *want)
{
	struct et_error e = {0};
	struct et_options o;
	char buf[64] = "";

	et_options_init(&o);
	if (et_setopt(&o, name, value, &e) == 0)
		et_getopt(&o, name, buf, sizeof(buf), &e);
	if (want[0] == '!')
		ok(strcmp(e.tag, "ET_OPTION") == 0 && strstr(e.text, want + 1) != NULL, name,
			e.text);
	else
		ok(strcmp(buf, want) == 0 && e.tag[0] == '\0', name, e.tag[0] ? e.text : buf);
	et_options_free(&o);
}

static void test_options(void)
{
	struct et_options o;
	struct et_error e = {0};
	char buf[64];

	set_is("quiet", NULL, "on");
	set_is("quiet", "off", "off");
	set_is("quiet", "maybe", "!on or off");
	set_is("bufsize", "4096", "4k");
	set_is("bufsize", "8m", "8m");
	set_is("bufsize", "1G", "1g");
	set_is("bufsize", "1t", "1t"); /* halved when it is used */
	set_is("bufsize", "8x", "!size");
	set_is("bufsize", "99999999999999999999", "!size");
	set_is("bufsize", NULL, "!needs a value");
	set_is("switchrate", "10", "100ms");
	set_is("switchrate", "10hz", "100ms");
	set_is("switchrate", "0", "0");
	set_is("switchrate", "5sec", "5s");
	set_is("switchrate", "5s", "5s");
	set_is("switchrate", "1500ms", "1500ms");
	set_is("switchrate", "1500msec", "1500ms");
	set_is("switchrate", "2000us", "2ms");
	set_is("switchrate", "2usec", "2us");
	set_is("switchrate", "7ns", "7ns");
	set_is("switchrate", "7nsec", "7ns");
	set_is("switchrate", "2m", "2m");
	set_is("switchrate", "2min", "2m");
	set_is("switchrate", "1h", "1h");
	set_is("switchrate", "1hour", "1h");
	set_is("switchrate", "1d", "1d");
	set_is("switchrate", "1day", "1d");
	set_is("switchrate", "2day", "!between");
	set_is("switchrate", "fast", "!rate");
	set_is("bufpolicy", "ring", "ring");
	set_is("bufpolicy", "rung", "!switch, ring or fill");
	set_is("calls", "fast", "fast");
	set_is("calls", "traced", "traced");
	set_is("calls", "unset", "auto");
	set_is("calls", "ring", "!auto, fast or traced");
	set_is("bufresize", "auto", "auto");
	set_is("bufresize", "aut", "!auto manual");
	set_is("nspec", "0x10", "16");
	set_is("nspec", "-1", "!number");
	set_is("nspec", "5000", "!between 0 and 4096");
	set_is("bufsise", "1m", "!did you mean 'bufsize'?");
	set_is("aggsort", NULL, "!did you mean 'aggsort");
	set_is("xyzzy", NULL, "!no option 'xyzzy'");
	set_is("cpu", "3", "3");
	set_is("cpu", "unset", "unset");
	setenv("DTRACE_OPT_BUFSIZE", "2m", 1);
	setenv("DTRACE_OPT_QUIET", "", 1);
	setenv("DTRACE_OPT_NOSUCH", "1", 1);
	et_options_init(&o);
	unsetenv("DTRACE_OPT_BUFSIZE");
	unsetenv("DTRACE_OPT_QUIET");
	unsetenv("DTRACE_OPT_NOSUCH");
	ok(o.val[OPT_BUFSIZE] == 2 << 20 && o.val[OPT_QUIET] == 1 && o.set[OPT_QUIET],
		"DTRACE_OPT_*", NULL);
	et_setopt(&o, "incdir", "/a", &e);
	et_setopt(&o, "incdir", "/b", &e);
	et_getopt(&o, "incdir", buf, sizeof(buf), &e);
	ok(o.val[OPT_INCDIR] == 2 && strcmp(o.str[OPT_INCDIR][0], "/a") == 0 &&
			strcmp(buf, "/b") == 0,
		"several values", buf);
	o.running = true;
	ok(et_setopt(&o, "quiet", NULL, &e) == 0 && et_setopt(&o, "bufsize", "1m", &e) == -1 &&
			strstr(e.text, "once tracing") != NULL,
		"fixed after go", e.text);
	et_options_free(&o);
	/* Each option takes its own value back. */
	et_options_init(&o);
	for (int i = 0; i < OPT_MAX; i++) {
		et_err_clear(&e);
		if (et_optdefs[i].kind == OK_STR)
			continue;
		et_getopt(&o, et_optdefs[i].name, buf, sizeof(buf), &e);
		ok(et_setopt(&o, et_optdefs[i].name, buf, &e) == 0 && o.val[i] == et_optdefs[i].def,
			et_optdefs[i].name, e.text);
	}
	et_options_free(&o);
}

/* Bounds of what a script may take: it sets them tighter, the user as he likes. */
static void test_bounds(void)
{
	static const struct {
		const char *name, *tighter, *looser;
	} bounds[] = {{"maxrate", "100", "1000"}, {"maxwork", "1k", "2k"}, {"silence", "1s", "2s"},
		{"watchdog", "5", "10"}, {"watchtime", "1s", "2s"}};
	struct et_options o;

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		const char *name = bounds[i].name;
		struct et_error e = {0};

		et_options_init(&o);
		ok(et_setopt_script(&o, name, bounds[i].tighter, &e) == 0, name, e.text);
		ok(et_setopt_script(&o, name, bounds[i].looser, &e) < 0 &&
				strstr(e.text, "can be set by the user") != NULL,
			name, e.text);
		ok(et_setopt_script(&o, name, "unset", &e) < 0, name, "unset loosens");
		ok(strcmp(name, "watchtime") == 0 || et_setopt_script(&o, name, "0", &e) < 0, name,
			"0 loosens");
		et_err_clear(&e);
		ok(et_setopt(&o, name, bounds[i].looser, &e) == 0, name, e.text);
		et_setopt(&o, "destructive", "1", &e);
		ok(et_setopt_script(&o, name, "unset", &e) == 0, "-w permits it", e.text);
		et_options_free(&o);
	}
}

int main(void)
{
	test_options();
	test_bounds();
	return finish();
}
