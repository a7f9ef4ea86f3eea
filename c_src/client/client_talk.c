/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients and agents say to each other (erltrace_agent.erl has the messages): words for the
 * nodes, a sign of life each second, and messages as they come, handed to the face.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "client.h"

#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "node/decode.h"
#include "unmatched.h"

int64_t client_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int client_fail(struct client *cl, const struct et_error *e, const char *doing)
{
	if (cl->error.tag[0] == '\0') {
		cl->error = *e;
		cl->doing = doing;
	}
	return -1;
}

void client_say(struct client *cl, enum client_word word, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (cl->say != NULL && vasprintf(&text, fmt, ap) >= 0)
		cl->say(cl, word, text);
	va_end(ap);
	free(text);
}

/* ---- telling nodes ----------------------------------------------------------------------- */

void client_tell(struct target *t, const char *word)
{
	struct et_error e = {.tag = ""};

	if (t->state != DONE)
		nd_send_atom(t->nd, &t->agent, word, &e); /* gone: client_receive() will tell */
}

void client_tell_all(struct client *cl, enum state to, const char *word)
{
	for (int i = 0; i < cl->n; i++) {
		struct target *t = &cl->v[i];

		if (t->state >= to)
			continue;
		client_tell(t, word);
		t->state = to;
	}
}

enum { STOOD_MS = 2000 };

void client_beat(struct client *cl)
{
	int64_t now = client_ms();

	if (now - cl->last_beat < cl->beat_ms)
		return;
	if (cl->last_beat > 0 && now - cl->last_beat > cl->beat_ms + STOOD_MS)
		cl->stood_ms = now - cl->last_beat;
	cl->last_beat = now;
	for (int i = 0; i < cl->n; i++)
		client_tell(&cl->v[i], "alive");
}

/* Suspended by ^Z, or our reader does not read. */
bool client_stood(const struct client *cl, char *buf, size_t size)
{
	if (cl->stood_ms > 0)
		snprintf(buf, size,
			"this command was blocked for %.1f s, suspended or because nobody read its "
			"output; after a while a node ends the script (-x silence)",
			(double)cl->stood_ms / 1000);
	return cl->stood_ms > 0;
}

/* ---- parts of messages ------------------------------------------------------------------- */

static void get_string(const ei_x_buff *x, int *at, char *buf, size_t size)
{
	const char *text = "";
	long len = 0;

	if (nd_get_text(x, at, &text, &len) < 0)
		nd_skip(x, at);
	snprintf(buf, size, "%.*s", (int)len, text);
}

/* {Script, {Tag, Line, Column, Text, File, Source}} */
int client_get_failure(const ei_x_buff *x, int at, long *script, erltrace_error_t *err)
{
	long line = 0, column = 0;

	memset(err, 0, sizeof(*err));
	if (nd_get_tuple(x, &at, 2) < 0 || ei_decode_long(x->buff, &at, script) < 0 ||
		nd_get_tuple(x, &at, 6) < 0)
		return -1;
	get_string(x, &at, err->tag, sizeof(err->tag));
	ei_decode_long(x->buff, &at, &line);
	ei_decode_long(x->buff, &at, &column);
	get_string(x, &at, err->text, sizeof(err->text));
	get_string(x, &at, err->file, sizeof(err->file));
	get_string(x, &at, err->source, sizeof(err->source));
	err->line = (int)line;
	err->column = (int)column;
	return 0;
}

/* [{Line, Column, Text}] */
size_t client_get_unmatched(const ei_x_buff *x, int at, struct client_unmatched **list)
{
	long line = 0, column = 0, len;
	const char *text;
	size_t n = 0;
	int most = 0;

	ei_decode_list_header(x->buff, &at, &most);
	while (n < (size_t)most && nd_get_tuple(x, &at, 3) == 0 &&
		ei_decode_long(x->buff, &at, &line) == 0 &&
		ei_decode_long(x->buff, &at, &column) == 0 &&
		nd_get_text(x, &at, &text, &len) == 0 && ARRAY_ROOM(*list, n)) {
		(*list)[n] = (struct client_unmatched){
			(int)line, (int)column, strndup(text, (size_t)len)};
		if ((*list)[n].text == NULL)
			break;
		n++;
	}
	return n;
}

/* [{text | err | .., Text}] */
void client_get_items(struct client *cl, struct target *t, const ei_x_buff *x, int at, client_item *cb)
{
	const char *text;
	char kind[16];
	int n = 0;
	long len;

	ei_decode_list_header(x->buff, &at, &n);
	for (int i = 0; i < n; i++) {
		if (nd_get_tuple(x, &at, 2) < 0 || nd_get_atom(x, &at, kind, sizeof(kind)) < 0 ||
			nd_get_text(x, &at, &text, &len) < 0)
			break;
		cb(cl, t, kind, text, len);
	}
}

/* {Id, Provider, Module, Function, Name, unknown | [Type], Absent, Note} */
static int get_row(const ei_x_buff *x, int *at, erltrace_probe_cb *cb, void *arg)
{
	char part[4][512], types[10][128], atom[16], note[512];
	const char *type[10];
	erltrace_probe_info_t p = {.provider = part[0],
		.module = part[1],
		.function = part[2],
		.name = part[3],
		.nargs = -1,
		.argtypes = type};
	long id;
	int n;

	if (nd_get_tuple(x, at, 8) < 0 || ei_decode_long(x->buff, at, &id) < 0)
		return -1;
	p.id = (uint32_t)id;
	for (int i = 0; i < 4; i++)
		get_string(x, at, part[i], sizeof(part[i]));
	if (nd_get_atom(x, at, atom, sizeof(atom)) < 0) {
		if (ei_decode_list_header(x->buff, at, &n) < 0 || n > 10)
			return -1;
		for (p.nargs = 0; p.nargs < n; p.nargs++) {
			get_string(x, at, types[p.nargs], sizeof(types[0]));
			type[p.nargs] = types[p.nargs];
		}
		if (n > 0)
			nd_skip(x, at); /* the list's end */
	}
	if (nd_get_atom(x, at, atom, sizeof(atom)) < 0)
		return -1;
	p.absent = strcmp(atom, "true") == 0;
	get_string(x, at, note, sizeof(note));
	p.note = note;
	cb(arg, &p);
	return 1;
}

/* Very many in one binary: number, four names and "1" for an absent one, each ended by a NUL. */
static void get_brief(const char *text, long len, erltrace_probe_cb *cb, void *arg)
{
	const char *end = text + len, *part[6];
	erltrace_probe_info_t p = {.nargs = -1};

	while (text < end) {
		for (int i = 0; i < 6; i++) {
			const char *nul = memchr(text, '\0', (size_t)(end - text));

			if (nul == NULL)
				return;
			part[i] = text;
			text = nul + 1;
		}
		p.id = (uint32_t)strtoul(part[0], NULL, 10);
		p.provider = part[1];
		p.module = part[2];
		p.function = part[3];
		p.name = part[4];
		p.absent = part[5][0] == '1';
		cb(arg, &p);
	}
}

bool client_get_rows(const ei_x_buff *x, int at, erltrace_probe_cb *cb, void *arg)
{
	const char *text;
	long len;
	int n = 0;

	ei_decode_list_header(x->buff, &at, &n);
	for (int i = 0; i < n; i++)
		if (nd_get_text(x, &at, &text, &len) == 0)
			get_brief(text, len, cb, arg);
		else if (get_row(x, &at, cb, arg) < 0)
			break;
	return n > 0;
}

/* ---- receiving --------------------------------------------------------------------------- */

static void on_message(struct client *cl, struct target *t, const ei_x_buff *x)
{
	int at = x->index;
	char tag[16];

	if (nd_get_tuple(x, &at, 2) < 0 || nd_get_atom(x, &at, tag, sizeof(tag)) < 0)
		return;
	for (const struct client_handler *h = cl->handlers; h->tag != NULL; h++)
		if (strcmp(tag, h->tag) == 0)
			h->call(cl, t, x, at);
}

/* Everything one node has sent. */
static void read_target(struct client *cl, struct target *t, ei_x_buff *x)
{
	struct et_error e = {.tag = ""};
	int rc;

	while (t->state != DONE && (rc = nd_receive(t->nd, x, 0, &e)) != 0) {
		t->quiet_ms = 0;
		if (rc > 0)
			on_message(cl, t, x);
		else
			cl->gone(cl, t, &e);
	}
}

bool client_wait(struct client *cl, int ms)
{
	struct pollfd fds[66];
	bool waiting = false;
	int n = 0;

	for (int i = 0; i < cl->n && n < 64; i++)
		if (cl->v[i].state != DONE) {
			fds[n++] = (struct pollfd){.fd = cl->v[i].nd->fd, .events = POLLIN};
			waiting |= nd_waiting(cl->v[i].nd);
		}
	if (cl->wake > 0)
		fds[n++] = (struct pollfd){.fd = cl->wake, .events = POLLIN};
	if (cl->keys)
		fds[n++] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	client_beat(cl);
	if (!waiting && poll(fds, (nfds_t)n, ms < cl->beat_ms ? ms : cl->beat_ms) < 0)
		return false;
	client_beat(cl); /* if we stood still meanwhile, this sees it */
	return true;
}

/* What stands still is ourselves, if it is long since we looked. */
static void all_are_quiet(struct client *cl)
{
	int64_t now = client_ms(), ms = now - cl->last_read;

	for (int i = 0; i < cl->n; i++)
		cl->v[i].quiet_ms += ms < cl->beat_ms ? ms : cl->beat_ms;
	cl->last_read = now;
}

void client_read(struct client *cl)
{
	ei_x_buff x;

	all_are_quiet(cl);
	ei_x_new(&x);
	for (int i = 0; i < cl->n; i++)
		read_target(cl, &cl->v[i], &x);
	ei_x_free(&x);
}

void client_receive(struct client *cl, int ms)
{
	if (client_wait(cl, ms))
		client_read(cl); /* also if there are none: one may hang in the midst of a message */
}

bool client_all_done(const struct client *cl, const struct target *but)
{
	for (int i = 0; i < cl->n; i++)
		if (cl->v[i].state != DONE && &cl->v[i] != but)
			return false;
	return true;
}
