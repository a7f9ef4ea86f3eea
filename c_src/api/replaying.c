/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a file instead of real ones: erltrace_replay(), and the work of such a handle. An event
 * fires, then everything that it left is read before the next one fires: so results do not depend
 * on how fast this machine is.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/seen.h"
#include "handle.h"
#include "replay/replay.h"

enum { EVENTS_A_CALL = 10000 };

static int finish(erltrace_t *h, const erltrace_handlers_t *handlers)
{
	int rc;

	en_ran(h->en, rp_now(h->en));
	if (en_state(h->en) == EN_RUNNING)
		en_stop(h->en);
	rc = co_work(h->co, handlers, true);
	h->done = true;
	return rc != 0 ? rc : ERLTRACE_DONE;
}

static int replay_work(erltrace_t *h, const erltrace_handlers_t *handlers)
{
	bool more = true;
	int rc = 0;

	for (unsigned i = 0; i < EVENTS_A_CALL && more && rc == 0; i++) {
		if (en_pending(h->en))
			rc = co_work(h->co, handlers, false);
		if (en_exited(h->en, NULL) || en_filled(h->en) || en_state(h->en) != EN_RUNNING)
			more = false;
		else
			more = rp_step(h->en);
		if (rp_now(h->en) >= h->next_clean) {
			en_clean(h->en);
			h->next_clean = rp_now(h->en) + h->opts.val[OPT_CLEANRATE];
		}
	}
	if (rc != 0)
		return rc;
	return more ? ERLTRACE_OK : finish(h, handlers);
}

int erltrace_events(erltrace_t *h, erltrace_events_t *events)
{
	const struct rp_file *f = rp_file(h->en);
	erltrace_events_t ev = {.size = events->size};

	if (f != NULL) {
		ev.script = f->script;
		ev.nargs = f->nargs;
		ev.noptions = f->noptions;
		ev.args = (const char *const *)f->args;
		ev.options = (const char *const *)f->options;
		ev.drops = f->drops;
		ev.events = f->nevents;
	}
	memcpy(events, &ev, events->size < sizeof(ev) ? events->size : sizeof(ev));
	return f != NULL ? 0 : -1;
}

int erltrace_replay(erltrace_t *h, const char *path, erltrace_error_t *err)
{
	struct et_error e = {.tag = ""};
	struct rp_file *f;

	if (en_state(h->en) != EN_IDLE || h->comp->prog.nclauses > 0 || h->replay != NULL)
		return api_fail(
			err, ET_RUNNING, "events are given once, before anything is compiled");
	f = path != NULL ? rp_file_read(path, &e) : NULL;
	if (path != NULL && f == NULL)
		return api_error(err, &e);
	if (f != NULL)
		erltrace_set_target(h, f->pid);
	h->replay = replay_work;
	return rp_begin(h->en, f, &e) < 0 ? api_error(err, &e) : 0;
}
