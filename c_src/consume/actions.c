/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clause's actions, performed from its record: text made, aggregations changed, output sent
 * elsewhere, commands run. What the engine has already done (exit, commit, raise ...) needs
 * nothing here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "consumer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions.h"
#include "aggs.h"
#include "array.h"
#include "datum.h"
#include "faults.h"
#include "format.h"
#include "nothing.h"
#include "print_value.h"
#include "printa.h"
#include "shell.h"

static const char *const act_names[ACT_COUNT_] = {
#define D_BACT(name, ID, proto, flags, traits) [ACT_##ID] = name,
#include "prog/builtins.def"
};

static struct co_val *action_values(struct co_rec *r, const struct prog_action *a)
{
	struct co *co = r->co;
	unsigned i;

	if (!ARRAY_RESERVE(co->vals, co->maxvals, (size_t)a->nvals + 1)) {
		co->out.nomem = true;
		return NULL;
	}
	for (i = 0; i < a->nvals; i++)
		if (cv_record(r->head, &a->vals[i], &co->vals[i]) != 0)
			return NULL; /* not what the engine wrote */
	return co->vals;
}

static void act_tracemem(struct co *co, const struct prog_action *a, const struct co_val *v)
{
	size_t len;

	if (a->nvals == 0 || v[0].p == NULL)
		return;
	len = v[0].len;
	if (a->nvals > 1 && v[1].v->kind == V_INT && v[1].i >= 0 && (uint64_t)v[1].i < len)
		len = (size_t)v[1].i;
	da_bytes(&co->out, v[0].p, len);
}

/* The text of system() and freopen(): as it is, no terminal reads it. */
static char *plain_text(struct co *co, const struct prog_action *a, const struct co_val *v)
{
	struct co_buf b = {0};

	if (a->fmt != NULL)
		fm_printf(co, &b, a->fmt, v, a->nvals);
	cb_put(&b, "", 1);
	if (b.nomem) {
		cb_free(&b);
		co->out.nomem = true;
	}
	return b.p;
}

/* The child writes after our text and before what follows; to the file of freopen() if any. */
static int act_system(struct co_rec *r, const char *cmd)
{
	struct co *co = r->co;
	pid_t pid;
	int rv;

	if (co_flush(co) != 0)
		return co->rv;
	if (co->h.flush != NULL && (co->rv = co->h.flush(co->h.arg)) != 0)
		return co->rv;
	if (co->h.system != NULL)
		return co->rv = co->h.system(co->h.arg, cmd);
	rv = shell_start(&pid, cmd, co->fd);
	if (rv != 0)
		return te_error(r, "system(): %s", strerror(rv));
	shell_await(pid);
	return 0;
}

/* "" or ".": back to where text went at first. */
static int act_freopen(struct co_rec *r, const char *path)
{
	struct co *co = r->co;
	int fd = -1;

	if (co_flush(co) != 0)
		return co->rv;
	if (co->h.reopen != NULL)
		return co->rv = co->h.reopen(
			       co->h.arg, strcmp(path, ".") == 0 ? "" : path);
	if (path[0] != '\0' && strcmp(path, ".") != 0) {
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
		if (fd < 0)
			return te_error(
				r, "couldn't freopen() \"%.512s\": %s", path, strerror(errno));
	}
	if (co->fd >= 0)
		close(co->fd);
	co->fd = fd;
	co->fd_epid = r->head->epid;
	co->out.terminal = co->h.terminal != 0 && fd < 0;
	return 0;
}

static int act_ftruncate(struct co *co)
{
	if (co_flush(co) != 0)
		return co->rv;
	if (co->fd >= 0)
		return ftruncate(co->fd, 0) == 0 ? 0 : co->rv; /* a pipe has no length */
	if (co->h.truncate != NULL)
		co->rv = co->h.truncate(co->h.arg);
	return co->rv;
}

static int act_setopt(struct co_rec *r, const struct prog_action *a, const struct co_val *v)
{
	char name[64] = "", value[512] = "";
	bool has = a->nvals > 1 && v[1].v->kind == V_STR;
	struct et_error e;

	if (a->nvals == 0 || v[0].v->kind != V_STR)
		return 0;
	et_err_clear(&e);
	snprintf(name, sizeof(name), "%.*s", (int)v[0].len, v[0].len ? (const char *)v[0].p : "");
	if (has)
		snprintf(value, sizeof(value), "%.*s", (int)v[1].len,
			v[1].len ? (const char *)v[1].p : "");
	if (et_setopt_script(r->co->opts, name, has ? value : NULL, &e) == 0)
		return 0;
	return te_error(
		r, "couldn't set option \"%s\" to \"%s\": %s", name, has ? value : "1", e.text);
}

int ac_agg(struct co *co, const struct prog_action *a, const struct co_val *v)
{
	bool num = a->nvals > 0 && v[0].v->kind == V_INT;
	unsigned i;

	for (i = 0; i < a->naggs; i++) {
		unsigned agg = a->aggs[i];

		if (agg >= co->prog->naggs)
			continue;
		switch (a->act) {
		case ACT_CLEAR: ag_clear(co, agg); break;
		case ACT_TRUNC: ag_trunc(co, agg, !num, num ? v[0].i : 0); break;
		case ACT_NORMALIZE: ag_normalize(co, agg, num ? (uint64_t)v[0].i : 1); break;
		default: ag_normalize(co, agg, 1); break;
		}
	}
	return 0;
}

static int act_text(struct co_rec *r, const struct prog_action *a, const struct co_val *v)
{
	char *text = plain_text(r->co, a, v);
	int rv = 0;

	if (text != NULL)
		rv = a->act == ACT_SYSTEM ? act_system(r, text) : act_freopen(r, text);
	free(text);
	return rv;
}

/* Who takes records has the name among the values, and gets the text alone. */
static void act_alert(struct co *co, const struct prog_action *a, const struct co_val *v)
{
	if (a->nvals == 0 || v[0].v->kind != V_STR)
		return;
	if (!co->telling) {
		cb_str(&co->out, "alert ");
		if (v[0].len > 0)
			cb_put(&co->out, v[0].p, v[0].len);
		cb_str(&co->out, ": ");
	}
	fm_printf(co, &co->out, a->fmt, v + 1, a->nvals - 1u);
	if (!co->telling)
		cb_str(&co->out, "\n");
	if (co->mode == CO_NOTICED)
		co_want(co, true, &v[0]);
}

static void act_snapshot(struct co *co, const struct prog_action *a, const struct co_val *v)
{
	if (a->nvals > 0 && v[0].v->kind == V_STR && co->mode == CO_NOTICED)
		co_want(co, false, &v[0]);
	if (co->mode == CO_REPLAY && a->nvals > 0 && v[0].len > 0) {
		cb_str(&co->out, "snapshot ");
		cb_put(&co->out, v[0].p, v[0].len);
	}
}

/* trace(), and what prints as if it were an argument of that. */
static bool is_trace(const struct prog_action *a)
{
	switch (a->act) {
	case ACT_TRACE:
	case ACT_STACK:
	case ACT_USTACK:
	case ACT_JSTACK:
	case ACT_SYM:
	case ACT_MOD:
	case ACT_FUNC:
	case ACT_USYM:
	case ACT_UMOD:
	case ACT_UFUNC:
	case ACT_UADDR: return true;
	default: return false;
	}
}

static bool only_prints(const struct prog_action *a)
{
	return a->act == ACT_PRINTF || a->act == ACT_PRINTA || a->act == ACT_PRINT ||
	       a->act == ACT_TRACEMEM || is_trace(a);
}

static int perform(struct co_rec *r, const struct prog_action *a, const struct co_val *v)
{
	struct co *co = r->co;

	switch (a->act) {
	case ACT_PRINTF:
		if (a->fmt != NULL)
			fm_printf(co, &co->out, a->fmt, v, a->nvals);
		return 0;
	case ACT_ALERT: act_alert(co, a, v); return 0;
	case ACT_SNAPSHOT: act_snapshot(co, a, v); return 0;
	case ACT_PRINTA: return pa_printa(co, a);
	case ACT_PRINT:
		if (a->nvals > 0)
			pr_value(co, &co->out, &v[0]);
		return 0;
	case ACT_TRACEMEM: act_tracemem(co, a, v); return 0;
	case ACT_SYSTEM:
	case ACT_FREOPEN: return act_text(r, a, v);
	case ACT_FTRUNCATE: return act_ftruncate(co);
	case ACT_SETOPT: return act_setopt(r, a, v);
	case ACT_CLEAR:
	case ACT_TRUNC:
	case ACT_NORMALIZE:
	case ACT_DENORMALIZE: return ac_agg(co, a, v);
	default: /* exit and what the engine did have nothing to print */
		for (unsigned i = 0; is_trace(a) && i < a->nvals; i++)
			da_trace(co, &co->out, &v[i], co_opt(co, OPT_QUIET) != 0);
		return 0;
	}
}

/* The record handler sees the values, and the text if all of it is still here. */
static int tell_record(struct co_rec *r, const struct prog_action *a, size_t start,
	uint64_t flushes,
	int (*handler)(void *, const erltrace_event_t *, const erltrace_record_t *))
{
	struct co *co = r->co;
	erltrace_record_t out = {.action = "", .text = ""};

	if (a->act < ACT_COUNT_ && act_names[a->act] != NULL)
		out.action = act_names[a->act];
	out.values = cv_public(co, co->vals, a->nvals);
	out.nvalues = out.values ? a->nvals : 0;
	if (flushes == co->flushes && co->out.len > start) {
		out.text = co->out.p + start;
		out.len = co->out.len - start;
	}
	co->rv = handler(co->h.arg, &r->ev, &out);
	return co->rv;
}

/* An action inside an if has a byte that says whether it was reached. */
static bool was_reached(const struct co_rec *r, const struct prog_action *a)
{
	size_t at = sizeof(*r->head) + (size_t)(a->present < 0 ? 0 : a->present);

	if (a->present < 0)
		return true;
	return at < r->head->size && ((const uint8_t *)r->head)[at] != 0;
}

/*
 * What a snapshot shows again has been done before; what acts at once is not done again at the end.
 */
static bool is_due(const struct co_rec *r, const struct prog_action *a)
{
	const struct co *co = r->co;
	bool at_once = a->act == ACT_ALERT || a->act == ACT_SNAPSHOT;

	switch (co->mode) {
	case CO_NOTICED: return at_once;
	case CO_ALL:
		if (co->mute && co->fd < 0 && only_prints(a))
			return false;
		return !at_once || !co_is_noted(co, r->head);
	default: break;
	}
	switch (a->act) {
	case ACT_SYSTEM:
	case ACT_FREOPEN:
	case ACT_FTRUNCATE:
	case ACT_SETOPT:
	case ACT_PRINTA:
	case ACT_CLEAR:
	case ACT_TRUNC:
	case ACT_NORMALIZE:
	case ACT_DENORMALIZE: return false;
	default: return true;
	}
}

int ac_perform(struct co_rec *r)
{
	const struct prog_clause *c = r->at.clause;
	struct co *co = r->co;
	unsigned i;

	for (i = 0; i < c->nactions && co->rv == 0; i++) {
		const struct prog_action *a = &c->actions[i];
		size_t start = co->out.len;
		uint64_t flushes = co->flushes;
		struct co_val *v = is_due(r, a) && was_reached(r, a) ? action_values(r, a) : NULL;

		if (v == NULL)
			continue;
		no_action(r, a, v);
		if (a->act == ACT_FLOWTRACE && co->h.flow != NULL) {
			tell_record(r, a, start, flushes, co->h.flow);
			co_tmp_free(co);
			continue;
		}
		co->telling = co->h.record != NULL && co->fd < 0;
		perform(r, a, v);
		co->telling = false;
		if (co->h.record != NULL && co->rv == 0)
			tell_record(r, a, start, flushes, co->h.record);
		co_tmp_free(co);
		co_room(co);
	}
	return co->rv;
}
