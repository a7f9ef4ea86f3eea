/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One web socket. Messages of the page are JSON objects with a type; what is not understood, or
 * not permitted, is answered by an error that carries the number which http would have. What goes
 * to the page waits in a queue until there is room.
 */
#include "web.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "array.h"
#include "erltrace.h"
#include "node_names.h"
#include "script_run.h"
#include "session.h"

struct msg {
	struct msg *next;
	size_t len;
	enum lws_write_protocol how;
	unsigned char text[]; /* LWS_PRE bytes of room before it */
};

struct session {
	struct session *next;
	struct web *w;
	struct lws *wsi;
	struct web_user *user;
	char peer[64];
	char *in; /* the message that is coming */
	size_t nin, room;
	struct msg *first, **last;
	size_t waiting; /* bytes that the queue takes */
	bool too_slow;
};

struct web *session_web(const struct session *s)
{
	return s->w;
}

const struct web_user *session_user(const struct session *s)
{
	return s->user;
}

const char *session_peer(const struct session *s)
{
	return s->peer;
}

unsigned session_count(const struct web *w, const struct web_user *u)
{
	unsigned n = 0;

	for (const struct session *s = w->sessions; s != NULL; s = s->next)
		n += u == NULL || s->user == u;
	return n;
}

/* ---- out -------------------------------------------------------------------------------- */

/* In memory: most of a short message is what is around it. */
static size_t takes(size_t len)
{
	return sizeof(struct msg) + LWS_PRE + len;
}

bool session_is_full(const struct session *s)
{
	return s->waiting > WEB_QUEUE_STOP;
}

static void queue(struct session *s, const struct iovec *v, int n, enum lws_write_protocol how)
{
	size_t len = 0, at = LWS_PRE;
	struct msg *m;

	if (s->too_slow)
		return;
	for (int i = 0; i < n; i++)
		len += v[i].iov_len;
	m = s->waiting + takes(len) < WEB_QUEUE_MAX ? malloc(takes(len)) : NULL;
	if (m == NULL) {
		s->too_slow = true; /* something would be missing: better none */
		lws_callback_on_writable(s->wsi);
		return;
	}
	m->next = NULL;
	m->len = len;
	m->how = how;
	for (int i = 0; i < n; at += v[i++].iov_len)
		memcpy(m->text + at, v[i].iov_base, v[i].iov_len);
	*s->last = m;
	s->last = &m->next;
	s->waiting += takes(len);
	lws_callback_on_writable(s->wsi);
}

void session_sendv(struct session *s, const struct iovec *v, int n)
{
	queue(s, v, n, LWS_WRITE_TEXT);
}

void session_send_bytes(struct session *s, const void *p, size_t len)
{
	queue(s, &(struct iovec){(void *)p, len}, 1, LWS_WRITE_BINARY);
}

void session_send_json(struct session *s, json_t *j)
{
	char *text = j != NULL ? json_dumps(j, JSON_COMPACT) : NULL;

	if (text != NULL)
		session_sendv(s, &(struct iovec){text, strlen(text)}, 1);
	free(text);
	json_decref(j);
}

void session_error(struct session *s, json_int_t id, int code, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	web_to_utf8(text, strlen(text)); /* it may hold what came, cut anywhere */
	session_send_json(s, json_pack("{ss sI si ss}", "type", "error", "id", id, "code", code,
				     "message", text));
}

int session_write(struct session *s)
{
	struct msg *m = s->first;
	int rc;

	if (s->too_slow) {
		lws_close_reason(s->wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION,
			(unsigned char *)"too slow", 8);
		return -1;
	}
	if (m == NULL)
		return 0;
	rc = lws_write(s->wsi, m->text + LWS_PRE, m->len, m->how);
	s->first = m->next;
	if (s->first == NULL)
		s->last = &s->first;
	s->waiting -= takes(m->len);
	free(m);
	if (rc < 0)
		return -1;
	if (s->first != NULL)
		lws_callback_on_writable(s->wsi);
	if (s->waiting < WEB_QUEUE_GO)
		run_resume(s);
	return 0;
}

/* ---- requests --------------------------------------------------------------------------- */

static json_int_t id_of(const json_t *j)
{
	return json_integer_value(json_object_get(j, "id"));
}

static bool may_ask(struct session *s)
{
	if (web_allowed(&s->user->questions))
		return true;
	session_error(s, 0, 429, "too many requests at once: wait a moment");
	return false;
}

/* A text without zero bytes, or NULL. */
static const char *text_of(const json_t *j)
{
	const char *text = json_string_value(j);

	return text != NULL && strlen(text) == json_string_length(j) ? text : NULL;
}

static void on_scripts(struct session *s, const json_t *j)
{
	(void)j;
	if (may_ask(s))
		session_send_json(s, json_pack("{ss so}", "type", "scripts", "scripts",
					     web_library(s->w->o.scripts)));
}

static void on_nodes(struct session *s, const json_t *j)
{
	struct run_spec spec = {.kind = RUN_NODES};

	(void)j;
	if (!may_ask(s))
		return;
	run_end_kind(s, RUN_NODES);
	if (run_start(s, &spec) < 0)
		session_error(s, 0, 500, "the nodes could not be queried");
}

/* What is typed so far -> a description that matches what it may become. */
static void description(const char *text, char *out, size_t size)
{
	size_t len = 0;
	int colons = 0;

	for (; *text != '\0' && len < size - 8; text++) {
		if (strchr(" \t\r\n{}/;,\"'\\", *text) != NULL)
			continue; /* of no description */
		colons += *text == ':';
		out[len++] = *text;
	}
	if (len > 0 && out[len - 1] != ':' && out[len - 1] != '*')
		out[len++] = '*';
	for (; colons < 3; colons++)
		out[len++] = ':';
	out[len] = '\0';
}

static void on_probes(struct session *s, const json_t *j)
{
	const char *node = text_of(json_object_get(j, "node"));
	const char *text = text_of(json_object_get(j, "text"));
	char desc[600];
	struct run_spec spec = {.kind = RUN_PROBES, .nodes = {node}, .nnodes = 1, .script = desc};

	if (node == NULL || text == NULL || strlen(text) > 512) {
		session_error(s, 0, 400, "probes: node and text are needed");
		return;
	}
	if (!web_is_node_name(s->w, node)) {
		session_error(s, 0, 403, "not one of the nodes of this page");
		return;
	}
	if (!may_ask(s))
		return;
	description(text, desc, sizeof(desc));
	spec.asked = text;
	run_end_kind(s, RUN_PROBES); /* only the last question counts */
	if (run_start(s, &spec) < 0)
		session_error(s, 0, 500, "the probes could not be listed");
}

static bool texts(const json_t *array, const char **v, int max, int *n)
{
	*n = (int)json_array_size(array);
	if (array != NULL && (!json_is_array(array) || *n > max))
		return false;
	for (int i = 0; i < *n; i++) {
		v[i] = text_of(json_array_get(array, (size_t)i));
		if (v[i] == NULL || strlen(v[i]) > 4096)
			return false;
	}
	return true;
}

/* NULL: it may run; else why not. */
static const char *check_run(struct session *s, const struct run_spec *spec, int *code)
{
	*code = 403;
	for (int i = 0; i < spec->nnodes; i++)
		if (!web_is_node_name(s->w, spec->nodes[i]))
			return "not one of the nodes of this page";
	*code = 413;
	if (spec->len > WEB_MAX_SCRIPT)
		return "the script is too long: 64 KiB at most";
	*code = 400;
	if (memchr(spec->script, '\0', spec->len) != NULL)
		return "the script has a zero byte";
	if (run_is(s, spec->id))
		return "a script with this number runs already";
	*code = 429;
	if (run_count(s->w, s->user) >= WEB_USER_RUNS || run_count(s->w, NULL) >= WEB_MAX_RUNS)
		return "too many scripts at once: stop another one first";
	if (!web_allowed(&s->user->compiles) || !web_allowed(&s->w->compiles))
		return "too many scripts in a short time: wait a moment";
	return NULL;
}

/* Ticks a second; 10 by default. */
static int hz_of(const json_t *j)
{
	double hz = json_is_number(j) ? json_number_value(j) : 10;

	return hz < 1 ? 1 : hz > 20 ? 20 : (int)hz;
}

/* The option calls; false: a value that it does not have. */
static bool calls_of(const json_t *j, const char **arg)
{
	static const char *const args[] = {"calls=auto", "calls=fast", "calls=traced"};
	const char *word = text_of(j);

	for (size_t i = 0; word != NULL && i < sizeof(args) / sizeof(args[0]); i++)
		if (strcmp(word, strchr(args[i], '=') + 1) == 0)
			*arg = args[i];
	return j == NULL || *arg != NULL;
}

static void on_run(struct session *s, const json_t *j)
{
	const json_t *script = json_object_get(j, "script");
	struct run_spec spec = {.kind = RUN_SCRIPT,
		.id = id_of(j),
		.script = json_string_value(script),
		.len = json_string_length(script),
		.hz = hz_of(json_object_get(j, "hz")),
		.packed = json_is_true(json_object_get(j, "packed"))};
	const char *why;
	int code;

	if (spec.script == NULL || !json_is_integer(json_object_get(j, "id")) ||
		!texts(json_object_get(j, "nodes"), spec.nodes, WEB_MAX_NODES, &spec.nnodes) ||
		!texts(json_object_get(j, "args"), spec.args, WEB_MAX_ARGS, &spec.nargs)) {
		session_error(s, spec.id, 400, "run: id, nodes, script and args are needed");
		return;
	}
	if (!calls_of(json_object_get(j, "calls"), &spec.calls)) {
		session_error(s, spec.id, 400, "run: calls is auto, fast or traced");
		return;
	}
	why = check_run(s, &spec, &code);
	if (why != NULL)
		session_error(s, spec.id, code, "%s", why);
	else if (run_start(s, &spec) < 0)
		session_error(s, spec.id, 500, "the script could not be started");
}

/* Is anybody there? */
static void on_ping(struct session *s, const json_t *j)
{
	(void)j;
	session_send_json(s, json_pack("{ss}", "type", "pong"));
}

static void on_stop(struct session *s, const json_t *j)
{
	run_stop(s, id_of(j));
}

static void on_message(struct session *s)
{
	static const struct {
		const char *type;
		void (*call)(struct session *s, const json_t *j);
	} table[] = {
		{"nodes", on_nodes},
		{"scripts", on_scripts},
		{"probes", on_probes},
		{"run", on_run},
		{"stop", on_stop},
		{"ping", on_ping},
	};
	json_error_t e;
	json_t *j = json_loadb(s->in, s->nin, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
	const char *type = text_of(json_object_get(j, "type"));

	for (size_t i = 0; type != NULL && i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(type, table[i].type) == 0) {
			table[i].call(s, j);
			json_decref(j);
			return;
		}
	if (j == NULL)
		session_error(s, 0, 400, "not JSON: %s", e.text);
	else
		session_error(s, id_of(j), 400, "not a known type of message");
	json_decref(j);
}

/* ---- in --------------------------------------------------------------------------------- */

/* -1: too much. */
static int gather(struct session *s, const char *p, size_t len)
{
	if (s->nin + len > WEB_MAX_MESSAGE)
		return -1;
	if (!ARRAY_RESERVE(s->in, s->room, s->nin + len + 1)) /* an empty one is a message too */
		return -1;
	if (len > 0)
		memcpy(s->in + s->nin, p, len);
	s->nin += len;
	return 0;
}

int session_receive(struct session *s, const char *p, size_t len, bool last)
{
	if (gather(s, p, len) < 0)
		return -1;
	if (!last)
		return 0;
	on_message(s);
	free(s->in);
	s->in = NULL;
	s->nin = s->room = 0;
	return 0;
}

/* ---- begin and end ---------------------------------------------------------------------- */

struct session *session_new(struct web *w, struct lws *wsi, struct web_user *u, const char *peer)
{
	struct session *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->w = w;
	s->wsi = wsi;
	s->user = u;
	snprintf(s->peer, sizeof(s->peer), "%s", peer);
	s->last = &s->first;
	s->next = w->sessions;
	w->sessions = s;
	session_send_json(s,
		json_pack("{ss ss sb s{si si si}}", "type", "hello", "version", erltrace_version(),
			"kernel", (int)w->o.kernel, "limits", "script", WEB_MAX_SCRIPT, "runs",
			WEB_USER_RUNS, "seconds", w->o.run_seconds));
	return s;
}

void session_free(struct session *s)
{
	struct session **at;
	struct msg *m;

	if (s == NULL)
		return;
	run_end_all(s);
	for (at = &s->w->sessions; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	while ((m = s->first) != NULL) {
		s->first = m->next;
		free(m);
	}
	free(s->in);
	free(s);
}
