/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "erltrace test": scripts run over recorded events, and what they print is compared with what is
 * expected. A test is a file NAME.events, whose first line names the script, and NAME.expected
 * beside it. No node and no privileges are needed, and time is that of the file: the results are
 * the same each time.
 *
 * Files may be somebody else's, of a change that is proposed, for example: they name no file but
 * a script, nothing is compared with or written through a link of theirs, and nothing of them
 * acts on a terminal.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "cli/cli.h"
#include "cli/script/script_library.h"
#include "cli/subcommands.h"
#include "file.h"
#include "output/escape.h"
#include "text_diff.h"

enum { EXPECTED_MOST = 64 << 20, DEEP = 16 };

struct test_run {
	bool update, show;
	const char *script; /* -s: instead of those that the files name */
	char **files;	    /* of events */
	size_t nfiles;
	FILE *report; /* what is said of the test that runs */
	unsigned passed, failed, updated;
	int error; /* errno of the first write of the output that failed; 0: none */
};

static const char usage[] =
	"Usage: erltrace test [-v] [--update] [-s SCRIPT] FILE.events | SCRIPT.d | FOLDER ...\n";

static const char help[] =
	"\n"
	"Run scripts over recorded events (erltrace record), and compare their output with\n"
	"FILE.expected. SCRIPT.d runs all files *.events beside it that name it; FOLDER runs all\n"
	"files *.events in it and below it.\n"
	"\n"
	"	-s SCRIPT  run this script instead of those that the files name\n"
	"	-v         print the output of the scripts\n"
	"	--update   write the expected output anew\n";

/* ---- which files ---------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

static int add_file(struct test_run *t, const char *path)
{
	char *copy = strdup(path);

	if (copy == NULL || !ARRAY_ROOM(t->files, t->nfiles)) {
		cli_say("out of memory");
		free(copy);
		return -1;
	}
	t->files[t->nfiles++] = copy;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All of a folder, and below it. */
static int add_folder(struct test_run *t, const char *path, unsigned deep)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	struct stat st;
	char *sub;
	int rc = 0;

	if (d == NULL) {
		cli_say("cannot read %s: %s", path, strerror(errno));
		return -1;
	}
	while (rc == 0 && (entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&sub, "%s/%s", path, entry->d_name) < 0) {
			rc = -1;
			break;
		}
		if (lstat(sub, &st) == 0 && S_ISDIR(st.st_mode))
			rc = deep < DEEP ? add_folder(t, sub, deep + 1) : 0;
		else if (ends_with(sub, ".events"))
			rc = add_file(t, sub);
		free(sub);
	}
	closedir(d);
	return rc;
}

/* A path that is written in a file, from the file's folder on. The caller frees it. */
static char *beside(const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');
	char *out;

	if (*path == '/' || slash == NULL)
		return strdup(path);
	return asprintf(&out, "%.*s/%s", (int)(slash - file), file, path) < 0 ? NULL : out;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* Does the file of events name this script? */
static bool names(const char *file, const char *script)
{
	erltrace_events_t ev = {.size = sizeof(ev)};
	erltrace_t *h = erltrace_open(NULL);
	char *path = NULL;
	bool is = false;

	if (h != NULL && erltrace_replay(h, file, NULL) == 0 && erltrace_events(h, &ev) == 0 &&
		ev.script != NULL && (path = beside(file, ev.script)) != NULL)
		is = is_same_file(path, script);
	free(path);
	erltrace_close(h);
	return is;
}

/* The files beside a script that name it. */
static int add_script(struct test_run *t, const char *script)
{
	const char *slash = strrchr(script, '/');
	struct test_run all = {.nfiles = 0};
	char *folder = slash != NULL ? strndup(script, (size_t)(slash - script) + 1) : strdup(".");
	size_t before = t->nfiles;
	int rc = folder != NULL ? add_folder(&all, folder, DEEP) : -1;

	for (size_t i = 0; i < all.nfiles; i++) {
		if (rc == 0 && names(all.files[i], script))
			rc = add_file(t, all.files[i]);
		free(all.files[i]);
	}
	free(all.files);
	free(folder);
	if (rc == 0 && t->nfiles == before)
		cli_say("%s has no tests: no file *.events beside it names it", script);
	return rc < 0 || t->nfiles == before ? -1 : 0;
}

static int add_path(struct test_run *t, const char *path)
{
	size_t before = t->nfiles;
	struct stat st;

	if (stat(path, &st) < 0) {
		cli_say("cannot read %s: %s", path, strerror(errno));
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return ends_with(path, ".d") ? add_script(t, path) : add_file(t, path);
	if (add_folder(t, path, 0) < 0)
		return -1;
	if (t->nfiles == before) {
		cli_say("%s has no files *.events", path);
		return -1;
	}
	return 0;
}

/* ---- one test ------------------------------------------------------------------------- */

static int on_text(void *arg, const char *text, size_t len)
{
	fwrite(text, 1, len, arg);
	return 0;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	fprintf(arg, "erltrace: %s\n", d->message);
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	fprintf(arg, "erltrace: %s\n", f->message);
	return 0;
}

/* Run what is compiled; its output, and how it ends, to out. */
static int work(erltrace_t *h, FILE *out, erltrace_error_t *err)
{
	erltrace_handlers_t handlers = {.size = sizeof(handlers),
		.arg = out,
		.text = on_text,
		.drop = on_drop,
		.fault = on_fault};
	int rc, code = 0;

	if (erltrace_go(h, err) < 0)
		return -1;
	do
		rc = erltrace_work(h, &handlers, err);
	while (rc == ERLTRACE_OK);
	if (erltrace_status(h, &code) == ERLTRACE_EXITED && code != 0)
		fprintf(out, "exit status %d\n", code);
	return rc < 0 ? -1 : 0;
}

static int set_options(erltrace_t *h, const erltrace_events_t *ev, erltrace_error_t *err)
{
	for (unsigned i = 0; i < ev->noptions; i++) {
		const char *value = strchr(ev->options[i], '=');
		char name[64];

		snprintf(name, sizeof(name), "%.*s",
			(int)(value != NULL ? (size_t)(value - ev->options[i])
					    : strlen(ev->options[i])),
			ev->options[i]);
		if (erltrace_setopt(h, name, value != NULL ? value + 1 : NULL, err) < 0)
			return -1;
	}
	return 0;
}

/* The script: that of -s, of the file's first line, or one of the library by that name. */
static char *script_of(const struct test_run *t, const char *file, const erltrace_events_t *ev)
{
	char *path, *found;

	if (t->script != NULL)
		return strdup(t->script);
	if (ev->script == NULL)
		return NULL;
	path = beside(file, ev->script);
	if (path == NULL || access(path, F_OK) == 0 ||
		(found = cli_library_find(ev->script)) == NULL)
		return path;
	free(path);
	return found;
}

static int refused(erltrace_error_t *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static int refused(erltrace_error_t *err, const char *fmt, ...)
{
	va_list ap;

	snprintf(err->tag, sizeof(err->tag), "ET_REPLAY");
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -1;
}

/* An error shows a part of the script: what is none is not read. Nor is a fifo waited for. */
static int check_script(const struct test_run *t, const char *script, erltrace_error_t *err)
{
	struct stat st;

	if (t->script != NULL)
		return 0;
	if (!ends_with(script, ".d"))
		return refused(err,
			"the script that it names does not end with .d: %s (-s permits any)",
			script);
	if (stat(script, &st) == 0 && !S_ISREG(st.st_mode))
		return refused(err, "the script that it names is not a file: %s", script);
	return 0;
}

static int run_file(const struct test_run *t, const char *file, FILE *out, erltrace_error_t *err)
{
	erltrace_compile_opts_t opts = {.size = sizeof(opts)};
	erltrace_events_t ev = {.size = sizeof(ev)};
	erltrace_t *h = erltrace_open(err);
	char *script = NULL;
	int rc = -1;

	if (h == NULL || erltrace_replay(h, file, err) < 0 || erltrace_events(h, &ev) < 0)
		goto out;
	script = script_of(t, file, &ev);
	if (script == NULL) {
		refused(err, "the first line of %s has no \"script\": say which, -s SCRIPT", file);
		goto out;
	}
	if (check_script(t, script, err) < 0)
		goto out;
	opts.argc = (int)ev.nargs;
	opts.argv = ev.args;
	if (set_options(h, &ev, err) < 0 || erltrace_compile_file(h, script, &opts, err) < 0)
		goto out;
	rc = work(h, out, err);
out:
	free(script);
	erltrace_close(h);
	return rc;
}

static char *expected_path(const char *file)
{
	size_t n = strlen(file) - (ends_with(file, ".events") ? 7 : 0);
	char *path;

	return asprintf(&path, "%.*s.expected", (int)n, file) < 0 ? NULL : path;
}

static int write_file(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "we");
	bool ok = f != NULL && fwrite(text, 1, len, f) == len;

	if (f != NULL && fclose(f) != 0)
		ok = false;
	if (!ok)
		cli_say("cannot write %s: %s", path, strerror(errno));
	return ok ? 0 : -1;
}

/* Is there something else of this name, or a link? It is neither read nor written. */
static bool is_odd(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* What it printed, beside what is expected. */
static bool compare(struct test_run *t, const char *file, const char *text, size_t len)
{
	char *path = expected_path(file), *expected = NULL;
	size_t n = 0;
	bool odd, same = false;

	if (path == NULL)
		return false;
	odd = is_odd(path);
	if (!odd)
		expected = file_read(path, EXPECTED_MOST, &n);
	same = expected != NULL && n == len && memcmp(expected, text, len) == 0;
	if (same) {
		fprintf(t->report, "%s: passed\n", file);
	} else if (odd) {
		fprintf(t->report, "%s: failed: %s is not a regular file: links are not followed\n",
			file, path);
	} else if (t->update) {
		same = write_file(path, text, len) == 0;
		fprintf(t->report, "%s: %s\n", file,
			!same		   ? "failed"
			: expected != NULL ? "updated"
					   : "written");
		t->updated += same;
	} else if (expected == NULL) {
		fprintf(t->report, "%s: failed: cannot read %s: %s (--update writes it)\n", file,
			path, strerror(errno));
	} else {
		fprintf(t->report, "%s: failed: - is expected, + is printed\n", file);
		text_diff(t->report, expected, text);
	}
	free(expected);
	free(path);
	return same;
}

/* Has what was printed arrived? What the stream could not write it forgets: errno is of now. */
static void check_output(struct test_run *t)
{
	if ((fflush(stdout) != 0 || ferror(stdout)) && t->error == 0)
		t->error = errno != 0 ? errno : EIO;
}

/* Names, errors and output are those of the files. */
static void put(const char *text, size_t len)
{
	char *plain = isatty(STDOUT_FILENO) ? escape_text(text, &len, false) : NULL;

	fwrite(plain != NULL ? plain : text, 1, len, stdout);
	free(plain);
}

static bool report_test(struct test_run *t, const char *file, FILE *out, char **text, size_t *len)
{
	erltrace_error_t err = {0};
	char line[1600];
	int rc = out != NULL ? run_file(t, file, out, &err) : -1;

	if (out != NULL)
		fclose(out);
	if (rc < 0) {
		erltrace_error_format(&err, 0, line, sizeof(line));
		fprintf(t->report, "%s: failed: %s\n", file, line);
		return false;
	}
	if (t->show)
		fwrite(*text, 1, *len, t->report);
	return compare(t, file, *text, *len);
}

static void run_test(struct test_run *t, const char *file)
{
	char *text = NULL, *report = NULL;
	size_t len = 0, n = 0;
	bool ok = false;

	t->report = open_memstream(&report, &n);
	if (t->report != NULL) {
		ok = report_test(t, file, open_memstream(&text, &len), &text, &len);
		if (fclose(t->report) == 0)
			put(report, n);
	} else {
		cli_say("out of memory");
	}
	t->passed += ok;
	t->failed += !ok;
	check_output(t);
	free(report);
	free(text);
}

/* ---- the command ---------------------------------------------------------------------- */

/* What else would decide about results. */
static void forget_environment(void)
{
	extern char **environ;

	setenv("TZ", "UTC", 1);
	for (char **p = environ; p != NULL && *p != NULL;) {
		char name[128];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*p, "="), *p);
		if (strncmp(name, "DTRACE_OPT_", 11) == 0)
			unsetenv(name); /* those behind it move up */
		else
			p++;
	}
}

static int read_args(struct test_run *t, int argc, char **argv)
{
	bool any = false;

	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];

		if (strcmp(a, "--help") == 0) {
			printf("%s%s", usage, help);
			return CLI_OK;
		}
		if (strcmp(a, "--update") == 0) {
			t->update = true;
		} else if (strcmp(a, "-v") == 0) {
			t->show = true;
		} else if (strcmp(a, "-s") == 0 && i + 1 < argc) {
			t->script = argv[++i];
		} else if (a[0] == '-') {
			fprintf(stderr, "erltrace test: unknown option %s\n%s", a, usage);
			return CLI_USAGE;
		} else {
			any = true;
			if (add_path(t, a) < 0)
				return CLI_ERROR;
		}
	}
	if (any)
		return -1;
	fputs(usage, stderr);
	return CLI_USAGE;
}

int test_main(int argc, char **argv)
{
	struct test_run t = {.nfiles = 0};
	int status;

	forget_environment();
	status = read_args(&t, argc, argv);
	if (status == -1) {
		qsort(t.files, t.nfiles, sizeof(*t.files), by_name);
		for (size_t i = 0; i < t.nfiles; i++)
			if (i == 0 || strcmp(t.files[i], t.files[i - 1]) != 0)
				run_test(&t, t.files[i]);
		printf("%u passed, %u failed\n", t.passed, t.failed);
		status = t.failed > 0 ? CLI_ERROR : CLI_OK;
	}
	for (size_t i = 0; i < t.nfiles; i++)
		free(t.files[i]);
	free(t.files);
	check_output(&t);
	if (t.error == 0)
		return status;
	cli_say("failed to write output: %s", strerror(t.error));
	return CLI_ERROR;
}
