/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider cpc: counters of the processor, and of the kernel, each of which fires a probe whenever
 * it has counted so many on a CPU. A name is EVENT-MODE-COUNT: cpu_cycles-all-1000000. sampler.c makes
 * the perf events of it; the probes fire as profile-N does.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "kernel/kernel.h"
#include "kernel/perf_sample.h"

#define HW(name) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##name
#define SW(name) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##name
#define CACHE(which, op, result)                                                                   \
	PERF_TYPE_HW_CACHE,                                                                        \
		PERF_COUNT_HW_CACHE_##which | PERF_COUNT_HW_CACHE_OP_##op << 8 |                   \
			PERF_COUNT_HW_CACHE_RESULT_##result << 16

/* Names of perf(1), and those that scripts have for any processor (PAPI). */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} counters[] = {
	{"cpu_cycles", HW(CPU_CYCLES)},
	{"instructions", HW(INSTRUCTIONS)},
	{"cache_references", HW(CACHE_REFERENCES)},
	{"cache_misses", HW(CACHE_MISSES)},
	{"branch_instructions", HW(BRANCH_INSTRUCTIONS)},
	{"branch_misses", HW(BRANCH_MISSES)},
	{"bus_cycles", HW(BUS_CYCLES)},
	{"stalled_cycles_frontend", HW(STALLED_CYCLES_FRONTEND)},
	{"stalled_cycles_backend", HW(STALLED_CYCLES_BACKEND)},
	{"ref_cycles", HW(REF_CPU_CYCLES)},
	{"l1_dcache_loads", CACHE(L1D, READ, ACCESS)},
	{"l1_dcache_load_misses", CACHE(L1D, READ, MISS)},
	{"l1_icache_load_misses", CACHE(L1I, READ, MISS)},
	{"llc_loads", CACHE(LL, READ, ACCESS)},
	{"llc_load_misses", CACHE(LL, READ, MISS)},
	{"llc_stores", CACHE(LL, WRITE, ACCESS)},
	{"llc_store_misses", CACHE(LL, WRITE, MISS)},
	{"dtlb_load_misses", CACHE(DTLB, READ, MISS)},
	{"itlb_load_misses", CACHE(ITLB, READ, MISS)},
	{"PAPI_tot_cyc", HW(CPU_CYCLES)},
	{"PAPI_tot_ins", HW(INSTRUCTIONS)},
	{"PAPI_ref_cyc", HW(REF_CPU_CYCLES)},
	{"PAPI_br_ins", HW(BRANCH_INSTRUCTIONS)},
	{"PAPI_br_msp", HW(BRANCH_MISSES)},
	{"PAPI_l1_dcm", CACHE(L1D, READ, MISS)},
	{"PAPI_l1_icm", CACHE(L1I, READ, MISS)},
	{"PAPI_l3_tca", HW(CACHE_REFERENCES)},
	{"PAPI_l3_tcm", HW(CACHE_MISSES)},
	{"PAPI_tlb_dm", CACHE(DTLB, READ, MISS)},
	{"PAPI_tlb_im", CACHE(ITLB, READ, MISS)},
	{"page_faults", SW(PAGE_FAULTS)},
	{"minor_faults", SW(PAGE_FAULTS_MIN)},
	{"major_faults", SW(PAGE_FAULTS_MAJ)},
	{"context_switches", SW(CONTEXT_SWITCHES)},
	{"cpu_migrations", SW(CPU_MIGRATIONS)},
	{"alignment_faults", SW(ALIGNMENT_FAULTS)},
	{"emulation_faults", SW(EMULATION_FAULTS)},
};
enum { NCOUNTERS = sizeof(counters) / sizeof(*counters) };
enum { LEAST = 5000 }; /* of the processor's: it would do little else */

extern const struct provider cpc_provider;

/* NAME-MODE-COUNT. "": it is none; else what is wrong with it; NULL: nothing. */
static const char *parse(const char *text, struct k_sample *s)
{
	const char *mode = strchr(text, '-'), *count = strrchr(text, '-');
	size_t len = mode != NULL ? (size_t)(mode - text) : 0, i;
	char *end;

	if (mode == NULL || mode == count || count[1] == '\0')
		return "";
	for (i = 0; i < NCOUNTERS; i++)
		if (strlen(counters[i].name) == len && strncmp(counters[i].name, text, len) == 0)
			break;
	if (i == NCOUNTERS)
		return "erltrace -ln 'cpc:::' lists the counters that have a name";
	*s = (struct k_sample){.type = counters[i].type, .config = counters[i].config};
	len = (size_t)(count - mode) - 1;
	s->not_kernel = len == 4 && strncmp(mode + 1, "user", 4) == 0;
	s->not_user = len == 6 && strncmp(mode + 1, "kernel", 6) == 0;
	if (!s->not_kernel && !s->not_user && !(len == 3 && strncmp(mode + 1, "all", 3) == 0))
		return "a name is EVENT-MODE-COUNT, and the mode user, kernel or all";
	s->period = strtoull(count + 1, &end, 10);
	if (*end != '\0' || s->period == 0)
		return "a name is EVENT-MODE-COUNT, and the count a number, as in "
		       "page_faults-user-1";
	if (s->type != PERF_TYPE_SOFTWARE && s->period < LEAST)
		return "it would fire too often: the least count of the processor's counters is 5000";
	return NULL;
}

static int add(struct en *en, const char *name, struct et_error *e)
{
	static const char *const args[] = {"uint64_t", "uint64_t"};
	struct en_probe *p = en_probe_find(en, "cpc", "", "", name);

	if (p != NULL)
		return 0;
	p = en_probe_add(en, &cpc_provider, NULL, "cpc", "", "", name);
	if (p == NULL)
		return et_err(e, ET_NOMEM, "out of memory for probe %s", name);
	p->nargs = 2;
	p->argtypes = args;
	return 0;
}

/* One of each counter, for who lists them. */
static int init(struct en *en, void **data, struct et_error *e)
{
	char name[80];

	*data = NULL;
	for (unsigned i = 0; i < NCOUNTERS; i++) {
		snprintf(name, sizeof(name), "%s-all-%s", counters[i].name,
			counters[i].type == PERF_TYPE_SOFTWARE ? "1" : "1000000");
		if (add(en, name, e) < 0)
			return -1;
	}
	return 0;
}

static bool is_asked_for(const struct d_pdesc *d)
{
	return d->prov != NULL && strcmp(d->prov, "cpc") == 0 && d->name != NULL;
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	const char *mod = d->mod ? d->mod : "", *func = d->func ? d->func : "";
	struct k_sample s;

	(void)data;
	if (!is_asked_for(d) || *mod != '\0' || *func != '\0' || parse(d->name, &s) != NULL)
		return 0;
	return add(en, d->name, e);
}

static const char *why_none(const struct d_pdesc *d)
{
	const char *why;
	struct k_sample s;

	if (!is_asked_for(d) || (why = parse(d->name, &s)) == NULL)
		return NULL;
	return *why != '\0' ? why : "a name is EVENT-MODE-COUNT, as in cpu_cycles-user-1000000";
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	struct k_sample s;

	(void)data;
	if (parse(p->name->text, &s) != NULL)
		return et_err(e, ET_KERNEL, "cpc: there is no counter %s", p->name->text);
	return k_sample_add(en, p, &s, e);
}

const struct provider cpc_provider = {
	.name = "cpc",
	.of_kernel = true,
	.init = init,
	.provide = provide,
	.why_none = why_none,
	.enable = enable,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
