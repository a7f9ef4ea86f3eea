/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as a stream: written where a script runs (api_forward(), in a node), and read where they
 * are wanted (erltrace_reader()).
 */
#include "consume/aggs.h"
#include "handle.h"
#include "in_node.h"
#include "json/json.h"

#include <errno.h>
#include <stdlib.h>

#include "stream/reader.h"
#include "stream/writer.h"

/* ---- writing ------------------------------------------------------------------------------ */

int api_record(erltrace_t *h, const erltrace_handlers_t *handlers, bool final)
{
	int rc = 0;

	if (h->co != NULL && h->opts.val[OPT_BUFPOLICY] == BUFPOLICY_RING &&
		(rc = co_look(h->co, handlers)) == 0)
		rc = api_snapshots(h, handlers, final);
	return rc;
}

int api_forward(erltrace_t *h, const char *node, const struct sw_round *round,
	const erltrace_handlers_t *handlers, char **bytes, size_t *len, erltrace_error_t *err)
{
	uint64_t now = en_now(), fired = en_fired(h->en);
	struct sw_round r = *round;
	int rc;

	*bytes = NULL;
	*len = 0;
	if (h->co == NULL)
		return api_fail(err, ET_IDLE, "nothing to do: go has not been called");
	if (h->done)
		return ERLTRACE_DONE;
	if (h->writer == NULL)
		h->writer = sw_new(h->en, h->co, &h->comp->prog, &h->opts, node);
	if (h->writer == NULL)
		return api_fail(err, ET_NOMEM, "out of memory");
	h->begun = true;
	r.final = api_ended(h);
	if (r.final && en_state(h->en) == EN_RUNNING)
		en_stop(h->en);
	if (!r.final && api_upkeep(h, now, err) < 0)
		return -1;
	if (!r.final && !r.now && now < h->next_switch)
		return ERLTRACE_OK;
	if ((rc = api_record(h, handlers, r.final)) != 0)
		return rc;
	rc = sw_work(h->writer, &r, bytes, len);
	if (rc < 0)
		return ERLTRACE_OK; /* nothing is lost: the next call tries again */
	h->worked = now;
	h->fired = fired;
	if (h->opts.val[OPT_SWITCHRATE] != 0)
		h->next_switch = now + h->opts.val[OPT_SWITCHRATE];
	h->done = r.final && rc == 0;
	return h->done ? ERLTRACE_DONE : rc > 0 ? API_MORE : ERLTRACE_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

erltrace_t *erltrace_reader(unsigned streams, erltrace_error_t *err)
{
	erltrace_t *h = calloc(1, sizeof(*h));

	if (h == NULL) {
		api_fail(err, ET_NOMEM, "out of memory");
		return NULL;
	}
	et_options_init(&h->opts);
	h->opts.running = true;
	h->reader = sr_new(&h->opts, streams);
	if (h->reader == NULL) {
		api_fail(err, ET_NOMEM, "out of memory");
		erltrace_close(h);
		return NULL;
	}
	return h;
}

int erltrace_permit(erltrace_t *h, const char *action, const char *format, erltrace_error_t *err)
{
	if (h->reader == NULL)
		return api_fail(err, ET_RUNNING, "this handle reads no streams");
	switch (sr_permit(h->reader, action, format)) {
	case 0: return 0;
	case -ENOMEM: return api_fail(err, ET_NOMEM, "out of memory");
	default:
		return api_fail(err, ET_DESTRUCTIVE,
			"%s() does nothing where a stream is read, or has no format: nothing to permit",
			action);
	}
}

int erltrace_feed_name(erltrace_t *h, unsigned stream, const char *node, erltrace_error_t *err)
{
	if (h->reader == NULL)
		return api_fail(err, ET_RUNNING, "this handle reads no streams");
	return sr_name(h->reader, stream, node) < 0 ? api_fail(err, ET_NOMEM, "out of memory") : 0;
}

int erltrace_feed(erltrace_t *h, unsigned stream, const void *bytes, size_t len, erltrace_error_t *err)
{
	struct et_error e = {.tag = ""};

	if (h->reader == NULL)
		return api_fail(err, ET_RUNNING, "this handle reads no streams");
	return sr_feed(h->reader, stream, bytes, len, &e) < 0 ? api_error(err, &e) : 0;
}

void erltrace_feed_hangs(erltrace_t *h, unsigned stream)
{
	if (h->reader != NULL)
		sr_hangs(h->reader, stream);
}

void erltrace_feed_end(erltrace_t *h, unsigned stream)
{
	if (h->reader != NULL)
		sr_close(h->reader, stream);
}

erltrace_status_t api_reader_status(const erltrace_t *h, int *exit_code)
{
	int code;

	if (sr_origin.exited(h->reader, &code)) {
		if (exit_code != NULL)
			*exit_code = code;
		return ERLTRACE_EXITED;
	}
	return h->done ? ERLTRACE_STOPPED : h->co != NULL ? ERLTRACE_RUNNING : ERLTRACE_IDLE;
}

/* 1: there is a consumer; 0: no stream has begun yet; -1: out of memory. */
int api_reader_begun(erltrace_t *h, erltrace_error_t *err)
{
	const struct prog *prog = sr_program(h->reader);
	struct et_error e = {.tag = ""};

	if (prog == NULL)
		return 0;
	if (h->co == NULL)
		h->co = co_new(&sr_origin, h->reader, prog, &h->opts, &e);
	return h->co == NULL ? api_error(err, &e) : 1;
}

/* 1: something has come since the last tick; 0: not; -1: out of memory. */
static int next_tick(erltrace_t *h, unsigned stream, erltrace_tick_t *tick, erltrace_error_t *err)
{
	int rc = h->reader != NULL ? api_reader_begun(h, err) : 0;

	if (rc <= 0)
		return rc;
	if (ag_live(h->co, sr_streams(h->reader)) == NULL)
		return api_fail(err, ET_NOMEM, "out of memory");
	*tick = (erltrace_tick_t){
		.fired = sr_fired(h->reader, stream), .cost = sr_cost(h->reader, stream)};
	return sr_came(h->reader, stream);
}

int erltrace_stream_changes(erltrace_t *h, unsigned stream, const erltrace_change_handlers_t *to,
	erltrace_error_t *err)
{
	erltrace_tick_t tick;
	int rc = next_tick(h, stream, &tick, err);

	if (rc <= 0)
		return rc;
	rc = api_changes(h, stream, sr_streams(h->reader), &tick, to);
	if (rc == 0)
		sr_ticked(h->reader, stream);
	return rc;
}

int erltrace_stream_tick(erltrace_t *h, unsigned stream, const char *node,
	int (*text)(void *arg, const char *s, size_t len), void *arg, erltrace_error_t *err)
{
	struct co_json j = {.text = text, .arg = arg};
	erltrace_tick_t tick;
	int rc = next_tick(h, stream, &tick, err);

	if (rc <= 0)
		return rc;
	rc = co_json_tick(&j, h->co, stream, sr_streams(h->reader), node, &tick);
	co_json_free(&j);
	if (rc == 0)
		sr_ticked(h->reader, stream);
	return rc;
}

uint64_t erltrace_stream_age(erltrace_t *h, unsigned stream)
{
	uint64_t at = h->reader != NULL ? sr_gathered(h->reader, stream) : 0;

	return at != 0 ? en_now() - at : UINT64_MAX;
}

int api_read(erltrace_t *h, const erltrace_handlers_t *handlers, erltrace_error_t *err)
{
	int rc = 0;

	if (h->done)
		return ERLTRACE_DONE;
	rc = api_reader_begun(h, err);
	if (rc <= 0) {
		h->done = rc == 0 && sr_ended(h->reader);
		return rc < 0 ? -1 : h->done ? ERLTRACE_DONE : ERLTRACE_OK;
	}
	rc = h->begun ? 0 : co_begin(h->co, handlers);
	h->begun = true;
	while (rc == 0 && sr_ready(h->reader, en_now()))
		rc = co_work(h->co, handlers, false);
	if (rc == 0 && sr_has_news(h->reader))
		rc = co_work(h->co, handlers, false);
	if (rc != 0 || !sr_ended(h->reader))
		return rc;
	rc = co_work(h->co, handlers, true);
	h->done = true;
	return rc != 0 ? rc : ERLTRACE_DONE;
}
