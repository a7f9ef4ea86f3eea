/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's bridge to Erlang nodes (include/erltrace.h): for a script that runs in the kernel
 * it lists probes of nodes, and holds scripts there that hand events over. It is a client of theirs as
 * the command is, but prints nothing: what nodes say is news for the library.
 *
 * Connections belong to a thread of their own. It enters the network of a container where that is
 * needed, and gives the agents their signs of life while the command is busy. The library's thread
 * waits for it in list and arm; after that they share a queue of lines, under a lock, and the
 * thread runs until it is disarmed or no node is left. All its waiting has a bound.
 *
 */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/client.h"
#include "node/agent.h"
#include "node/process.h"
#include "cli/nodes.h"

enum {
	PATIENCE_MS = 60000, /* for a node that is slow to answer */
	STOP_MS = 10000,     /* ... to end its script */
	PROCESS_MS = 5000,   /* a connection ends before its process does, */
	STOPPING_MS = 1000,  /* by so much, where somebody waits for us */
	TURN_MS = 1000,	     /* the command sees the process end too, and ends by itself */
	MAX_MESSAGES = 100,     /* that nobody has asked for yet; more are lost */
};

struct message {
	struct message *next;
	char text[512];
};

struct cli_bridge {
	struct client cl; /* first: handlers are given this */
	struct cli *c;	  /* the command */
	struct request request;
	const char **nodes; /* of the request, as are these */
	pid_t *pids;
	int *pidfds; /* of these */
	struct request_pair *settings;
	char **names; /* of these */
	pthread_t thread;
	/* the thread's in list and arm, while the other one waits */
	const erltrace_arming_t *arming;
	struct et_error error;
	FILE *rows;		     /* list: four names for each probe, with their NULs */
	const struct target *listed; /* the node that sends them */
	int64_t until;		     /* ms: when a node should have answered */
	/* under the lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum { ARMING, ARMED, ENDED } phase; /* changed by the thread */
	bool stopping;
	struct message *messages, **last;
	int nmessages;
	int wake; /* arm: an eventfd that says that stopping has been set; list: 0 */
};

static struct cli_bridge *bridge_of(struct client *cl)
{
	return (struct cli_bridge *)cl;
}

/* ---- what is asked ----------------------------------------------------------------------- */

static bool is_number(const char *s)
{
	return s[0] != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* A request that names these nodes. */
static int begin(struct cli_bridge *b, const char *const *nodes, bool list)
{
	struct request *r = &b->request;
	int n = 0;

	while (nodes[n] != NULL)
		n++;
	*r = (struct request){.cookie_file = b->c->req.cookie_file,
		.list = list,
		.silence_ms = cli_silence_ms(b->c)};
	b->cl = (struct client){.wake = b->wake};
	b->nodes = calloc((size_t)n + 1, sizeof(*b->nodes));
	b->pids = calloc((size_t)n + 1, sizeof(*b->pids));
	b->pidfds = calloc((size_t)n + 1, sizeof(*b->pidfds));
	if (b->nodes == NULL || b->pids == NULL || b->pidfds == NULL)
		return et_err(&b->error, ET_NOMEM, "out of memory");
	for (int i = 0; i < n; i++) {
		pid_t pid = is_number(nodes[i]) ? atoi(nodes[i]) : 0;

		if (pid == 0 && strcmp(nodes[i], "*") != 0)
			b->nodes[r->nnodes++] = nodes[i];
		if (pid == 0)
			continue;
		b->pidfds[r->npids] = (int)syscall(SYS_pidfd_open, pid, 0);
		b->pids[r->npids++] = pid;
	}
	r->nodes = b->nodes;
	r->pids = b->pids;
	return 0;
}

static void end(struct cli_bridge *b)
{
	for (int i = 0; i < b->request.npids; i++)
		if (b->pidfds[i] >= 0)
			close(b->pidfds[i]);
	for (int i = 0; i < b->request.nsettings; i++)
		free(b->names[i]);
	free(b->nodes);
	free(b->pids);
	free(b->pidfds);
	free(b->settings);
	free(b->names);
	b->nodes = NULL;
	b->pids = NULL;
	b->pidfds = NULL;
	b->settings = NULL;
	b->names = NULL;
	b->request = (struct request){.nodes = NULL};
	et_err_clear(&b->error);
}

/* What the client has failed at, unless something else has failed before. */
static void keep_failure(struct cli_bridge *b)
{
	const struct et_error *e = &b->cl.error;

	if (e->tag[0] != '\0')
		et_err_as(&b->error, e, "%s: %s", b->cl.doing, e->text);
}

static int fail(struct cli_bridge *b, erltrace_error_t *err)
{
	*err = b->error;
	end(b);
	return -1;
}

/* Signals are for the command. */
static int start_thread(struct cli_bridge *b, void *(*run)(void *))
{
	sigset_t all, old;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&b->thread, NULL, run, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error == 0 ? 0 : et_err(&b->error, ET_NODE, "no thread: %s", strerror(error));
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* Its process as this machine numbers it: -p has named one in a container by that number. */
static pid_t pid_of(const struct cli_bridge *b, const struct nd *nd)
{
	for (int i = 0; i < b->request.npids; i++)
		if (nd_own_pid(b->pids[i]) == nd->ospid)
			return b->pids[i];
	return (pid_t)nd->ospid;
}

static int find_nodes(struct cli_bridge *b)
{
	int rc = client_find(&b->cl, &b->request);

	for (int i = 0; i < b->cl.n; i++)
		b->cl.v[i].pid = pid_of(b, b->cl.v[i].nd);
	return rc;
}

static void on_done(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	(void)cl, (void)x, (void)at;
	t->state = DONE;
	nd_agent_gone(t->nd);
}

/* One that does not answer is not waited for: it ends all when it sees the connection end. */
static void leave(struct cli_bridge *b)
{
	for (int i = 0; i < b->cl.n; i++)
		if (b->cl.v[i].state != DONE)
			b->cl.v[i].nd->came = false;
	client_leave(&b->cl);
}

static void no_answer(struct cli_bridge *b)
{
	for (int i = 0; i < b->cl.n; i++)
		if (b->cl.v[i].state != DONE)
			et_err(&b->error, ET_NODE, "the node %s does not answer",
				b->cl.v[i].nd->name);
}

/* ---- listing ------------------------------------------------------------------------------ */

static int keep_row(void *arg, const erltrace_probe_info_t *p)
{
	struct cli_bridge *b = arg;

	if (!p->absent)
		fprintf(b->rows, "erlang%d%c%s%c%s%c%s%c", (int)b->listed->pid, 0, p->module, 0,
			p->function, 0, p->name, 0);
	return 0;
}

static void list_rows(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	struct cli_bridge *b = bridge_of(cl);

	b->listed = t;
	b->until = client_ms() + PATIENCE_MS;
	client_get_rows(x, at, keep_row, b);
	client_tell(t, "more");
}

/* That it has no such probe is no failure. */
static void list_failed(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	erltrace_error_t err;
	long script = -1;

	(void)t;
	if (client_get_failure(x, at, &script, &err) == 0 && script < 0)
		et_err_as(&bridge_of(cl)->error, &err, "%s", err.text);
}

static void list_gone(struct client *cl, struct target *t, struct et_error *e)
{
	t->state = DONE;
	et_err_as(&bridge_of(cl)->error, e, "%s", e->text);
}

static void *list_thread(void *arg)
{
	static const struct client_handler handlers[] = {
		{"rows", list_rows}, {"failed", list_failed}, {"done", on_done}, {NULL, NULL}};
	struct cli_bridge *b = arg;

	b->cl.handlers = handlers;
	b->cl.gone = list_gone;
	b->until = client_ms() + PATIENCE_MS;
	if (find_nodes(b) < 0 || client_start_all(&b->cl, &b->request) < 0)
		keep_failure(b);
	while (b->error.tag[0] == '\0' && !client_all_done(&b->cl, NULL) && client_ms() < b->until)
		client_receive(&b->cl, 1000);
	no_answer(b);
	leave(b);
	return NULL;
}

/* Rows to the library, by its own thread. */
static int give_rows(const char *at, const char *end, erltrace_probe_cb *cb, void *arg)
{
	int rc = 0;

	while (at < end && rc == 0) {
		erltrace_probe_info_t p = {.provider = at, .nargs = -1};

		p.module = p.provider + strlen(p.provider) + 1;
		p.function = p.module + strlen(p.module) + 1;
		p.name = p.function + strlen(p.function) + 1;
		at = p.name + strlen(p.name) + 1;
		rc = cb(arg, &p);
	}
	return rc;
}

static int b_list(void *arg, const char *const *nodes, const char *desc, erltrace_probe_cb *cb,
	void *cb_arg, erltrace_error_t *err)
{
	struct cli_bridge *b = arg;
	const struct request_script s = {.name = desc, .text = desc};
	char *rows = NULL;
	size_t len = 0;
	int rc;

	b->wake = 0;
	b->rows = open_memstream(&rows, &len);
	rc = b->rows != NULL ? begin(b, nodes, true)
			     : et_err(&b->error, ET_NOMEM, "out of memory");
	b->request.scripts = &s;
	b->request.nscripts = 1;
	if (rc == 0 && (rc = start_thread(b, list_thread)) == 0)
		pthread_join(b->thread, NULL);
	if (b->rows != NULL)
		fclose(b->rows);
	if (rc < 0 || (len == 0 && b->error.tag[0] != '\0')) {
		rc = fail(b, err);
	} else {
		end(b);
		rc = give_rows(rows, rows + len, cb, cb_arg);
	}
	free(rows);
	return rc;
}

/* ---- news --------------------------------------------------------------------------------- */

static bool is_stopping(struct cli_bridge *b)
{
	bool stopping;

	pthread_mutex_lock(&b->lock);
	stopping = b->stopping;
	pthread_mutex_unlock(&b->lock);
	return stopping;
}

static void wait_stopping(struct cli_bridge *b, int ms)
{
	struct pollfd p = {.fd = b->wake, .events = POLLIN};

	poll(&p, 1, ms);
}

/* A line of news; t: whose, if there are several nodes. */
__attribute__((format(printf, 3, 4))) static void say(
	struct cli_bridge *b, const struct target *t, const char *fmt, ...)
{
	struct message *m = calloc(1, sizeof(*m));
	size_t len = 0;
	va_list ap;

	if (m == NULL)
		return;
	if (t != NULL && b->cl.n > 1)
		len = (size_t)snprintf(m->text, sizeof(m->text), "%s: ", t->nd->name);
	va_start(ap, fmt);
	vsnprintf(m->text + len, sizeof(m->text) - len, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&b->lock);
	if (b->nmessages < MAX_MESSAGES) {
		b->nmessages++;
		*b->last = m;
		b->last = &m->next;
		m = NULL;
	}
	pthread_mutex_unlock(&b->lock);
	free(m);
}

static int b_news(void *arg, char *buf, size_t size)
{
	struct cli_bridge *b = arg;
	struct message *m;
	bool ended;

	pthread_mutex_lock(&b->lock);
	m = b->messages;
	if (m != NULL) {
		b->messages = m->next;
		b->nmessages--;
		if (m->next == NULL)
			b->last = &b->messages;
	}
	ended = b->phase == ENDED && !b->stopping;
	pthread_mutex_unlock(&b->lock);
	if (m == NULL)
		return ended ? -1 : 0;
	snprintf(buf, size, "%s", m->text);
	free(m);
	return 1;
}

/* ---- arming ------------------------------------------------------------------------------- */

static bool is_arming(const struct cli_bridge *b)
{
	return b->phase == ARMING;
}

static void arm_matched(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	(void)cl, (void)x, (void)at;
	t->state = COMPILED;
}

static void on_item(
	struct client *cl, struct target *t, const char *kind, const char *text, long len)
{
	if (strcmp(kind, "err") == 0 || strcmp(kind, "drop") == 0)
		say(bridge_of(cl), t, "%.*s", (int)len, text); /* up to a NUL */
}

/* The first one is of BEGIN, and comes when all is armed. */
static void arm_batch(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	client_get_items(cl, t, x, at, on_item);
	t->began_at = client_ms();
	client_tell(t, "more");
}

static void arm_failed(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	struct cli_bridge *b = bridge_of(cl);
	erltrace_error_t err;
	char stood[256];
	long script = -1;

	if (client_get_failure(x, at, &script, &err) < 0)
		return;
	cl->ending = true;
	if (is_arming(b)) {
		et_err_as(&b->error, &err, "%s", err.text);
		return;
	}
	say(b, t, "processing aborted: %s", err.text);
	if (et_err_is(&err, ET_SILENCE) && client_stood(cl, stood, sizeof(stood)))
		say(b, NULL, "%s", stood);
}

/* All of them. */
static bool processes_ended(const struct cli_bridge *b)
{
	for (int i = 0; i < b->request.npids; i++) {
		struct pollfd p = {.fd = b->pidfds[i], .events = POLLIN};

		if (p.fd >= 0 && poll(&p, 1, 0) == 0)
			return false;
	}
	return true;
}

/*
 * The processes of -p and -c have ended: the command waits for that, and says what is to be said.
 */
static bool is_expected(struct cli_bridge *b, const struct target *t)
{
	int64_t since = client_ms();
	int i = 0;

	while (i < b->request.npids && b->pids[i] != t->pid)
		i++;
	if (i == b->request.npids)
		return false;
	while (!processes_ended(b)) {
		if (client_ms() - since > (is_stopping(b) ? STOPPING_MS : PROCESS_MS))
			return false;
		client_beat(&b->cl);
		poll(NULL, 0, 5);
	}
	wait_stopping(b, TURN_MS);
	return true;
}

static void arm_gone(struct client *cl, struct target *t, struct et_error *e)
{
	struct cli_bridge *b = bridge_of(cl);

	t->state = DONE;
	if (is_arming(b))
		et_err_as(&b->error, e, "%s", e->text);
	else if (!is_expected(b, t))
		say(b, NULL, "%s", e->text);
}

static const char *script_of(const struct cli_bridge *b, pid_t pid)
{
	for (unsigned i = 0; i < b->arming->nscripts; i++)
		if (b->arming->scripts[i].pid == pid)
			return b->arming->scripts[i].text;
	return NULL;
}

/* A node that has no script has nothing to do. */
static int start_in(struct cli_bridge *b, struct target *t)
{
	const struct request_script s[] = {
		{.name = "armed", .text = "BEGIN { printf(\"armed\\n\"); }"},
		{.file = true, .name = "events.d", .text = script_of(b, t->pid)}};
	struct et_error e = {.tag = ""};
	ei_x_buff spec;
	int rc;

	if (s[1].text == NULL)
		return 0;
	b->request.scripts = s;
	b->request.nscripts = 2;
	b->request.target = b->request.npids == 0 ? 0 : b->cl.n == 1 ? t->nd->ospid : b->pids[0];
	ei_x_new(&spec);
	client_put_request(&spec, &b->cl, &b->request);
	rc = client_start(t, &spec, &e);
	if (rc < 0)
		et_err_as(&b->error, &e, "failed to trace a node: %s", e.text);
	else
		t->state = STARTED;
	ei_x_free(&spec);
	b->request.scripts = NULL;
	b->request.nscripts = 0;
	return rc;
}

/* Every script is to have a node. */
static int all_there(struct cli_bridge *b)
{
	for (unsigned i = 0; i < b->arming->nscripts; i++) {
		int k = 0;

		while (k < b->cl.n && b->cl.v[k].pid != b->arming->scripts[i].pid)
			k++;
		if (k == b->cl.n)
			return et_err(&b->error, ET_NODE,
				"process %d is none of the nodes any more",
				b->arming->scripts[i].pid);
	}
	return 0;
}

/* Are there still some that are before a state, or have not sent anything? */
static bool are_before(const struct client *cl, enum state state)
{
	for (int i = 0; i < cl->n; i++)
		if (cl->v[i].state < state || (cl->v[i].state == RUNNING && cl->v[i].began_at == 0))
			return true;
	return false;
}

static int await(struct cli_bridge *b, enum state state)
{
	int64_t until = client_ms() + PATIENCE_MS;

	while (are_before(&b->cl, state) && b->error.tag[0] == '\0' && client_ms() < until)
		client_receive(&b->cl, 1000);
	if (are_before(&b->cl, state))
		no_answer(b);
	return b->error.tag[0] == '\0' ? 0 : -1;
}

static int arm_nodes(struct cli_bridge *b)
{
	int rc = find_nodes(b);

	for (int i = 0; i < b->cl.n; i++)
		b->cl.v[i].state = DONE; /* until it is started nobody is there to tell */
	if (rc < 0)
		keep_failure(b);
	if (rc < 0 || all_there(b) < 0)
		return -1;
	for (int i = 0; i < b->cl.n; i++)
		if (start_in(b, &b->cl.v[i]) < 0)
			return -1;
	if (await(b, COMPILED) < 0)
		return -1;
	client_tell_all(&b->cl, RUNNING, "go");
	return await(b, RUNNING);
}

static void set_phase(struct cli_bridge *b, int phase)
{
	pthread_mutex_lock(&b->lock);
	b->phase = phase;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

/* Their agents end the scripts, and say what is to be said at the end. */
static void stop_nodes(struct cli_bridge *b)
{
	int64_t until = client_ms() + STOP_MS;

	b->cl.wake = 0;
	client_tell_all(&b->cl, STOPPING, "stop");
	while (!client_all_done(&b->cl, NULL) && client_ms() < until)
		client_receive(&b->cl, 100);
	for (int i = 0; i < b->cl.n && !is_arming(b); i++)
		if (b->cl.v[i].state != DONE)
			say(b, NULL,
				"the node %s has not ended its part of the script: it will when it "
				"sees that this command has gone",
				b->cl.v[i].nd->name);
}

static void *arm_thread(void *arg)
{
	static const struct client_handler handlers[] = {{"matched", arm_matched},
		{"batch", arm_batch}, {"failed", arm_failed}, {"done", on_done}, {NULL, NULL}};
	struct cli_bridge *b = arg;
	int rc;

	b->cl.handlers = handlers;
	b->cl.gone = arm_gone;
	rc = arm_nodes(b);
	if (rc < 0) { /* if nobody has said why */
		et_err(&b->error, ET_NOMEM, "out of memory");
	} else {
		set_phase(b, ARMED);
		while (!is_stopping(b) && !b->cl.ending && !client_all_done(&b->cl, NULL))
			client_receive(&b->cl, 1000);
	}
	stop_nodes(b);
	leave(b);
	set_phase(b, ENDED);
	return NULL;
}

/* "watchdog=30" */
static int add_options(struct cli_bridge *b, const char *const *options)
{
	struct request *r = &b->request;
	int n = 0;

	while (options[n] != NULL)
		n++;
	b->settings = calloc((size_t)n + 1, sizeof(*b->settings));
	b->names = calloc((size_t)n + 1, sizeof(*b->names));
	for (int i = 0; b->settings != NULL && b->names != NULL && i < n; i++) {
		const char *value = strchr(options[i], '=');
		size_t len = value != NULL ? (size_t)(value - options[i]) : strlen(options[i]);

		b->names[i] = strndup(options[i], len);
		if (b->names[i] == NULL)
			break;
		b->settings[i].name = b->names[i];
		b->settings[i].value = value != NULL ? value + 1 : NULL;
		r->nsettings++;
	}
	r->settings = b->settings;
	return r->nsettings == n ? 0 : et_err(&b->error, ET_NOMEM, "out of memory");
}

/* The thread says how it goes; one that has failed has ended. */
static void await_arming(struct cli_bridge *b)
{
	pthread_mutex_lock(&b->lock);
	while (b->phase == ARMING)
		pthread_cond_wait(&b->changed, &b->lock);
	pthread_mutex_unlock(&b->lock);
	if (b->error.tag[0] != '\0')
		pthread_join(b->thread, NULL);
}

static int b_arm(void *arg, const erltrace_arming_t *a, erltrace_error_t *err)
{
	struct cli_bridge *b = arg;

	b->arming = a;
	b->phase = ARMING;
	b->stopping = false;
	b->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b->wake < 0)
		et_err(&b->error, ET_NODE, "no eventfd: %s", strerror(errno));
	else if (begin(b, a->nodes, false) == 0 && add_options(b, a->options) == 0 &&
		 start_thread(b, arm_thread) == 0)
		await_arming(b);
	if (b->error.tag[0] == '\0')
		return 0;
	if (b->wake >= 0)
		close(b->wake);
	return fail(b, err);
}

static void b_disarm(void *arg)
{
	struct cli_bridge *b = arg;

	pthread_mutex_lock(&b->lock);
	b->stopping = true;
	pthread_mutex_unlock(&b->lock);
	eventfd_write(b->wake, 1);
	pthread_join(b->thread, NULL);
	close(b->wake);
	end(b);
}

/* ---- its life ----------------------------------------------------------------------------- */

int cli_bridge(struct cli *c)
{
	static const erltrace_bridge_t bridge = {.size = sizeof(bridge),
		.list = b_list,
		.arm = b_arm,
		.news = b_news,
		.disarm = b_disarm};
	struct cli_bridge *b = calloc(1, sizeof(*b));

	if (b == NULL) {
		cli_say("out of memory");
		return CLI_ERROR;
	}
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	b->last = &b->messages;
	b->c = c;
	c->bridge = b;
	erltrace_set_bridge(c->h, &bridge, b);
	return CLI_OK;
}

void cli_bridge_free(struct cli *c)
{
	struct cli_bridge *b = c->bridge;
	struct message *l;

	if (b == NULL)
		return;
	while ((l = b->messages) != NULL) {
		b->messages = l->next;
		free(l);
	}
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->changed);
	free(b);
	c->bridge = NULL;
}
