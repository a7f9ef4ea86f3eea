/* SPDX-License-Identifier: Apache-2.0 */
/* erltrace web: its options, where its files are, and its address, which is printed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/main/server_run.h"
#include "client/worker.h"
#include "node/paths.h"
#include "arguments.h"
#include "node_names.h"
#include "script_run.h"
#include "server.h"

enum {
	OPT_PORT = 256,
	OPT_BIND,
	OPT_COOKIE_FILE,
	OPT_TOKEN_FILE,
	OPT_SCRIPTS,
	OPT_PAGES,
	OPT_HOST,
	OPT_TLS_CERT,
	OPT_TLS_KEY,
	OPT_LOG,
	OPT_RUN_SECONDS,
	OPT_UNTIL_EOF,
	OPT_KERNEL_PROBES,
	OPT_HELP,
};

static const struct option longs[] = {
	{"bind", required_argument, NULL, OPT_BIND},
	{"cookie-file", required_argument, NULL, OPT_COOKIE_FILE},
	{"help", no_argument, NULL, OPT_HELP},
	{"host", required_argument, NULL, OPT_HOST},
	{"kernel", optional_argument, NULL, OPT_KERNEL_PROBES},
	{"log", required_argument, NULL, OPT_LOG},
	{"pages", required_argument, NULL, OPT_PAGES},
	{"port", required_argument, NULL, OPT_PORT},
	{"run-seconds", required_argument, NULL, OPT_RUN_SECONDS},
	{"scripts", required_argument, NULL, OPT_SCRIPTS},
	{"tls-cert", required_argument, NULL, OPT_TLS_CERT},
	{"tls-key", required_argument, NULL, OPT_TLS_KEY},
	{"token-file", required_argument, NULL, OPT_TOKEN_FILE},
	{"until-eof", no_argument, NULL, OPT_UNTIL_EOF},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"Usage: erltrace web [-N node] [--port 8042] [--bind 127.0.0.1] [options]\n"
	"\n"
	"	-N node          a node that the page may trace; may be repeated\n"
	"	                 (default: all nodes of the cookie's owner on this machine)\n"
	"	--port N         port to listen on (8042; 0: any free port)\n"
	"	--bind ADDRESS   address to listen on (127.0.0.1); any other than loopback needs "
	"TLS\n"
	"	--cookie-file F  file with the cookie ($ERL_COOKIE_FILE, ~/.erlang.cookie);\n"
	"	                 -: read a line of standard input\n"
	"	--token-file F   file with the token for browsers, created if it does not exist\n"
	"	--scripts DIR    folder with the scripts of the menu\n"
	"	--tls-cert F, --tls-key F  certificate chain and key, PEM: serve https\n"
	"	--host NAME      a name by which browsers may reach the server; may be repeated\n"
	"	--log FILE       append to this log who ran what (default: standard error)\n"
	"	--run-seconds N  maximum seconds that a script may run (3600)\n"
	"	--kernel         permit probes of this machine's kernel (syscall, pid ...), which\n"
	"	                 see all of its processes\n"
	"	--kernel=NODE    the same, traced by the helper of this node: as its user may\n"
	"	--until-eof      end when standard input ends\n"
	"	--pages DIR      folder with the page's files\n"
	"	--help           this text\n";

/* ---- options ---------------------------------------------------------------------------- */

static int bad(const char *fmt, const char *arg)
{
	return argument_bad("web", fmt, arg);
}

static int add(const char **v, int *n, int max, const char *arg)
{
	if (*n == max)
		return bad("too many of them: %s", arg);
	v[(*n)++] = arg;
	return -1;
}

static int folder(char *to, const char *arg)
{
	if (strlen(arg) >= 4096)
		return bad("too long a path: %s", arg);
	snprintf(to, 4096, "%s", arg);
	return -1;
}

/*
 * --cookie-file -: a line of standard input, which whoever starts us may have nowhere in a file. It
 * stays in one without a name, of this process and readable by its user alone, where the commands
 * that the server starts find it. Byte by byte: what follows is not ours (--until-eof).
 */
static int cookie_from_input(struct web_opts *o)
{
	static char path[64];
	char text[1024];
	size_t n = 0;
	int fd;

	while (n < sizeof(text) && read(STDIN_FILENO, text + n, 1) == 1 && text[n] != '\n')
		n++;
	fd = memfd_create("cookie", MFD_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0600) < 0 || write(fd, text, n) != (ssize_t)n)
		return bad("cannot keep the cookie: %s", strerror(errno));
	explicit_bzero(text, sizeof(text));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	o->cookie_file = path;
	return -1;
}

/* -1: go on; else the exit code. */
static int one_option(struct web_opts *o, int flag, const char *arg)
{
	switch (flag) {
	case 'N': return add(o->nodes, &o->nnodes, WEB_MAX_NODES, arg);
	case OPT_HOST: return add(o->hosts, &o->nhosts, 16, arg);
	case OPT_PORT:
		o->port = argument_number(arg, 0, 65535);
		return o->port >= 0 ? -1 : bad("not a port: %s", arg);
	case OPT_RUN_SECONDS:
		o->run_seconds = argument_number(arg, 1, WEB_RUN_SECONDS);
		return o->run_seconds > 0 ? -1 : bad("1 to 3600 seconds, not %s", arg);
	case OPT_BIND: o->bind = arg; return -1;
	case OPT_COOKIE_FILE: o->cookie_file = arg;
		return strcmp(arg, "-") == 0 ? cookie_from_input(o) : -1;
	case OPT_TOKEN_FILE: o->token_file = arg; return -1;
	case OPT_TLS_CERT: o->tls_cert = arg; return -1;
	case OPT_TLS_KEY: o->tls_key = arg; return -1;
	case OPT_LOG: o->log = arg; return -1;
	case OPT_SCRIPTS: return folder(o->scripts, arg);
	case OPT_PAGES: return folder(o->pages, arg);
	case OPT_UNTIL_EOF: o->until_eof = true; return -1;
	case OPT_KERNEL_PROBES:
		o->kernel = true;
		o->kernel_node = arg;
		return -1;
	case OPT_HELP: fputs(usage, stdout); return 0;
	default: fputs(usage, stderr); return 2;
	}
}

static int options(struct web_opts *o, int argc, char **argv)
{
	static char name[] = "erltrace web";
	int flag, status = -1;

	argv[0] = name;
	optind = 1;
	while (status == -1 && (flag = getopt_long(argc, argv, "N:", longs, NULL)) != -1)
		status = one_option(o, flag, optarg);
	if (status == -1 && optind < argc)
		status = bad("unknown argument: %s", argv[optind]);
	return status;
}

/* Another address can be reached by others: not without TLS. The token is always needed. */
static int check(const struct web_opts *o)
{
	struct in6_addr any;

	if ((o->tls_cert == NULL) != (o->tls_key == NULL))
		return bad("both --tls-cert and --tls-key are needed%s", "");
	if (inet_pton(AF_INET, o->bind, &any) != 1 && inet_pton(AF_INET6, o->bind, &any) != 1)
		return bad("--bind takes an address, as 127.0.0.1 or ::1, not %s", o->bind);
	if (!web_is_loopback(o->bind) && o->tls_cert == NULL)
		return bad("refusing to listen on %s without TLS, because others could reach it: "
			   "give --tls-cert and --tls-key",
			o->bind);
	if (o->tls_cert != NULL && (access(o->tls_cert, R_OK) < 0 || access(o->tls_key, R_OK) < 0))
		return bad("cannot read the certificate or its key: %s", strerror(errno));
	return -1;
}

/* ---- files ------------------------------------------------------------------------------ */

static int open_log(struct web *w)
{
	w->log = stderr;
	if (w->o.log == NULL)
		return 0;
	w->log = fopen(w->o.log, "ae");
	if (w->log != NULL)
		return 0;
	web_say("cannot open the log %s: %s", w->o.log, strerror(errno));
	return -1;
}

static void tell_address(const struct web *w)
{
	const char *six = w->o.nhosts == 0 && strchr(w->o.bind, ':') != NULL ? "[" : "";

	printf("%s://%s%s%s:%d/", w->o.tls_cert != NULL ? "https" : "http", six,
		w->o.nhosts > 0 ? w->o.hosts[0] : w->o.bind, six[0] ? "]" : "", w->port);
	if (w->o.token_file == NULL)
		printf("#token=%s\n", w->token_text);
	else
		printf("#token=(in %s)\n", w->o.token_file);
	fflush(stdout);
}

int web_main(int argc, char **argv)
{
	struct web w = {
		.o = {.port = WEB_PORT, .bind = "127.0.0.1", .run_seconds = WEB_RUN_SECONDS},
		.logins = {.n = WEB_LOGINS, .each_ms = 6000},
		.compiles = {.n = WEB_ALL_COMPILES, .each_ms = 500},
		.refusals = {.rate = {.n = WEB_REFUSALS, .each_ms = 10000}},
		.displaced = {.rate = {.n = 1, .each_ms = 10000}},
		.events = -1};
	int status = options(&w.o, argc, argv);

	if (status == -1)
		status = check(&w.o);
	if (status != -1)
		return status;
	server_run_environment();
	if (w.o.scripts[0] == '\0')
		paths_find(&paths_scripts, w.o.scripts);
	if (w.o.pages[0] == '\0')
		paths_find(&paths_pages, w.o.pages);
	status = 1;
	if (open_log(&w) == 0 && web_token(&w) == 0 && web_load_pages(&w) == 0 &&
		web_open(&w) == 0 && run_watch_end(&w) == 0) {
		tell_address(&w);
		explicit_bzero(w.token_text, sizeof(w.token_text));
		web_serve(&w);
		status = 0;
	}
	web_close(&w);
	web_tell_more(&w);
	run_free_all(&w);
	worker_await_left();
	web_free_pages(&w);
	if (w.log != NULL && w.log != stderr)
		fclose(w.log);
	return status;
}
