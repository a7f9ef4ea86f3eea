/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder's side of the consumer. With bufpolicy=ring records stay in the buffers until
 * the end, but alert() and snapshot() shall act at once: each raises a counter of the engine, and
 * if that has changed, what is new is copied and searched for them. The rings remember how far this
 * has gone, so that the end does not perform them again.
 *
 */
#include "flight.h"

#include <stdio.h>
#include <string.h>

#include "actions.h"
#include "consumer.h"
#include "engine/recording.h"
#include "options.h"

enum { LOOKS = 100 }; /* rounds that a firing which takes long is waited for */

void co_want(struct co *co, bool alert, const struct co_val *name)
{
	if (co->wants++ > 0)
		return;
	co->wish.alert = alert;
	snprintf(co->wish.name, sizeof(co->wish.name), "%.*s", (int)name->len,
		name->len > 0 ? (const char *)name->p : "");
}

bool co_wants_snapshot(struct co *co, struct co_wish *wish, unsigned *more)
{
	if (co->wants == 0)
		return false;
	*wish = co->wish;
	*more = co->wants - 1;
	co->wants = 0;
	return true;
}

static bool acts(const struct prog_clause *c)
{
	for (unsigned i = 0; i < c->nactions; i++)
		if (c->actions[i].act == ACT_ALERT || c->actions[i].act == ACT_SNAPSHOT)
			return true;
	return false;
}

/* Only an engine of this process has a recording; NULL: the records come from elsewhere. */
static struct en *engine_of(const struct co *co)
{
	return co->from == &co_engine_origin ? co->of : NULL;
}

bool co_is_noted(const struct co *co, const struct rec_head *rec)
{
	const struct en *en = engine_of(co);

	return en != NULL ? en_is_noted(en) : (rec->flags & REC_NOTED) != 0;
}

int co_notice(struct co *co)
{
	struct en *en = engine_of(co);
	uint32_t notices;
	struct en_recording *c;
	struct en_recorded about;
	const struct rec_head *rec;
	struct co_at at;
	unsigned thread;
	bool whole;

	if (en == NULL || co_opt(co, OPT_BUFPOLICY) != BUFPOLICY_RING ||
		(co->looks == 0 && en_skip_new(en, co->notices)))
		return 0;
	notices = en_notices(en);
	if (notices != co->notices)
		co->looks = LOOKS;
	c = en_record(en, EN_NEW, &whole);
	if (c == NULL)
		return 0; /* the next round tries again */
	co->notices = notices;
	co->looks = whole ? 0 : co->looks - 1;
	co->mode = CO_NOTICED;
	while (co->rv == 0 && (rec = en_recording_next(c, &thread)) != NULL) {
		if (rec->kind == REC_DATA && co_at(co, rec->epid, &at) && acts(at.clause))
			co_record(co, thread, rec);
	}
	co->mode = CO_ALL;
	en_recording_about(c, &about);
	if (about.overrun && co->h.drop != NULL && co->rv == 0)
		co->rv = co->h.drop(co->h.arg, &(erltrace_drop_t){.kind = "OVERRUN", .cpu = -1,
			.drops = 1, .total = 1,
			.message = "events were overwritten before anybody looked: an alert() or "
				   "snapshot() may be among them (bufsize)"});
	en_recording_free(c);
	return co->rv;
}

int co_look(struct co *co, const erltrace_handlers_t *h)
{
	co_begin_call(co, h);
	if (co_notice(co) == 0)
		co_flush(co);
	return co->rv;
}

int co_replay(struct co *co, struct en_recording *c, unsigned most, const erltrace_handlers_t *h,
	bool *done)
{
	const struct rec_head *rec = NULL;
	int fd = co->fd; /* freopen(): not for this */
	unsigned thread;

	co->fd = -1;
	co_begin_call(co, h);
	co->mode = CO_REPLAY;
	for (*done = false; co->rv == 0 && most > 0; most--) {
		rec = en_recording_next(c, &thread);
		*done = rec == NULL;
		if (*done)
			break;
		co_record(co, thread, rec);
	}
	co->mode = CO_ALL;
	co->fd = fd;
	return co->rv;
}
