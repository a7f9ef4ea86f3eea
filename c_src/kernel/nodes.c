/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang nodes, as a script that runs in the kernel has them. What a node has to do is done by a
 * run of the command of its own: it lists probes, or holds a script of usdt() in the nodes, and
 * ends with this process however that ends. Here its output is read.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nodes.h"

#define PATIENCE 60000 /* ms, for a node that is slow to answer */

/* ---- the command ---------------------------------------------------------------------- */

static bool is_number(const char *s)
{
	return s[0] != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* Its arguments up to where the caller's begin; to be freed, not the texts. */
static const char **arguments(const struct et_options *o, unsigned more, unsigned *n)
{
	uint64_t nodes = o->val[OPT_ERLNODE];
	const char **v = calloc(2 * nodes + more + 2, sizeof(*v));

	*n = 0;
	if (v == NULL)
		return NULL;
	v[(*n)++] = "erltrace";
	for (uint64_t i = 0; i < nodes; i++) {
		v[(*n)++] = is_number(o->str[OPT_ERLNODE][i]) ? "-p" : "-N";
		v[(*n)++] = o->str[OPT_ERLNODE][i];
	}
	return v;
}

/* out: what it prints and says. */
static pid_t run(const char **argv, int *out)
{
	pid_t parent = getpid(), pid;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		setpgid(0, 0); /* the terminal's ^C is for us: we end it */
		if (getppid() != parent)
			_exit(127);
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		execv("/proc/self/exe", (char **)(uintptr_t)argv);
		_exit(127);
	}
	close(fds[1]);
	if (pid < 0)
		close(fds[0]);
	*out = fds[0];
	return pid;
}

/* What it printed up to its end, or up to a line; to be freed. NULL: out of memory, or too late. */
static char *read_until(int fd, const char *line)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t len = 0, room = 4096;
	char *text = malloc(room), *more;
	ssize_t n;

	while (text != NULL) {
		if (room - len < 2048) {
			more = realloc(text, room *= 2);
			if (more == NULL)
				break;
			text = more;
		}
		n = poll(&p, 1, PATIENCE);
		if (n < 0 && errno == EINTR)
			continue;
		n = n > 0 ? read(fd, text + len, room - len - 1) : -1;
		if (n < 0)
			break;
		len += (size_t)n;
		text[len] = '\0';
		if (n == 0 || (line != NULL && strstr(text, line) != NULL))
			return text;
	}
	free(text);
	return NULL;
}

static int ended(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Its last line: before that there may be all of a script. */
static int failed(const char *text, struct et_error *e)
{
	size_t len = text != NULL ? strlen(text) : 0;
	int skip = 0;

	while (len > 0 && text[len - 1] == '\n')
		len--;
	if (len == 0)
		return et_err(e, "ET_NODE", "the Erlang node does not answer");
	for (const char *nl; (nl = memchr(text, '\n', len)) != NULL; text = nl + 1)
		len -= (size_t)(nl + 1 - text);
	if (strncmp(text, "erltrace: ", 10) == 0)
		skip = 10;
	return et_err(e, "ET_NODE", "probes of an Erlang node: %.*s", (int)len - skip, text + skip);
}

/* ---- listing -------------------------------------------------------------------------- */

/* "ID PROVIDER MODULE FUNCTION NAME"; module and function may be missing. */
static int one_probe(char *line, k_node_probe cb, void *arg)
{
	char *word[6], *save = NULL, *w;
	unsigned n = 0;

	for (w = strtok_r(line, " ", &save); w != NULL && n < 6; w = strtok_r(NULL, " ", &save))
		word[n++] = w;
	if (n < 3 || !is_number(word[0]) || strncmp(word[1], "erlang", 6) != 0)
		return 0;
	if (n == 5)
		return cb(arg, word[1], word[2], word[3], word[4]);
	/* behind the name there may be a mark: it cannot be given */
	return n == 3 ? cb(arg, word[1], "", "", word[2]) : 0;
}

int k_nodes_list(const struct et_options *o, const char *desc, k_node_probe cb, void *arg,
	struct et_error *e)
{
	unsigned n;
	const char **argv = arguments(o, 3, &n);
	char *text, *line, *save = NULL;
	int out = -1, status, rc = 0;
	pid_t pid;

	if (argv == NULL)
		return et_err(e, "ET_MEMORY", "out of memory");
	argv[n++] = "-l";
	argv[n++] = "-n";
	argv[n++] = desc;
	pid = run(argv, &out);
	free(argv);
	if (pid < 0)
		return et_err(e, "ET_NODE", "the command cannot be run: %s", strerror(errno));
	text = read_until(out, NULL);
	close(out);
	if (text == NULL)
		kill(pid, SIGKILL);
	status = ended(pid);
	if (text == NULL || (status != 0 && strstr(text, "No probes matched") == NULL &&
				    strstr(text, "PROVIDER") == NULL))
		rc = failed(text, e);
	for (line = rc == 0 ? strtok_r(text, "\n", &save) : NULL; line != NULL && rc == 0;
		line = strtok_r(NULL, "\n", &save))
		rc = one_probe(line, cb, arg);
	free(text);
	return rc;
}

/* ---- arming --------------------------------------------------------------------------- */

/* Options that are for what happens inside nodes. */
static const struct {
	const char *name, *unit;
	unsigned opt;
} passed[] = {
	{"watchdog", "", OPT_WATCHDOG},
	{"watchtime", "ns", OPT_WATCHTIME},
	{"silence", "ns", OPT_SILENCE},
};
enum { NPASSED = sizeof(passed) / sizeof(*passed) };

int k_nodes_arm(
	const struct et_options *o, const char *script, struct k_armed *a, struct et_error *e)
{
	unsigned n;
	const char **argv = arguments(o, 5 + 2 * NPASSED, &n);
	char *text, set[NPASSED][64];

	if (argv == NULL)
		return et_err(e, "ET_MEMORY", "out of memory");
	argv[n++] = "-q";
	for (unsigned i = 0; i < NPASSED; i++)
		if (o->set[passed[i].opt]) {
			snprintf(set[i], sizeof(set[i]), "%s=%llu%s", passed[i].name,
				(unsigned long long)o->val[passed[i].opt], passed[i].unit);
			argv[n++] = "-x";
			argv[n++] = set[i];
		}
	argv[n++] = "-n";
	argv[n++] = "BEGIN { printf(\"armed\\n\"); }";
	argv[n++] = "-n";
	argv[n++] = script;
	a->len = 0;
	a->stopped = a->ended = a->told = false;
	a->pid = run(argv, &a->out);
	free(argv);
	if (a->pid < 0) {
		a->pid = 0;
		return et_err(e, "ET_NODE", "the command cannot be run: %s", strerror(errno));
	}
	text = read_until(a->out, "armed\n");
	if (text == NULL || strstr(text, "armed\n") == NULL) {
		failed(text, e);
		free(text);
		k_nodes_disarm(a);
		return -1;
	}
	free(text);
	return 0;
}

/* What has come of its output by now, or in some time; false: nothing. More than fits is lost. */
static bool hear(struct k_armed *a, int ms)
{
	struct pollfd p = {.fd = a->out, .events = POLLIN};
	size_t room = sizeof(a->said) - 1 - a->len;
	char rest[512];
	ssize_t n;

	if (a->pid == 0 || a->ended || poll(&p, 1, ms) <= 0)
		return false;
	n = room > 0 ? read(a->out, a->said + a->len, room) : read(a->out, rest, sizeof(rest));
	a->ended = n == 0;
	if (n > 0 && room > 0)
		a->len += (size_t)n;
	a->said[a->len] = '\0';
	return n > 0;
}

bool k_nodes_news(struct k_armed *a, char *buf, size_t size, bool *ended)
{
	static const char prefix[] = "erltrace: ";
	while (hear(a, 0))
		;
	while (a->len > 0) {
		size_t n = strcspn(a->said, "\n"), skip = sizeof(prefix) - 1;
		bool told = strncmp(a->said, prefix, skip) == 0;

		if (n == a->len && !a->ended && a->pid != 0)
			break; /* the rest of it will come */
		if (told)
			snprintf(buf, size, "in the node: %.*s", (int)(n - skip), a->said + skip);
		n += n < a->len; /* a line's end, or a NUL that somebody printed */
		memmove(a->said, a->said + n, a->len - n + 1);
		a->len -= n;
		if (told)
			return true;
	}
	if (a->stopped || !a->ended || a->told)
		return false;
	*ended = a->told = true;
	snprintf(buf, size,
		"the events inside the node have come to an end, and so has the script");
	return true;
}

void k_nodes_disarm(struct k_armed *a)
{
	if (a->pid == 0)
		return;
	a->stopped = !a->ended;
	kill(a->pid, SIGTERM);
	while (hear(a, PATIENCE)) /* up to its end */
		;
	close(a->out);
	ended(a->pid);
	a->pid = 0;
}
