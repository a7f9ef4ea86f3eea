/* SPDX-License-Identifier: Apache-2.0 */
/* erltrace serve: its options, and its address, which is printed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/main/server_run.h"
#include "client/worker.h"
#include "job.h"
#include "saved.h"
#include "serve_main.h"
#include "web/arguments.h"
#include "web/node_names.h"

enum {
	OPT_PORT = 256,
	OPT_LISTEN,
	OPT_COOKIE_FILE,
	OPT_CLUSTER,
	OPT_MAX_LABELS,
	OPT_SNAPSHOTS,
	OPT_STATE,
	OPT_ALERTMANAGER,
	OPT_WEBHOOK,
	OPT_ALERT_HOLD,
	OPT_OTLP,
	OPT_OTLP_INTERVAL,
	OPT_HELP,
};

static const struct option longs[] = {
	{"alert-hold", required_argument, NULL, OPT_ALERT_HOLD},
	{"alertmanager", required_argument, NULL, OPT_ALERTMANAGER},
	{"cluster", no_argument, NULL, OPT_CLUSTER},
	{"cookie-file", required_argument, NULL, OPT_COOKIE_FILE},
	{"help", no_argument, NULL, OPT_HELP},
	{"listen", required_argument, NULL, OPT_LISTEN},
	{"max-labels", required_argument, NULL, OPT_MAX_LABELS},
	{"otlp", required_argument, NULL, OPT_OTLP},
	{"otlp-interval", required_argument, NULL, OPT_OTLP_INTERVAL},
	{"port", required_argument, NULL, OPT_PORT},
	{"snapshots", required_argument, NULL, OPT_SNAPSHOTS},
	{"state", required_argument, NULL, OPT_STATE},
	{"webhook", required_argument, NULL, OPT_WEBHOOK},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"Usage: erltrace serve [-N node] [--port 9568] [options] FOLDER|SCRIPT ...\n"
	"\n"
	"	Runs scripts all the time and exposes their aggregations to Prometheus\n"
	"	at http://127.0.0.1:9568/metrics. Of a folder it takes all files *.d. It starts\n"
	"	new files, restarts changed ones, and stops removed ones.\n"
	"\n"
	"	-N node          a node to trace; may be repeated\n"
	"	                 (default: all nodes of the cookie's owner on this machine)\n"
	"	--cluster        also trace the nodes that it is connected to, now or later\n"
	"	--port N         port to listen on (9568; 0: any free port)\n"
	"	--listen ADDRESS address to listen on (127.0.0.1)\n"
	"	--max-labels N   maximum number of series of one metric (1000); further keys are\n"
	"	                 added up under the key `other'\n"
	"	--snapshots DIR  where scripts with bufpolicy=ring write snapshots, by snapshot()\n"
	"	                 and with each alert()\n"
	"	--state FILE     keep totals in this file over restarts\n"
	"	--alertmanager URL  send alerts to this Alertmanager of Prometheus\n"
	"	--webhook URL    post alerts as JSON to this URL\n"
	"	--alert-hold N   an alert ends N seconds after its last alert() (60)\n"
	"	--otlp URL       post metrics to an OpenTelemetry collector, at URL/v1/metrics\n"
	"	--otlp-interval N  seconds between two posts (10)\n"
	"	--cookie-file F  file with the cookie ($ERL_COOKIE_FILE, ~/.erlang.cookie)\n"
	"	--help           this text\n";

/* It outlives the server's state: threads of runs that were left may still take it. */
pthread_mutex_t serve_mutex = PTHREAD_MUTEX_INITIALIZER;

void serve_lock(void)
{
	pthread_mutex_lock(&serve_mutex);
}

void serve_unlock(void)
{
	pthread_mutex_unlock(&serve_mutex);
}

static void on_shown(const struct metric *m)
{
	const char *name = strcmp(m->aggregation, "_") == 0 ? "" : m->aggregation;

	if (m->shown)
		serve_say("%s.d: @%s is a metric now: nobody else has its name", m->script, name);
	else
		serve_say("%s.d: @%s is left out: %s", m->script, name, m->why);
}

void serve_say(const char *fmt, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *p = text; *p != '\0';
		p++) /* names of files, and what scripts say: one line each */
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	fprintf(stderr, "erltrace: serve: %s\n", text);
}

int64_t serve_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int bad(const char *fmt, const char *arg)
{
	return argument_bad("serve", fmt, arg);
}

static int one_node(struct serve *v, const char *name)
{
	if (v->nnodes == SERVE_MAX_NODES)
		return bad("too many nodes: %s", name);
	for (int i = 0; i < v->nnodes; i++)
		if (web_same_node(v->nodes[i], name))
			return bad("-N %s: this node is named twice", name);
	v->nodes[v->nnodes++] = name;
	return -1;
}

/* -1: go on; else the exit code. */
static int one_option(struct serve *v, int flag, const char *arg)
{
	int n;

	switch (flag) {
	case 'N': return one_node(v, arg);
	case OPT_PORT:
		v->port = argument_number(arg, 0, 65535);
		return v->port >= 0 ? -1 : bad("not a port: %s", arg);
	case OPT_MAX_LABELS:
		n = argument_number(arg, 1, 1000000);
		v->totals.max_series = n > 0 ? (size_t)n : 0;
		return n > 0 ? -1 : bad("--max-labels takes 1 to 1000000, not %s", arg);
	case OPT_ALERTMANAGER:
		v->alerts.has_manager =
			post_open(&v->alerts.manager, &v->posts, arg, "/api/v2/alerts") == 0;
		return v->alerts.has_manager ? -1 : bad("not a URL, as http://HOST:PORT: %s", arg);
	case OPT_WEBHOOK:
		v->alerts.has_webhook = post_open(&v->alerts.webhook, &v->posts, arg, "") == 0;
		return v->alerts.has_webhook ? -1 : bad("not a URL, as http://HOST:PORT: %s", arg);
	case OPT_ALERT_HOLD:
		v->alerts.hold = argument_number(arg, 1, 86400);
		return v->alerts.hold > 0 ? -1 : bad("--alert-hold takes 1 to 86400, not %s", arg);
	case OPT_OTLP:
		v->otlp.on = post_open(&v->otlp.post, &v->posts, arg, "/v1/metrics") == 0;
		return v->otlp.on ? -1 : bad("not a URL, as http://HOST:PORT: %s", arg);
	case OPT_OTLP_INTERVAL:
		v->otlp.every = argument_number(arg, 1, 3600);
		return v->otlp.every > 0 ? -1 : bad("--otlp-interval takes 1 to 3600, not %s", arg);
	case OPT_SNAPSHOTS: v->snapshots = arg; return -1;
	case OPT_STATE: v->state.name = arg; return -1;
	case OPT_LISTEN: v->listen = arg; return -1;
	case OPT_COOKIE_FILE: v->cookie_file = arg; return -1;
	case OPT_CLUSTER: v->cluster = true; return -1;
	case OPT_HELP: fputs(usage, stdout); return 0;
	default: fputs(usage, stderr); return 2;
	}
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The folder of --snapshots is made, if there is none. */
static bool can_snapshot(const char *dir)
{
	int error = 0;

	if (dir == NULL)
		return true;
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		error = errno;
	else if (!is_folder(dir))
		error = ENOTDIR;
	else if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) < 0)
		error = errno;
	if (error != 0)
		serve_say("--snapshots %s: no file can be written there: %s", dir, strerror(error));
	return error == 0;
}

static int paths(struct serve *v, int argc, char **argv)
{
	for (int i = optind; i < argc; i++) {
		if (v->npaths == SERVE_MAX_PATHS)
			return bad("too many scripts: put them into a folder: %s", argv[i]);
		if (access(argv[i], R_OK) < 0) {
			serve_say("cannot read %s: %s", argv[i], strerror(errno));
			return 2;
		}
		v->paths[v->npaths++] = (struct path){argv[i], is_folder(argv[i]), false};
	}
	return v->npaths > 0 ? -1 : bad("a folder of scripts is needed%s", "");
}

static int options(struct serve *v, int argc, char **argv)
{
	static char name[] = "erltrace serve";
	struct in6_addr any;
	int flag, status = -1;

	argv[0] = name;
	optind = 1;
	while (status == -1 && (flag = getopt_long(argc, argv, "N:", longs, NULL)) != -1)
		status = one_option(v, flag, optarg);
	if (status == -1)
		status = paths(v, argc, argv);
	if (status != -1)
		return status;
	if (v->cluster && v->nnodes == 0)
		return bad("--cluster needs a node of the cluster, -N%s", "");
	if (inet_pton(AF_INET, v->listen, &any) != 1 && inet_pton(AF_INET6, v->listen, &any) != 1)
		return bad("--listen takes an address, as 127.0.0.1 or ::1, not %s", v->listen);
	if (v->nnodes == 1 && strcmp(v->nodes[0], "*") == 0)
		v->nnodes = 0;
	return -1;
}

/* When all scripts have ended, what others wait to hear is told; a server that is down is not
 * waited for. */
void serve_check_end(struct serve *v)
{
	if (!v->closing && jobs_ended(v)) {
		v->closing = true;
		v->close_at = serve_ms() + SERVE_POSTS_MS;
		alerts_end(v);
		otlp_end(v);
	}
	if (v->closing)
		v->ended |=
			serve_ms() >= v->close_at || (alerts_ended(&v->alerts) && otlp_ended(v));
	lws_cancel_service(v->context);
}

int serve_main(int argc, char **argv)
{
	struct serve v = {.listen = "127.0.0.1",
		.port = SERVE_PORT,
		.totals = {.max_series = SERVE_MAX_SERIES,
			.own = own_metrics,
			.owner = "the server itself",
			.on_shown = on_shown},
		.otlp = {.every = OTLP_EVERY},
		.state = {.lock = -1},
		.events = -1};
	int status;

	alerts_init(&v.alerts);
	v.posts = (struct post_loop){.ended = &v.ended, .say = serve_say};
	status = options(&v, argc, argv);
	bool six;

	if (status != -1)
		return status;
	server_run_environment();
	status = 1;
	if (can_snapshot(v.snapshots) && members_open(&v) == 0 && saved_open(&v) == 0 &&
		http_open(&v) == 0 && jobs_watch_end(&v) == 0) {
		six = strchr(v.listen, ':') != NULL;
		printf("http://%s%s%s:%d/metrics\n", six ? "[" : "", v.listen, six ? "]" : "",
			v.port);
		fflush(stdout);
		http_serve(&v);
		serve_lock(); /* scripts may run still, if it was interrupted twice */
		status = (saved_end(&v) < 0) | v.lost;
		serve_unlock();
	}
	http_close(&v);
	serve_lock();
	jobs_free(&v);
	serve_unlock();
	members_free(&v);
	worker_await_left();
	folder_free(&v);
	totals_free(&v.totals);
	alerts_free(&v);
	otlp_free(&v);
	state_file_close(&v.state);
	json_decref(v.saved);
	return status;
}
