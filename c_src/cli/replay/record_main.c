/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "erltrace record": the events that a script would see in a node, with everything that it reads of
 * them, into a file (doc/events.md). The library makes a script that prints that
 * (erltrace_recorder()), a child of ours runs it, as any other, and what it prints as JSON becomes
 * the lines of the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "cli/cli.h"
#include "cli/main/args.h"
#include "cli/main/execute.h"
#include "cli/script/script.h"
#include "cli/script/script_scan.h"
#include "cli/subcommands.h"
#include "json_read.h"
#include "json_write.h"
#include "options.h"

enum { MOST_EVENTS = 1000000, FIELDS = 128 };

struct field {
	char name[48];
	char *json;
};

struct recording {
	struct cli *c;
	FILE *out;
	uint64_t start, last; /* ns, as the node has them */
	bool begun, ended, full, failed;
	int error; /* errno of the first write that failed; 0: none */
	uint64_t events, most, drops;
	/* the event that is gathered */
	bool open;
	uint64_t ts, id;
	char *probe; /* as JSON */
	char *names; /* of the fields of its first clause */
	struct field field[FIELDS];
	unsigned nfields;
};

static const char usage[] = "Usage: erltrace record [-o FILE] [--seconds N] [--events N] -N NODE "
			    "-s SCRIPT | -n PROBE ... [ARGS ...]\n";

static const char help[] =
	"\n"
	"Record the events that a script would see in a node, with everything that it reads of "
	"them,\n"
	"for erltrace test. Stop at ^C, after N seconds, or after N events (a million). With -n and "
	"a bare\n"
	"probe, record everything that its events have. Other options are those of erltrace.\n";

/* ---- JSON ----------------------------------------------------------------------------- */

/* A value as JSON; the caller frees it. */
static char *as_json(const struct js *js, const struct js_node *v)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	unsigned at = (unsigned)(v - js->nodes) + 1;

	if (f == NULL)
		return NULL;
	if (v->kind == JS_TEXT)
		jw_fstring(f, v->text);
	else if (v->kind == JS_NUMBER)
		fprintf(f, "%lld", (long long)v->num);
	else if (v->kind == JS_ARRAY) {
		putc('[', f);
		for (unsigned i = 0; i < v->n; i++, at = js->nodes[at].end) {
			if (i > 0)
				putc(',', f);
			jw_fstring(f, js->nodes[at].kind == JS_TEXT ? js->nodes[at].text : "");
		}
		putc(']', f);
	} else
		fputs("null", f);
	return fclose(f) == 0 ? text : NULL;
}

/* ---- events --------------------------------------------------------------------------- */

static const char *field_of(const struct recording *r, const char *name)
{
	for (unsigned i = 0; i < r->nfields; i++)
		if (strcmp(r->field[i].name, name) == 0)
			return r->field[i].json;
	return NULL;
}

/* "arg0" to "arg9" as an array. */
static void put_args(struct recording *r)
{
	char name[24];
	int last = -1;

	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "arg%d", i);
		if (field_of(r, name) != NULL)
			last = i;
	}
	for (int i = 0; i <= last; i++) {
		snprintf(name, sizeof(name), "arg%d", i);
		fprintf(r->out, "%s%s", i == 0 ? ",\"args\":[" : ",",
			field_of(r, name) != NULL ? field_of(r, name) : "null");
	}
	if (last >= 0)
		putc(']', r->out);
}

/* "erlarg0" and so on; an argument that the call does not have is "". */
static void put_call(struct recording *r)
{
	char name[24];
	int last = -1;
	bool more = true;

	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "erlarg%d", i);
		if (field_of(r, name) != NULL && strcmp(field_of(r, name), "\"\"") != 0)
			last = i;
	}
	snprintf(name, sizeof(name), "erlarg%d", last + 1);
	if (field_of(r, name) != NULL)
		more = false; /* it is not there, so the call has no more */
	else if (field_of(r, "erlarg0") == NULL && last < 0)
		return;
	fputs(",\"erlargs\":[", r->out);
	for (int i = 0; i <= last; i++) {
		snprintf(name, sizeof(name), "erlarg%d", i);
		fprintf(r->out, "%s%s", i > 0 ? "," : "",
			field_of(r, name) != NULL ? field_of(r, name) : "null");
	}
	fprintf(r->out, "%s]", !more ? "" : last >= 0 ? ",null" : "null");
}

static void put_members(struct recording *r)
{
	bool any = false;

	for (unsigned i = 0; i < r->nfields; i++)
		if (strncmp(r->field[i].name, "->", 2) == 0) {
			fprintf(r->out, "%s\"%s\":%s", any ? "," : ",\"members\":{",
				r->field[i].name + 2, r->field[i].json);
			any = true;
		}
	if (any)
		putc('}', r->out);
}

static bool is_gathered(const char *name)
{
	return strncmp(name, "->", 2) == 0 ||
	       (strncmp(name, "arg", 3) == 0 && name[3] >= '0' && name[3] <= '9') ||
	       (strncmp(name, "erlarg", 6) == 0 && name[6] >= '0' && name[6] <= '9');
}

/*
 * Has what was written arrived? Asked as soon as something is written: later errno is another's. A
 * recording that cannot be written ends.
 */
static void check_write(struct recording *r, bool ok)
{
	if ((ok && !ferror(r->out)) || r->error != 0)
		return;
	r->error = errno != 0 ? errno : EIO;
	r->failed = true;
}

/* Write the event that was gathered. */
static void close_event(struct recording *r)
{
	if (!r->open)
		return;
	fprintf(r->out, "{\"at\":%llu,\"probe\":%s", (unsigned long long)(r->ts - r->start),
		r->probe);
	put_args(r);
	put_members(r);
	for (unsigned i = 0; i < r->nfields; i++)
		if (!is_gathered(r->field[i].name))
			fprintf(r->out, ",\"%s\":%s", r->field[i].name, r->field[i].json);
	put_call(r);
	fputs("}\n", r->out);
	check_write(r, true);
	r->events++;
	r->last = r->ts;
	for (unsigned i = 0; i < r->nfields; i++)
		free(r->field[i].json);
	free(r->probe);
	free(r->names);
	r->probe = r->names = NULL;
	r->nfields = 0;
	r->open = false;
}

static void add_field(struct recording *r, const char *name, size_t len, char *json)
{
	struct field *f = &r->field[r->nfields];

	if (json == NULL || r->nfields == FIELDS || len >= sizeof(f->name)) {
		free(json);
		return;
	}
	snprintf(f->name, sizeof(f->name), "%.*s", (int)len, name);
	if (field_of(r, f->name) != NULL) {
		free(json); /* another clause had it */
		return;
	}
	f->json = json;
	r->nfields++;
}

static const char *text_of(const struct js *js, const char *member)
{
	const struct js_node *v = js_member(js, &js->nodes[0], member);

	return v != NULL && v->kind == JS_TEXT ? v->text : "";
}

static uint64_t number_of(const struct js *js, const char *member)
{
	const struct js_node *v = js_member(js, &js->nodes[0], member);

	return v != NULL && v->kind == JS_NUMBER ? (uint64_t)v->num : 0;
}

/* provider:module:function:name, of the node's own provider without the number of its process. */
static char *probe_json(const struct js *js)
{
	const char *prov = text_of(js, "provider");
	char *name, *text = NULL;
	size_t len;
	FILE *f;

	if (strncmp(prov, "erlang", 6) == 0)
		prov = "erlang";
	if (asprintf(&name, "%s:%s:%s:%s", prov, text_of(js, "module"), text_of(js, "function"),
		    text_of(js, "name")) < 0)
		return NULL;
	f = open_memstream(&text, &len);
	if (f != NULL) {
		jw_fstring(f, name);
		fclose(f);
	}
	free(name);
	return text;
}

/* ---- lines of the child --------------------------------------------------------------- */

/* The script as the file names it: relative to the file's folder. The caller frees it. */
static char *script_name(const struct cli *c)
{
	const struct cli_script *s = &c->req.scripts[0];
	const char *slash = c->out.path != NULL ? strrchr(c->out.path, '/') : NULL;
	char *folder, *from = NULL, *to = NULL, *name = NULL;
	size_t same = 0, at = 0, len = 0;
	FILE *f;

	if (s->found != NULL) /* of the library */
		return strdup(strrchr(s->found, '/') + 1);
	folder = slash == NULL ? strdup(".")
			       : strndup(c->out.path, (size_t)(slash - c->out.path) + 1);
	from = folder != NULL ? realpath(folder, NULL) : NULL;
	to = realpath(s->arg, NULL);
	f = from != NULL && to != NULL ? open_memstream(&name, &len) : NULL;
	if (f != NULL) {
		for (; from[at] == to[at] && from[at] != '\0'; at++)
			if (from[at] == '/')
				same = at;
		if (from[at] == '\0' && to[at] == '/')
			same = at;
		else
			fputs("../", f);
		for (const char *up = from + same + 1; from[same] != '\0' && *up != '\0'; up++)
			if (*up == '/')
				fputs("../", f);
		fputs(to + same + 1, f);
		fclose(f);
	}
	free(folder);
	free(from);
	free(to);
	return name != NULL ? name : strdup(s->arg);
}

/* Those of -x, and flags that are options by another name; but for those that no file may set. */
static void put_options(struct recording *r)
{
	const struct cli *c = r->c;
	unsigned n = 0;

	for (int i = 0; i < c->req.nsettings; i++) {
		const struct cli_setting *s = &c->req.settings[i];
		char *text;

		if (strchr("xqFb", s->flag) == NULL || et_opt_is_users(s->name) ||
			asprintf(&text, "%s%s%s", s->name, s->value != NULL ? "=" : "",
				s->value != NULL ? s->value : "") < 0)
			continue;
		fputs(n++ == 0 ? ",\"options\":[" : ",", r->out);
		jw_fstring(r->out, text);
		free(text);
	}
	if (n > 0)
		putc(']', r->out);
}

static void begin(struct recording *r, const struct js *js, const struct js_node *values)
{
	const struct js_node *v = values + 1;
	const struct cli *c = r->c;

	r->out = c->out.path != NULL ? fopen(c->out.path, "we") : stdout;
	if (r->out == NULL) {
		cli_say("cannot write %s: %s", c->out.path, strerror(errno));
		r->failed = true;
		return;
	}
	r->begun = true;
	r->start = r->last = number_of(js, "timestamp");
	fputs("{\"erltrace\":\"events\",\"version\":1", r->out);
	if (c->req.nscripts == 1 && c->req.scripts[0].flag == 's') {
		char *name = script_name(c);

		fputs(",\"script\":", r->out);
		jw_fstring(r->out, name != NULL ? name : "");
		free(name);
	}
	for (int i = 0; i < c->req.nargs; i++) {
		fputs(i == 0 ? ",\"args\":[" : ",", r->out);
		jw_fstring(r->out, c->req.args[i]);
	}
	if (c->req.nargs > 0)
		putc(']', r->out);
	put_options(r);
	fprintf(r->out, ",\"pid\":%lld,\"node\":", (long long)v[1].num);
	jw_fstring(r->out, v[2].kind == JS_TEXT ? v[2].text : "");
	fprintf(r->out, ",\"timestamp\":%llu,\"walltimestamp\":%llu}\n",
		(unsigned long long)r->start, (unsigned long long)number_of(js, "walltimestamp"));
	check_write(r, fflush(r->out) == 0); /* it has begun */
}

/* Several clauses of one event have the same time, and read the same process; none comes twice. */
static bool is_same_event(const struct recording *r, const struct js *js,
	const struct js_node *values, const char *names)
{
	unsigned at = (unsigned)(values - js->nodes) + 2;
	bool same = r->ts == number_of(js, "timestamp") && r->id == number_of(js, "id") &&
		    (r->names == NULL || strcmp(r->names, names) != 0);

	for (unsigned i = 1; i < values->n && same; i++, at = js->nodes[at].end) {
		size_t len = strcspn(names, " ");

		if (len == 6 && strncmp(names, "erlpid", 6) == 0) {
			char *pid = as_json(js, &js->nodes[at]);
			const char *other = field_of(r, "erlpid");

			same = pid != NULL && other != NULL && strcmp(pid, other) == 0;
			free(pid);
		}
		names += len + (names[len] == ' ');
	}
	return same;
}

static void on_record(struct recording *r, const struct js *js)
{
	const struct js_node *values = js_member(js, &js->nodes[0], "values");
	const char *names = values != NULL && values->n > 0 && values[1].kind == JS_TEXT
				    ? values[1].text
				    : NULL;
	uint64_t ts = number_of(js, "timestamp"), id = number_of(js, "id");
	unsigned at = (unsigned)(values - js->nodes) + 2;

	if (names == NULL || r->failed || (!r->begun && strcmp(names, "begin") != 0))
		return;
	if (strcmp(names, "begin") == 0) {
		if (values->n == 3 && !r->begun)
			begin(r, js, values);
		return;
	}
	if (r->open && !is_same_event(r, js, values, names))
		close_event(r);
	if (strcmp(names, "end") == 0) {
		close_event(r);
		r->ended = true;
		r->last = ts > r->last ? ts : r->last;
		return;
	}
	if (ts < r->start)
		return;
	if (!r->open) {
		r->open = true;
		r->ts = ts;
		r->id = id;
		r->probe = probe_json(js);
		r->names = strdup(names);
	}
	for (unsigned i = 1; i < values->n; i++, at = js->nodes[at].end) {
		size_t len = strcspn(names, " ");

		add_field(r, names, len, as_json(js, &js->nodes[at]));
		names += len + (names[len] == ' ');
	}
}

static void on_line(struct recording *r, char *line, size_t len, struct js *js)
{
	const char *type;

	if (js_read(js, line, len) < 0 || js->nodes[0].kind != JS_OBJECT)
		return;
	type = text_of(js, "type");
	if (strcmp(type, "printf") == 0)
		on_record(r, js);
	else if (strcmp(type, "drop") == 0)
		r->drops += number_of(js, "drops");
	else if (strcmp(type, "fault") == 0)
		cli_say("%s", text_of(js, "message"));
}

/* ---- the child ------------------------------------------------------------------------ */

static pid_t child;

static void on_signal(int sig)
{
	(void)sig;
	if (child > 0)
		kill(child, SIGINT); /* it stops, and tells what it still has */
}

static const char **child_args(const struct cli *c)
{
	size_t n = 0;
	const char **v =
		calloc((size_t)(2 * c->req.nnodes + 2 * c->req.nsettings) + 16, sizeof(*v));

	if (v == NULL)
		return NULL;
	v[n++] = "erltrace";
	v[n++] = "--json";
	for (int i = 0; i < c->req.nnodes; i++) {
		v[n++] = "-N";
		v[n++] = c->req.nodes[i];
	}
	if (c->req.cookie_file != NULL) {
		v[n++] = "--cookie-file";
		v[n++] = c->req.cookie_file;
	}
	if (c->req.zero_matches)
		v[n++] = "-Z";
	v[n++] = "-s";
	v[n++] = "/dev/stdin";
	return v;
}

static FILE *start_child(const struct cli *c, const char *script)
{
	const char **argv = child_args(c);
	FILE *text = tmpfile();
	int out[2] = {-1, -1};

	if (argv == NULL || text == NULL || fputs(script, text) < 0 || fflush(text) != 0 ||
		pipe2(out, O_CLOEXEC) < 0) {
		cli_say("cannot start a command: %s", strerror(errno));
		return NULL;
	}
	rewind(text);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGINT);
		signal(SIGINT, SIG_DFL); /* who was started by a shell's & ignores it */
		signal(SIGTERM, SIG_DFL);
		setpgid(0, 0); /* the terminal's ^C is ours, which we pass on */
		if (lseek(fileno(text), 0, SEEK_SET) < 0 || dup2(fileno(text), 0) < 0 ||
			dup2(out[1], 1) < 0)
			_exit(1);
		execv("/proc/self/exe", (char **)argv);
		_exit(127);
	}
	close(out[1]);
	fclose(text);
	free(argv);
	if (child < 0) {
		close(out[0]);
		cli_say("cannot start a command: %s", strerror(errno));
		return NULL;
	}
	return fdopen(out[0], "re");
}

static int read_child(struct recording *r, FILE *f)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct js js = {0};
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int status = 0;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	while (!r->failed && (len = getline(&line, &room, f)) >= 0) {
		on_line(r, line, (size_t)len - (line[len - 1] == '\n'), &js);
		if (r->events + r->open >= r->most) {
			r->full = true;
			break; /* nobody reads any more: it ends */
		}
	}
	close_event(r);
	free(line);
	js_free(&js);
	fclose(f);
	if (r->full || r->failed)
		kill(child, SIGINT); /* or it would find that out with the next event only */
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---- the command ---------------------------------------------------------------------- */

/* What is ours of the arguments; the rest is erltrace's. -1: go on. */
static int own_args(int *argc, char **argv, uint64_t *seconds, uint64_t *events)
{
	int n = 1;

	for (int i = 1; i < *argc; i++) {
		uint64_t *to = strncmp(argv[i], "--seconds", 9) == 0  ? seconds
			       : strncmp(argv[i], "--events", 8) == 0 ? events
								      : NULL;
		const char *value;
		char *end;

		if (strcmp(argv[i], "--help") == 0) {
			printf("%s%s", usage, help);
			return CLI_OK;
		}
		if (to == NULL) {
			argv[n++] = argv[i];
			continue;
		}
		value = strchr(argv[i], '=');
		value = value != NULL ? value + 1 : i + 1 < *argc ? argv[++i] : "";
		*to = strtoull(value, &end, 10);
		if (*value < '0' || *value > '9' || *end != '\0' || *to == 0 || *to > INT32_MAX) {
			cli_say("%s: a number from 1 on is expected, not \"%s\"",
				to == seconds ? "--seconds" : "--events", value);
			return CLI_USAGE;
		}
	}
	argv[n] = NULL;
	*argc = n;
	return -1;
}

static char *make_script(struct cli *c, unsigned seconds)
{
	erltrace_error_t err = {0};
	char *script = NULL;

	c->h = erltrace_open(&err);
	if (c->h == NULL || erltrace_replay(c->h, NULL, &err) < 0) {
		cli_fail(c, &err, "failed to initialize");
		return NULL;
	}
	for (int i = 0; i < c->req.nsettings; i++)
		if (erltrace_setopt(c->h, c->req.settings[i].name, c->req.settings[i].value, &err) <
			0) {
			cli_fail(c, &err, "failed to set %s", c->req.settings[i].name);
			return NULL;
		}
	erltrace_setopt(c->h, "quiet", NULL, NULL); /* of what was matched, the child will tell */
	c->out.quiet = true;
	c->req.show_code = false;
	cli_scan(c);
	if (cli_scripts(c) != CLI_OK)
		return NULL;
	script = erltrace_recorder(c->h, seconds, &err);
	if (script == NULL)
		cli_fail(c, &err, "cannot record");
	return script;
}

static int told_write(const struct recording *r)
{
	if (r->error == 0)
		return CLI_OK;
	cli_say("cannot write %s: %s",
		r->c->out.path != NULL ? r->c->out.path : "to standard output", strerror(r->error));
	return CLI_ERROR;
}

/* The last line. */
static int finish(struct recording *r)
{
	fprintf(r->out, "{\"at\":%llu,\"probe\":\"END\"", (unsigned long long)(r->last - r->start));
	if (r->drops > 0)
		fprintf(r->out, ",\"drops\":%llu", (unsigned long long)r->drops);
	fputs("}\n", r->out);
	check_write(r, fflush(r->out) == 0);
	if (r->out != stdout && fclose(r->out) != 0 && r->error == 0)
		r->error = errno;
	return told_write(r);
}

static int record(struct cli *c, unsigned seconds, uint64_t most)
{
	struct recording r = {.c = c, .most = most};
	bool show = c->req.show_code;
	char *script = make_script(c, seconds);
	FILE *f = NULL;
	int status = CLI_ERROR;

	if (script != NULL && show) {
		r.out = stdout;
		check_write(&r, fputs(script, stdout) >= 0 && fflush(stdout) == 0);
		free(script);
		return told_write(&r);
	}
	if (script == NULL)
		return CLI_ERROR;
	f = start_child(c, script);
	free(script);
	if (f == NULL)
		return CLI_ERROR;
	status = read_child(&r, f);
	if (!r.begun)
		return status != 0 ? status : CLI_ERROR;
	if (finish(&r) != CLI_OK)
		return CLI_ERROR;
	if (r.full)
		status = CLI_OK; /* of one that could not write */
	cli_say("%llu events%s", (unsigned long long)r.events,
		r.full ? ", as many as --events says" : "");
	if (r.drops > 0)
		cli_say("%llu events were lost: the file is not complete",
			(unsigned long long)r.drops);
	return r.drops > 0 ? CLI_ERROR : status;
}

int record_main(int argc, char **argv)
{
	uint64_t seconds = 0, events = MOST_EVENTS;
	struct cli c = {0};
	int status = own_args(&argc, argv, &seconds, &events);

	if (status == -1 && argc == 1) {
		fputs(usage, stderr);
		return CLI_USAGE;
	}
	if (status == -1)
		status = cli_args(&c, argc, argv);
	if (status == -1 && (c.req.nscripts == 0 || c.req.mode != MODE_RUN || c.procs.n > 0 ||
				    c.req.cluster || c.req.nnodes > 1)) {
		cli_say("record takes one node (-N) and a script (-s, -n): erltrace record --help");
		status = CLI_USAGE;
	}
	if (status == -1)
		status = record(&c, (unsigned)seconds, events);
	erltrace_close(c.h);
	cli_free(&c);
	return status;
}
