/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace_scan(): what a script holds, as the compiler reads it. Each script stands with all that
 * is told of it, one item after the other.
 */
#include "checks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/provider.h"
#include "erltrace.h"

/* probe p|m|f|n  var x  call f(format)!  agg a  option o=v */
static void on_item(void *arg, const erltrace_scan_item_t *i)
{
	FILE *f = arg;

	switch (i->kind) {
	case ERLTRACE_SCAN_PROBE:
		if (i->id != 0)
			fprintf(f, "probe %u; ", i->id);
		else
			fprintf(f, "probe %s|%s|%s|%s; ", i->provider, i->module, i->function,
				i->name);
		break;
	case ERLTRACE_SCAN_VARIABLE: fprintf(f, "var %s; ", i->name); break;
	case ERLTRACE_SCAN_FUNCTION:
		fprintf(f, "call %s(%s)%s; ", i->name, i->text != NULL ? i->text : "",
			i->destructive ? "!" : "");
		break;
	case ERLTRACE_SCAN_AGGREGATION:
		fprintf(f, "agg %s", i->name);
		if (i->by_stack)
			fprintf(f, " by stack: %s", i->text != NULL ? i->text : "-");
		fputs("; ", f);
		break;
	case ERLTRACE_SCAN_OPTION: fprintf(f, "option %s=%s; ", i->name, i->text); break;
	}
}

static char *scan(erltrace_t *h, const char *text, int colons, erltrace_error_t *err)
{
	static const char *const args[] = {"syscall", "7"};
	const erltrace_compile_opts_t opts = {.size = sizeof(opts),
		.argc = 2,
		.argv = args,
		.default_action = 1,
		.colons = colons};
	char *told = NULL;
	size_t len;
	FILE *f = open_memstream(&told, &len);

	memset(err, 0, sizeof(*err));
	erltrace_scan(h, text, strlen(text), &opts, on_item, f, err);
	fclose(f);
	return told;
}

static void test_items(void)
{
	static const struct {
		const char *text, *told;
		int colons;
	} list[] = {
		{"BEGIN", "probe |||BEGIN; ", 0},
		{"syscall::read:entry, tick-1s { }",
			"probe syscall||read|entry; probe |||tick-1s; ", 0},
		{"12 { }", "probe 12; ", 0},
		{"BEGIN / uid == 0 ? pid:1 / { }", "probe |||BEGIN; var uid; var pid; ", 0},
		{"/* pid1::: */ BEGIN { x = \"pid1:::\"; }", "probe |||BEGIN; ", 0},
		{"$1:::nosuch, pid$2:::, $$1::read: { }",
			"probe syscall|||nosuch; probe pid7|||; probe syscall||read|; ", 0},
		{"pid$target:::entry { }", "probe pid4711|||entry; ", 0},
		{"erlang*:lists:seq/2:function-entry { }",
			"probe erlang*|lists|seq/2|function-entry; ", 0},
		{"erlang*:'a:b {':'c':function-entry { }", "probe erlang*|a:b {|c|function-entry; ",
			0},
		{"BEGIN { self->pid = 1; this->uid = 2; erlpid[3] = 4; }",
			"probe |||BEGIN; var erlpid; ", 0},
		{"inline string who = erlname; inline string whose = who; BEGIN { trace(whose); }",
			"var erlname; probe |||BEGIN; call trace(); ", 0},
		{"BEGIN { y = x + 1; } inline int z = y; END { trace(z); }",
			"probe |||BEGIN; probe |||END; call trace(); ", 0},
		{"BEGIN { @[pid] = count(); @a = sum(1); printa(@a); }",
			"probe |||BEGIN; agg _; var pid; call count(); agg a; call sum(); "
			"call printa(); agg a; ",
			0},
		{"BEGIN { @[pid, ustack(3)] = sum(1); @a[stack()] = count(); printa(@a); }",
			"probe |||BEGIN; agg _ by stack: sum; var pid; call ustack(); call sum(); "
			"agg a by stack: count; call stack(); call count(); call printa(); agg a; ",
			0},
		{"BEGIN { if (1) { system(\"a %d\", 1); } else { freopen(\"b\"); copyout(0, 0, 0); "
		 "} }",
			"probe |||BEGIN; call system(a %d)!; call freopen(b)!; call copyout()!; ",
			0},
		{"inline string s = \"c\"; BEGIN { system(s); raise(9); exit(0); }",
			"probe |||BEGIN; call system(c)!; call raise()!; call exit(); ", 0},
		{"#pragma D option quiet\n#pragma D option bufsize=64k\nBEGIN { }",
			"option quiet=on; option bufsize=64k; probe |||BEGIN; ", 0},
		{"#pragma D option destructive\n#pragma D option destructive=0\nBEGIN { }",
			"option destructive=on; option destructive=off; probe |||BEGIN; ", 0},
		{"#pragma D depends_on provider nosuch\nBEGIN { }", "probe |||BEGIN; ", 0},
		{"struct s { int a; }; typedef struct s t; int v[int]; BEGIN { v[1] = sizeof (t); "
		 "}",
			"probe |||BEGIN; ", 0},
		{"syscall, proc", "probe syscall|||; probe proc|||; ", 3},
		{"libc { }", "probe |libc||; ", 2},
		{"lists:seq/2, lists:zip { }", "probe |lists|seq/2|; probe |lists|zip|; ", 1},
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		erltrace_error_t err;
		erltrace_t *h = erltrace_open(&err);
		char *told;

		erltrace_set_target(h, 4711);
		told = scan(h, list[i].text, list[i].colons, &err);
		CHECK(err.tag[0] == '\0', "%s: %s", list[i].text, err.text);
		CHECK(strcmp(told, list[i].told) == 0, "%s:\n  wanted %s\n  got    %s",
			list[i].text, list[i].told, told);
		free(told);
		erltrace_close(h);
	}
}

static void on_place(void *arg, const erltrace_scan_item_t *i)
{
	FILE *f = arg;

	if (i->kind == ERLTRACE_SCAN_PROBE)
		fprintf(f, "%s %zu %zu %d:%d; ", i->text, i->end, i->behind, i->line, i->column);
}

/* Where descriptions stand, so that a script can be shown and completed. */
static void test_places(void)
{
	static const char text[] = "a:$1,\n b:'x y' /1/ { }\nc";
	static const char *const args[] = {"one"};
	const erltrace_compile_opts_t opts = {
		.size = sizeof(opts), .argc = 1, .argv = args, .default_action = 1, .colons = 1};
	erltrace_error_t err = {0};
	erltrace_t *h = erltrace_open(&err);
	char *told = NULL;
	size_t len;
	FILE *f = open_memstream(&told, &len);

	CHECK(erltrace_scan(h, text, strlen(text), &opts, on_place, f, &err) == 0, "%s", err.text);
	fclose(f);
	CHECK(strcmp(told, "a:$1: 4 15 1:1; b:'x y': 14 15 2:2; c: 24 24 3:1; ") == 0, "%s", told);
	free(told);
	erltrace_close(h);
}

static void test_errors(void)
{
	static const struct {
		const char *text, *tag, *told;
		int line, column;
	} list[] = {
		{"BEGIN { trace(1 }", "D_SYNTAX", "", 1, 17},
		{"BEGIN { trace(pid); }\nEND { @ = }", "D_SYNTAX",
			"probe |||BEGIN; call trace(); var pid; ", 2, 11},
		{"#pragma D option nosuch\nBEGIN { }", "D_PRAGMA_OPTSET", "", 1, 0},
		{"#pragma D option ctypes=made\nBEGIN { }", "D_PRAGMA_OPTSET", "", 1, 0},
		{"#include \"x\"\nBEGIN { }", "D_PRAGCTL_INVAL", "", 1, 0},
		{"", "D_EMPTY", "", 1, 1},
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		erltrace_error_t err;
		erltrace_t *h = erltrace_open(&err);
		char *told = scan(h, list[i].text, 0, &err);

		CHECK(strcmp(err.tag, list[i].tag) == 0 && err.line == list[i].line &&
				err.column == list[i].column,
			"%s: %s %d:%d %s", list[i].text, err.tag, err.line, err.column, err.text);
		CHECK(strcmp(told, list[i].told) == 0, "%s: %s", list[i].text, told);
		free(told);
		erltrace_close(h);
	}
}

/* The handle is as it was; scans share what they declare, as compiles do. */
static void test_handle_is_untouched(void)
{
	erltrace_info_t info = {.size = sizeof(info)};
	erltrace_error_t err = {0};
	erltrace_t *h = erltrace_open(&err);
	char value[64], *told;

	told = scan(h,
		"#pragma D option quiet\ntypedef int mine; inline int n = uid; BEGIN { x = 1; }", 0,
		&err);
	CHECK(err.tag[0] == '\0', "%s", err.text);
	free(told);
	told = scan(h, "END { trace((mine)n); }", 0, &err);
	CHECK(strcmp(told, "probe |||END; call trace(); var uid; ") == 0, "%s %s", told, err.text);
	free(told);
	erltrace_getopt(h, "quiet", value, sizeof(value), &err);
	CHECK(strcmp(value, "off") == 0, "%s", value);
	erltrace_info(h, &info);
	CHECK(info.clauses == 0 && info.variables == 0, "%u %u", info.clauses, info.variables);
	CHECK(erltrace_compile(
		      h, "typedef int mine; BEGIN { x = \"text\"; exit(0); }", NULL, &err) == 0,
		"%s", err.text);
	CHECK(erltrace_go(h, &err) == 0, "%s", err.text);
	told = scan(h, "tick-1s { }", 0, &err); /* at any time */
	CHECK(strcmp(told, "probe |||tick-1s; ") == 0, "%s %s", told, err.text);
	free(told);
	erltrace_close(h);
}

static void on_none(void *arg, const erltrace_scan_item_t *i)
{
	(void)arg, (void)i;
}

/* Neither a program nor a file, whatever the user has set. */
static void test_does_nothing(void)
{
	static const char prog[] = "#!/bin/sh\n: >scan_ran\n";
	static const char text[] = "BEGIN { system(\": >scan_ran\"); }";
	char dir[] = "/tmp/scan_testXXXXXX";
	erltrace_error_t err = {0};
	erltrace_t *h = erltrace_open(&err);
	const erltrace_compile_opts_t opts = {.size = sizeof(opts), .file = "x.d", .preprocess = 1};
	int fd;

	CHECK(mkdtemp(dir) != NULL && chdir(dir) == 0);
	fd = open("run", O_WRONLY | O_CREAT, 0700);
	CHECK(write(fd, prog, strlen(prog)) == (ssize_t)strlen(prog) && close(fd) == 0);
	erltrace_setopt(h, "destructive", NULL, &err);
	erltrace_setopt(h, "cpp", NULL, &err);
	erltrace_setopt(h, "cpppath", "./run", &err);
	erltrace_setopt(h, "ctypes", "scan_types", &err);
	CHECK(erltrace_scan(h, text, strlen(text), &opts, on_none, NULL, &err) == 0, "%s",
		err.text);
	CHECK(access("scan_ran", F_OK) != 0 && access("scan_types", F_OK) != 0);
	CHECK(unlink("run") == 0 && chdir("/") == 0 && rmdir(dir) == 0);
	erltrace_close(h);
}

/* Which descriptions are the kernel's is the providers' to say. */
static void note_kernel(void *arg, const erltrace_scan_item_t *i)
{
	if (i->kind == ERLTRACE_SCAN_PROBE)
		fprintf(arg, "%s%s ", i->provider, i->kernel ? "!" : "");
}

static void test_kernel(void)
{
	static const char text[] =
		"syscall:::, sched:::, proc:::, usdt:::, pid12:::entry, pid*:::entry,"
		"pidx:::entry, python12:::, profile:::tick-1s, erlang*:::, BEGIN { }";
	static const char names[] = "syscall! sched! proc! usdt! pid12! pid*! pidx python12 profile "
				    "erlang*  ";
	erltrace_error_t err = {.tag = ""};
	erltrace_t *h = erltrace_open(&err);
	char *told = NULL;
	size_t len;
	FILE *f = open_memstream(&told, &len);

	CHECK(erltrace_scan(h, text, strlen(text), NULL, note_kernel, f, &err) == 0, "%s",
		err.text);
	fclose(f);
	CHECK(strcmp(told, names) == 0, "%s", told);
	free(told);
	erltrace_close(h);
}

int main(void)
{
	test_items();
	test_places();
	test_errors();
	test_handle_is_untouched();
	test_does_nothing();
	test_kernel();
	return finish();
}
