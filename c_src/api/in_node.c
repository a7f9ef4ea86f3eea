/* SPDX-License-Identifier: Apache-2.0 */
/* What the side inside a node needs of a handle besides the public calls. */
#include <string.h>

#include "compiler.h"
#include "handle.h"
#include "in_node.h"
#include "stream/reader.h"
#include "stream/writer.h"

#define CLEAN_NS 1000000000ULL /* where no variable is ever deleted: for what threads left behind */
#define NEWS_NS 5000000000ULL /* where nothing fires */
#define CLEAN_IDLE 4 /* where nothing was deleted the last time: so many times as seldom */

void api_set_inside(erltrace_t *h)
{
	h->opts.inside = true;
}

void api_confine(erltrace_t *h, const struct confine *c)
{
	h->opts.confine = *c;
}

void api_bpf_token(erltrace_t *h, int fd)
{
	h->opts.bpf_token = fd;
}

void api_time(erltrace_t *h)
{
	h->opts.timed = true;
}

bool api_beat(erltrace_t *h, uint64_t patience)
{
	return en_beat(h->en, patience);
}

uint64_t api_kernel_cost(const erltrace_t *h)
{
	return en_kernel_cost(h->en);
}

uint64_t api_fired(const erltrace_t *h)
{
	return h->reader != NULL ? sr_fired(h->reader, 0) : en_fired(h->en);
}

struct en *api_engine(erltrace_t *h)
{
	return h->en;
}

const struct prog *api_program(const erltrace_t *h)
{
	return &h->comp->prog;
}

void api_no_payload(erltrace_t *h)
{
	h->opts.val[OPT_PAYLOAD] = 0;
	h->opts.no_payload = true;
}

PROBE_PATH uint64_t api_option(const erltrace_t *h, enum et_opt opt)
{
	return h->opts.val[opt];
}

bool api_records_processes(const erltrace_t *h)
{
	return et_opt_processes(&h->opts);
}

const char *api_text_option(const erltrace_t *h, enum et_opt opt)
{
	uint64_t n = h->opts.val[opt];

	return n != 0 ? h->opts.str[opt][n - 1] : "";
}

bool api_is_destructive(const erltrace_t *h)
{
	const struct prog *prog = &h->comp->prog;

	for (unsigned i = 0; i < prog->nclauses; i++)
		if (prog->clauses[i]->destructive)
			return true;
	return false;
}

bool api_has_self(const erltrace_t *h)
{
	const struct prog *prog = &h->comp->prog;

	for (unsigned i = 0; i < prog->nvars; i++)
		if (prog->vars[i]->scope == SC_SELF)
			return true;
	return false;
}

/*
 * Does it only describe BEGIN and END? These fire when it starts and when it ends, which is seen
 * anyway.
 */
static bool is_begin_or_end(const struct d_pdesc *d)
{
	for (; d != NULL; d = d->next)
		if (d->id != 0 || (strcmp(d->name, "BEGIN") != 0 && strcmp(d->name, "END") != 0))
			return false;
	return true;
}

bool api_prints(const erltrace_t *h)
{
	const struct prog *prog = &h->comp->prog;

	for (unsigned i = 0; i < prog->nclauses; i++)
		if (prog->clauses[i]->has_record && !is_begin_or_end(prog->clauses[i]->descs))
			return true;
	return false;
}

uint64_t api_lost(const erltrace_t *h)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < en_nthreads(h->en); i++)
		n += en_drops(h->en, i, DROP_PRINCIPAL);
	return n;
}

/* Nothing fired: nothing was dropped either, and only providers may have news. */
bool api_idle(const erltrace_t *h)
{
	uint64_t rest = h->opts.val[OPT_STATUSRATE];
	enum en_unread unread;

	if (h->co == NULL || !h->begun || h->done || h->replay != NULL || api_ended(h))
		return false;
	if (h->writer != NULL && sw_every(h->writer) < rest)
		rest = sw_every(h->writer);
	unread = en_unread(h->en);
	if (unread == EN_URGENT)
		return false;
	if (unread == EN_NOTHING && en_fired(h->en) == h->fired && rest < NEWS_NS)
		rest = NEWS_NS;
	return en_now() < h->worked + rest;
}

bool api_rests(const erltrace_t *h)
{
	return api_idle(h) && en_unread(h->en) == EN_NOTHING;
}

void api_mute(erltrace_t *h)
{
	if (h->co != NULL)
		co_mute(h->co);
}

static uint64_t clean_after(const erltrace_t *h, bool deleted)
{
	const struct prog *prog = &h->comp->prog;

	for (unsigned i = 0; i < prog->nvars; i++)
		if (prog->vars[i]->assoc)
			return h->opts.val[OPT_CLEANRATE] * (deleted ? 1 : CLEAN_IDLE);
	return CLEAN_NS;
}

uint64_t api_clean(erltrace_t *h)
{
	bool deleted = en_state(h->en) == EN_RUNNING && en_clean(h->en);

	h->cleaned = en_now();
	return clean_after(h, deleted);
}

uint64_t api_rest(const erltrace_t *h)
{
	return en_unclean(h->en) || en_now() >= h->cleaned + CLEAN_NS ? 0 : clean_after(h, false);
}

uint64_t api_tend(erltrace_t *h)
{
	uint64_t rest = api_clean(h);

	(void)api_upkeep(h, en_now(), NULL);
	return rest;
}

int api_extend(erltrace_t *h, unsigned first, erltrace_error_t *err)
{
	struct et_error e = {.tag = ""};

	return en_extend(h->en, first, &e) < 0 ? api_error(err, &e) : 0;
}

/* ---- counters -------------------------------------------------------------------------- */

void api_counters_begin(erltrace_t *h)
{
	if (!h->unread)
		en_consume_until(h->en, 0);
	h->unread = true;
}

void api_counters_read(erltrace_t *h, uint64_t ns)
{
	en_consume_until(h->en, ns);
}

void api_counters_end(erltrace_t *h)
{
	en_consume_until(h->en, UINT64_MAX);
	h->unread = false;
}

bool api_counters(const erltrace_t *h)
{
	return h->unread;
}
