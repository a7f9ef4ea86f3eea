/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of this process as the origin of records and aggregations. */
#include "origin.h"

#include "engine/probe.h"
#include "prog/prog.h"
#include "symbols/symbols.h"

static bool at(void *of, uint32_t epid, struct co_at *out)
{
	const struct en_ecb *ecb = en_ecb(of, epid);
	const struct en_probe *p = ecb != NULL ? ecb->probe : NULL;

	if (p == NULL || ecb->clause == NULL)
		return false;
	out->epid = ecb->epid;
	out->clause = ecb->clause;
	out->probe = (erltrace_probe_info_t){.id = p->id,
		.provider = p->prov->text,
		.module = p->mod->text,
		.function = p->func->text,
		.name = p->name->text,
		.nargs = p->nargs,
		.argtypes = p->argtypes};
	return true;
}

static int records(void *of, en_rec_cb cb, void *arg)
{
	return en_consume(of, cb, arg);
}

static int aggregations(void *of, en_agg_cb cb, void *arg)
{
	return en_agg_take(of, cb, arg);
}

static uint64_t wall(void *of, uint64_t mono)
{
	return en_wall(of, mono);
}

static int address(void *of, uint64_t *addr)
{
	return en_address(of, addr);
}

static void process_text(void *of, uint64_t term, char *buf, size_t size)
{
	en_process_text(of, term, buf, size);
}

static unsigned threads(void *of)
{
	return en_nthreads(of);
}

static uint64_t drops(void *of, unsigned thread, enum en_drop kind)
{
	return en_drops(of, thread, kind);
}

static bool news(void *of, char *buf, size_t size, unsigned *stream)
{
	*stream = 0;
	return en_news(of, buf, size);
}

static bool exited(void *of, int *code)
{
	return en_exited(of, code);
}

static void seen(void *of, struct en_seen *out)
{
	en_seen(of, out);
}

static bool frame_name(const void *en, uint64_t pc, enum sy_form form, char *buf, size_t size)
{
	(void)form;
	return en_frame(en, pc, buf, size);
}

static int process_of(const void *en, uint64_t *addr)
{
	return en_address(en, addr);
}

static int nth_process(const void *en, unsigned n)
{
	return en_process(en, n);
}

static struct sy *symbols(void *of)
{
	return sy_new(0, &(struct sy_origin){frame_name, process_of, nth_process, of});
}

const struct co_origin co_engine_origin = {
	.at = at,
	.records = records,
	.aggregations = aggregations,
	.wall = wall,
	.address = address,
	.process_text = process_text,
	.threads = threads,
	.drops = drops,
	.news = news,
	.exited = exited,
	.seen = seen,
	.symbols = symbols,
};
