/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading a program: verify its clauses and compile them to machine code, make its tables, reserve
 * the memory of all slots, and enable its clauses at the probes that they match.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/tables/agg.h"
#include "clock.h"
#include "compiler.h"
#include "engine/tables/dyn.h"
#include "engine.h"
#include "load.h"
#include "probe.h"
#include "procs.h"
#include "prog/prog.h"
#include "prog/record.h"
#include "provider.h"
#include "region.h"
#include "safe.h"
#include "slot.h"
#include "engine/tables/spec.h"
#include "state.h"
#include "str.h"

/* ---- code ----------------------------------------------------------------------------- */

/* A copy where the kernel can read it, which replaces the original if that is owned. */
static const struct et_str *en_str_shared(struct en *en, const struct et_str *s, bool owned)
{
	struct et_str *copy;

	if (!en->shared.on)
		return s;
	copy = en_alloc(en, sizeof(*s) + s->len + 1);
	if (copy != NULL)
		memcpy(copy, s, sizeof(*s) + s->len + 1);
	if (owned)
		et_str_free((struct et_str *)s);
	return copy;
}

static int load_strings(struct en *en, struct et_error *e)
{
	const struct prog *p = en->prog;

	en->strs = calloc(p->nstrs + 1, sizeof(*en->strs));
	if (en->strs == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the strings of the program");
	for (unsigned i = 0; i < p->nstrs; i++) {
		const struct et_str *s = et_str_new(p->strs[i].s, p->strs[i].len);

		if (s != NULL)
			s = en_str_shared(en, s, true);
		if (s == NULL)
			return et_err(
				e, ET_NOMEM, "out of memory for the strings of the program");
		en->strs[i] = str_ref(s);
	}
	return 0;
}

/* Built-in variables that are a word of memory. */
static const struct ebpf_direct direct[] = {
#define OF_PROBE(which, member)                                                                    \
	{RT_strvar, which, offsetof(struct fire, probe), offsetof(struct en_probe, member), 8,     \
		STR_TAG}
	OF_PROBE(BI_PROBEPROV, prov),
	OF_PROBE(BI_PROBEMOD, mod),
	OF_PROBE(BI_PROBEFUNC, func),
	OF_PROBE(BI_PROBENAME, name),
};

/* An error at the line of a clause. */
static int __attribute__((format(printf, 4, 5))) refuse(
	struct et_error *e, const struct prog_clause *c, enum et_tag tag, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	et_verr(e, tag, fmt, ap);
	va_end(ap);
	e->line = c->line;
	return -1;
}

/* JIT-compile the clauses if that is enabled and supported; else they are interpreted. */
static int load_code(struct en *en, struct et_error *e)
{
	const struct prog *p = en->prog;

	prog_env(p, &en->env);
	en->env.direct = direct;
	en->env.ndirect = sizeof(direct) / sizeof(*direct);
	en->code = calloc(p->nclauses + 1, sizeof(*en->code));
	if (en->code == NULL)
		return et_err(e, ET_NOMEM, "out of memory for %u clauses", p->nclauses);
	en->ncode = p->nclauses;
	en->jitted = en->opts->val[OPT_JIT] && ebpf_jit_available();
	for (unsigned i = 0; i < p->nclauses; i++) {
		const struct prog_clause *c = p->clauses[i];
		struct et_error ignored = {0};

		if (c->signals && en->opts->inside)
			return refuse(e, c, ET_DESTRUCTIVE,
				"stop(), raise(), panic() and breakpoint() would stop or kill the "
				"whole node: inside a node they are refused");
		if (c->destructive && !en->opts->val[OPT_DESTRUCTIVE])
			return refuse(e, c, ET_DESTRUCTIVE,
				"destructive actions are not permitted: allow them with -w or "
				"-xdestructive");
		if (ebpf_verify(c->insns, c->ninsns, &en->env, e) < 0)
			return -1;
		if (en->jitted && ebpf_jit(c->insns, c->ninsns, &en->env, en->strs, &en->code[i],
					  &ignored) < 0)
			en->jitted = false;
	}
	for (unsigned i = 0; i < p->nclauses && !en->jitted; i++)
		ebpf_jit_free(&en->code[i]);
	return 0;
}

/* ---- memory --------------------------------------------------------------------------- */

static unsigned strings_in(const struct prog_clause *c)
{
	unsigned n = 0;

	for (unsigned a = 0; a < c->nactions; a++)
		for (unsigned v = 0; v < c->actions[a].nvals; v++)
			n += c->actions[a].vals[v].kind == V_STR;
	return n;
}

/* The longest record of a clause: the fixed part, all its strings at full length, the process. */
static uint64_t record_size(const struct en *en, const struct prog_clause *c)
{
	uint64_t size = sizeof(struct rec_head) + c->rec_size;

	size = align_up(size + (uint64_t)strings_in(c) * (en->prog->strsize - 1), 8);
	return size + (en->processes ? sizeof(struct rec_process) : 0);
}

static int too_long(const struct en *en, const struct prog_clause *c, struct et_error *e)
{
	unsigned strings = strings_in(c);

	return refuse(e, c, ET_RECORD,
		"a record of this clause may take %llu bytes, with %u string%s of up to strsize=%u; "
		"bufsize=%llu is less: make bufsize larger (-b), strsize smaller, or split the "
		"clause",
		(unsigned long long)record_size(en, c), strings, strings == 1 ? "" : "s",
		en->prog->strsize - 1, (unsigned long long)en->opts->val[OPT_BUFSIZE]);
}

#define RECORD_MOST (1u << 30) /* whatever bufsize is */

/* Room for the longest record of all clauses: each slot builds records there. */
static int size_records(struct en *en, struct et_error *e)
{
	const struct prog *p = en->prog;
	uint64_t most = align_up(sizeof(struct rec_head) + p->rec_size, 8);

	for (unsigned i = 0; i < p->nclauses; i++) {
		uint64_t size = record_size(en, p->clauses[i]);

		if (size > (en->opts->val[OPT_BUFSIZE] & ~7ULL) || size > RECORD_MOST)
			return too_long(en, p->clauses[i], e);
		if (size > most)
			most = size;
	}
	en->rec_cap = (uint32_t)most;
	return 0;
}

static bool has_records(const struct prog *p)
{
	for (unsigned i = 0; i < p->nclauses; i++)
		if (p->clauses[i]->has_record || p->clauses[i]->default_action)
			return true;
	return false;
}

static size_t take(size_t *at, size_t size, size_t align)
{
	size_t off = align_up(*at, align);

	*at = off + size;
	return off;
}

/* Layout of a slot. A program gets only what it uses (records are needed for errors, too). */
static void lay_out(struct en *en)
{
	const struct prog *p = en->prog;
	uint64_t bufsize = en->opts->val[OPT_BUFSIZE] & ~7ULL;
	size_t at = sizeof(struct en_thread);

	if (!has_records(p) && en->spec.n == 0 && bufsize > 64 * 1024)
		bufsize = 64 * 1024;
	en->at.ring_size = bufsize;
	en->at.rec = take(&at, en->rec_cap, 64);
	en->at.scratch = take(&at, en->scratch_size, 64);
	en->at.error_scratch = take(&at, en->scratch_size, 64);
	en->at.alloca = take(&at, ALLOCA_BELOW + en->alloca_size, 64) + ALLOCA_BELOW;
	en->at.tok = take(&at, en->strsize, 64);
	en->at.spec = take(&at, en->spec.n * sizeof(struct spec_buf), 64);
	en->at.ring = take(&at, en->at.ring_size, 4096);
	for (int i = 0; i < 2 && p->naggs > 0; i++)
		en->at.agg[i] = take(&at, en->at.agg_direct + en->at.agg_size, 4096);
	en->at.spec_mem = take(&at, (size_t)en->spec.blocks * en->spec.block, 4096);
	en->stride = align_up(at, 4096);
}

/* ---- what is shared with the kernel ----------------------------------------------------- */

/*
 * Memory shared with the kernel is populated from the start (region.c). So bufsize, aggsize and
 * specsize are halved, the largest first, until the slots of all CPUs are within the limit. With
 * bufresize=manual they stay as they were set.
 */
#define KERNEL_LEAST (64ULL << 10) /* bytes of a buffer that is not halved further */

bool en_may_halve(const struct en *en)
{
	const struct et_options *o = en->opts;
	uint64_t n = o->val[OPT_BUFRESIZE];

	return n == 0 || strcmp(o->str[OPT_BUFRESIZE][n - 1], "manual") != 0;
}

static bool halve(struct en *en)
{
	uint64_t *val = en->opts->val, spec = (uint64_t)en->spec.blocks * en->spec.block;
	uint64_t most =
		en->at.ring_size > 2 * en->at.agg_size ? en->at.ring_size : 2 * en->at.agg_size;

	if (spec > most && spec > KERNEL_LEAST && en->spec.blocks > 1) {
		en->spec.blocks /= 2;
		val[OPT_SPECSIZE] = (uint64_t)en->spec.blocks * en->spec.block;
	} else if (en->at.ring_size > en->at.agg_size && en->at.ring_size > KERNEL_LEAST &&
		   en->at.ring_size / 2 >= en->rec_cap) {
		val[OPT_BUFSIZE] /= 2;
	} else if (en->at.agg_size > KERNEL_LEAST) {
		val[OPT_AGGSIZE] /= 2;
		en->at.agg_size = align_up(val[OPT_AGGSIZE], 8);
	} else {
		return false;
	}
	lay_out(en);
	return true;
}

static void fit_buffers(struct en *en)
{
	uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) / 8 * 4096;
	unsigned nslots = en->shared.nslots - SPARE_SLOTS;

	if (most > KERNEL_MOST)
		most = KERNEL_MOST;
	if (en->shared.late) { /* all of it is there, and as much again: the next power of two */
		nslots = en->maxslots + 1;
		most /= 2;
	}
	while (en->stride * nslots > most && en_may_halve(en) && halve(en))
		;
}

/* A spare slot has few firings: only an eighth of its buffers is populated. */
static int populate(struct en *en)
{
	size_t aggs = en->prog->naggs > 0 ? en->at.agg_direct + en_spare_size(en->at.agg_size) : 0;

	if (en->shared.late)
		return 0;
	for (unsigned i = 0; i < en->shared.nslots; i++) {
		char *slot = (char *)en_slot(en, i);
		int rc = 0;

		if (i < en->shared.nslots - SPARE_SLOTS) {
			rc = en_populate(slot, en->stride);
		} else {
			rc |= en_populate(slot, en->at.ring + en_spare_size(en->at.ring_size));
			rc |= en_populate(slot + en->at.agg[0], aggs);
			rc |= en_populate(slot + en->at.agg[1], aggs);
			rc |= en_populate(slot + en->at.spec_mem, en->stride - en->at.spec_mem);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* ---- slots ------------------------------------------------------------------------------ */

/*
 * One mapping for all slots; only what is used is ever touched. The slot after the others is for
 * en_slot_own. If the system refuses even the address space, halve large buffers, then the number
 * of slots.
 */
#define LARGE_SLOT (64ULL << 20)

static int map_slots(struct en *en, struct et_error *e)
{
	void *map;

	en->maxslots = (unsigned)en->opts->val[OPT_MAXTHREADS];
	if (en->shared.on) { /* the kernel's, all populated, and a few of our own */
		en->shared.nslots = (unsigned)sysconf(_SC_NPROCESSORS_CONF) + SPARE_SLOTS;
		en->maxslots = en->shared.nslots + OWN_SLOTS;
		fit_buffers(en);
	}
	for (;;) {
		en->slots_size = en->stride * (en->maxslots + 1);
		map = en->slots = en_alloc_pages(en, en->slots_size, 0);
		if (map != NULL && (!en->shared.on || populate(en) == 0))
			break;
		if (en->shared.on)
			return et_err(e, ET_NOMEM,
				"no memory for buffers of %zu bytes for each of %u CPUs and a few "
				"more: make bufsize, aggsize or specsize smaller",
				en->stride, en->shared.nslots - SPARE_SLOTS);
		if (en->stride > LARGE_SLOT && en_may_halve(en) && halve(en))
			continue;
		if (en->maxslots <= 1)
			return et_err(e, ET_NOMEM,
				"no memory for buffers of %zu bytes a thread: make bufsize, "
				"aggsize or specsize smaller",
				en->stride);
		en->maxslots /= 2;
	}
	en->slots = map;
	if (en->shared.on)
		en_slots_kernel(en);
	else /* otherwise the first byte touched takes a huge page of 2 MB */
		madvise((void *)((uintptr_t)map & ~(uintptr_t)4095), en->slots_size,
			MADV_NOHUGEPAGE);
	return 0;
}

/* Options above their limit. */
static int fit_options(struct en *en, struct et_error *e)
{
	for (int i = 0; i < OPT_MAX; i++) {
		const struct et_optdef *d = &et_optdefs[i];
		uint64_t *v = &en->opts->val[i], asked = *v;

		while (et_opt_is_buffer(i) && *v > d->max && en_may_halve(en))
			*v /= 2;
		if (et_opt_is_buffer(i) && *v > d->max)
			return et_err(e, ET_OPTION,
				"option %s: %llu is more than %llu bytes; bufresize=auto would "
				"halve it",
				d->name, (unsigned long long)asked, (unsigned long long)d->max);
	}
	return 0;
}

static int load_memory(struct en *en, struct et_error *e)
{
	const struct prog *p = en->prog;
	const uint64_t *val = en->opts->val;
	en->strsize = p->strsize;
	en->scratch_size = p->scratch_size < 8 ? 8 : p->scratch_size;
	en->this_end = p->this_end;
	en->alloca_size = (uint32_t)val[OPT_SCRATCHSIZE];
	en->policy = (int)val[OPT_BUFPOLICY];
	en->processes = et_opt_processes(en->opts);
	/* What stays in a ring burdens nobody. */
	en->rate_limit = en->opts->inside && en->policy != BUFPOLICY_RING ?
				 (uint32_t)val[OPT_MAXRATE] : 0;
	atomic_store(&en->rate.at, en_now());
	atomic_store(&en->rate.left, en->rate_limit);
	en->only_cpu = val[OPT_CPU];
	atomic_store(&en->maxwork, val[OPT_MAXWORK] != 0 ? val[OPT_MAXWORK] : UINT64_MAX);
	if (atomic_load(&en->halted))
		en_halt(en);
	if (en->only_cpu != UINT64_MAX && en->only_cpu >= (uint64_t)sysconf(_SC_NPROCESSORS_CONF))
		return et_err(e, ET_OPTION,
			"option cpu: there is no CPU %llu: nothing would fire",
			(unsigned long long)en->only_cpu);
	en->maxframes = (unsigned)val[OPT_MAXFRAMES];
	if (fit_options(en, e) < 0 || size_records(en, e) < 0)
		return -1;
	en->globals_size = p->globals_size;
	en->globals = en_alloc(en, p->globals_size + 64);
	if (en->globals == NULL)
		return et_err(e, ET_NOMEM, "out of memory for variables");
	if (agg_init(en, e) < 0 || dyn_init(en, e) < 0 || spec_init(en, e) < 0)
		return -1;
	lay_out(en);
	return map_slots(en, e);
}

/* ---- probes --------------------------------------------------------------------------- */

struct pairs {
	struct en *en;
	const struct prog_clause *clause;
	unsigned index;
	ebpf_entry entry;
	struct en_ecb *at; /* in order of clauses: epids from necbs + 1 on */
	unsigned n, room;
	bool failed;
};

static void add_pair(void *arg, struct en_probe *p)
{
	struct pairs *all = arg;

	if (all->n == all->room) {
		unsigned room = all->room ? 2 * all->room : 64;
		struct en_ecb *at = realloc(all->at, room * sizeof(*at));

		if (at == NULL) {
			all->failed = true;
			return;
		}
		all->at = at;
		all->room = room;
	}
	all->at[all->n] = (struct en_ecb){.id = p->id,
		.epid = all->en->necbs + all->n + 1,
		.index = all->index,
		.entry = all->entry,
		.clause = all->clause,
		.probe = p};
	all->n++;
}

static void add_ecb(struct en *en, const struct en_ecb *ecb, struct en_ecblist *l)
{
	const struct prog_uses *u = &ecb->clause->uses;
	struct en_probe *p = ecb->probe;
	unsigned has = p->nargs >= 0 && p->argmap == NULL ? (1u << p->nargs) - 1 : ~0u;

	l->ecb[l->n] = *ecb;
	en->ecbs[en->necbs++] = &l->ecb[l->n++];
	p->argmask |= u->args & has;
	p->nomask |= u->args & ~has;
	uses_add(&p->uses, u);
}

/* Make the list of clauses of each probe. */
static int make_lists(struct en *en, const struct pairs *all, struct et_error *e)
{
	unsigned *count = calloc(en->reg.nprobes + 1, sizeof(*count));
	struct en_ecblist **list = calloc(en->reg.nprobes + 1, sizeof(*list));
	struct en_ecb **ecbs = realloc(en->ecbs, (en->necbs + all->n + 1) * sizeof(*ecbs));

	if (ecbs != NULL)
		en->ecbs = ecbs;
	if (count == NULL || list == NULL || ecbs == NULL)
		goto failed;
	for (unsigned i = 0; i < all->n; i++)
		count[all->at[i].probe->id]++;
	for (unsigned i = 0; i < all->n; i++) {
		const struct en_ecb *ecb = &all->at[i];
		struct en_ecblist **l = &list[ecb->probe->id];

		if (*l == NULL) {
			*l = calloc(1, sizeof(**l) + count[ecb->probe->id] * sizeof(*ecb));
			if (*l == NULL)
				goto failed;
			atomic_store(&ecb->probe->ecbs, *l); /* nothing fires it yet */
		}
		add_ecb(en, ecb, *l);
		(*l)->quick = (*l)->n == 1 && ecb->entry != NULL && ecb->probe->nomask == 0 &&
			      en->only_cpu == UINT64_MAX;
	}
	free(count);
	free(list);
	return 0;
failed:
	free(count);
	free(list);
	return et_err(e, ET_NOMEM, "out of memory for %u enabled probes", all->n);
}

/* Enable clauses at matching probes; first > 0: only at those added since tracing began. */
static int enable(struct en *en, unsigned first, struct et_error *e)
{
	struct pairs all = {.en = en};
	int rc = -1;

	for (unsigned i = 0; i < en->prog->nclauses; i++) {
		all.clause = en->prog->clauses[i];
		all.index = i;
		all.entry = en->code[i].entry;
		for (const struct d_pdesc *d = all.clause->descs; d != NULL; d = d->next)
			if (first > 0)
				en_probe_match_from(en, first, d, add_pair, &all);
			else if (en_probe_match(en, d, add_pair, &all, e) < 0)
				goto out;
	}
	if (all.failed)
		et_err(e, ET_NOMEM, "out of memory for enabled probes");
	else
		rc = make_lists(en, &all, e);
out:
	free(all.at);
	return rc;
}

static int load_probes(struct en *en, struct et_error *e)
{
	return enable(en, 0, e);
}

int en_extend(struct en *en, unsigned first, struct et_error *e)
{
	if (en->state != EN_RUNNING || first == 0 || first >= en->reg.nprobes)
		return 0;
	return enable(en, first, e);
}

int en_look(struct en *en, struct et_error *e)
{
	for (unsigned i = 0; i < en->providers.n && en->state == EN_RUNNING; i++)
		if (et_providers[i]->look != NULL &&
			et_providers[i]->look(en, en->providers.data[i], e) < 0)
			return -1;
	return 0;
}

void en_attend(struct en *en)
{
	for (unsigned i = 0; i < en->providers.n && en->state == EN_RUNNING; i++)
		if (et_providers[i]->attend != NULL)
			et_providers[i]->attend(en, en->providers.data[i]);
}

/* ---- the process ---------------------------------------------------------------------- */

static uint32_t parent_of(uint32_t pid)
{
	char path[64], line[512];
	unsigned parent = 0;
	char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) != NULL && (end = strrchr(line, ')')) != NULL)
		if (sscanf(end + 1, " %*c %u", &parent) != 1)
			parent = 0;
	fclose(f);
	return parent;
}

/* A file of /proc/self as one line: separators become spaces, trailing ones are removed. */
static struct et_str *own_line(const char *path, size_t most)
{
	char text[4096];
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (f != NULL) {
		n = fread(text, 1, most < sizeof(text) ? most : sizeof(text), f);
		fclose(f);
	}
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\0' || text[i] == '\n')
			text[i] = ' ';
	while (n > 0 && text[n - 1] == ' ')
		n--;
	return et_str_new(text, n);
}

static struct et_str *own_link(const char *path, size_t most)
{
	char text[4096];
	ssize_t n = readlink(path, text, most < sizeof(text) ? most : sizeof(text));

	return et_str_new(text, n > 0 ? (size_t)n : 0);
}

static int note_process(struct en *en, struct et_error *e)
{
	en->process.execname = own_line("/proc/self/comm", 64);
	/* in a node the arguments may contain the cookie, which scripts must not see */
	en->process.psargs = own_line(
		en->opts->inside ? "/proc/self/comm" : "/proc/self/cmdline", en->strsize - 1);
	en->process.cwd = own_link("/proc/self/cwd", en->strsize - 1);
	en->process.rootdir = own_link("/proc/self/root", en->strsize - 1);
	if (en->process.execname == NULL || en->process.psargs == NULL || en->process.cwd == NULL ||
		en->process.rootdir == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	en->process.pid = (uint32_t)getpid();
	en->process.ppid = (uint32_t)getppid();
	en->process.pgid = (uint32_t)getpgid(0);
	en->process.sid = (uint32_t)getsid(0);
	en->process.uid = getuid();
	en->process.euid = geteuid();
	en->process.gid = getgid();
	en->process.egid = getegid();
	en->process.pri = (uint32_t)(120 + getpriority(PRIO_PROCESS, 0)); /* the kernel's scale */
	for (uint32_t pid = en->process.pid; pid != 0 && en->process.nancestors < 64;
		pid = parent_of(pid))
		en->process.ancestors[en->process.nancestors++] = pid;
	return 0;
}

/* ---- time ----------------------------------------------------------------------------- */

static bool wants_time(const struct prog *p)
{
	for (unsigned i = 0; i < p->nclauses; i++)
		if (p->clauses[i]->uses.vars & (USES_VAR(TIMESTAMP) | USES_VAR(VTIMESTAMP)))
			return true; /* a provider may derive running times from time stamps */
	return has_records(p);
}

/* ---- the kernel ----------------------------------------------------------------------- */

struct arena_wish {
	struct en *en;
	const struct provider *pv;
};

static void wish(void *arg, struct en_probe *p)
{
	struct arena_wish *w = arg;

	if (w->pv == NULL && p->pv != NULL && p->pv->arena != NULL && p->pv->wants_arena == NULL)
		w->pv = p->pv;
}

/* If a clause runs in the kernel, share the memory before anything is allocated. */
static int share(struct en *en, struct et_error *e)
{
	struct arena_wish w = {.en = en};
	int fd;

	for (unsigned i = 0; i < en->prog->nclauses; i++)
		for (const struct d_pdesc *d = en->prog->clauses[i]->descs; d != NULL; d = d->next)
			if (en_probe_match(en, d, wish, &w, e) < 0)
				return -1;
	for (unsigned i = 0; w.pv == NULL && i < en->providers.n; i++)
		if (et_providers[i]->wants_arena != NULL && et_providers[i]->wants_arena(en))
			w.pv = et_providers[i];
	for (unsigned i = 0; w.pv != NULL && i < en->providers.n; i++) {
		if (et_providers[i] != w.pv)
			continue;
		fd = w.pv->arena(en, en->providers.data[i], en, en->shared.window, e);
		return fd < 0 ? -1 : en_share(en, fd, e);
	}
	return 0;
}

/* A copy of the probe with its names and clauses for the kernel. NULL: out of memory. */
struct en_probe *en_probe_shared(struct en *en, const struct en_probe *p)
{
	const struct en_ecblist *l = atomic_load((_Atomic(struct en_ecblist *) *)&p->ecbs);
	struct en_probe *copy = en_alloc(en, sizeof(*copy));
	struct en_ecblist *list;
	size_t size;

	if (copy == NULL || l == NULL)
		return NULL;
	*copy = *p;
	size = sizeof(*l) + l->n * sizeof(l->ecb[0]);
	list = en_alloc(en, size);
	copy->prov = en_str_shared(en, p->prov, false);
	copy->mod = en_str_shared(en, p->mod, false);
	copy->func = en_str_shared(en, p->func, false);
	copy->name = en_str_shared(en, p->name, false);
	if (list == NULL || copy->prov == NULL || copy->mod == NULL || copy->func == NULL ||
		copy->name == NULL)
		return NULL;
	memcpy(list, l, size);
	for (unsigned i = 0; i < list->n; i++)
		list->ecb[i].clause = &en->shared.clauses[list->ecb[i].index];
	atomic_store(&copy->ecbs, list);
	return copy;
}

void en_process_add(struct en *en, int pid)
{
	procs_tag(en->shared.procs, (uint32_t)pid);
	if (en->shared.home == 0)
		en->shared.home = (uint32_t)pid;
}

int en_process(const struct en *en, unsigned n)
{
	return en->shared.procs != NULL && n < NPROCS ? (int)atomic_load(&en->shared.procs[n]) : 0;
}

int en_address(const struct en *en, uint64_t *addr)
{
	uint64_t tag = *addr >> ADDR_BITS;
	int pid;

	if (en == NULL || !en->shared.on || *addr >> 63 || tag > NPROCS)
		return 0;
	pid = tag == 0 ? (int)en->shared.home : en_process(en, (unsigned)tag - 1);
	if (pid != 0)
		*addr &= (1ULL << ADDR_BITS) - 1;
	return pid;
}

static int share_clauses(struct en *en, struct et_error *e)
{
	struct en_probe *error = en_probe_find(en, "dtrace", "", "", "ERROR");

	if (!en->shared.on)
		return 0;
	en->shared.clauses = en_alloc(en, (en->prog->nclauses + 1) * sizeof(*en->shared.clauses));
	if (en->shared.clauses == NULL)
		return et_err(e, ET_NOMEM, "out of memory for clauses");
	en->shared.procs = en_alloc(en, NPROCS * sizeof(*en->shared.procs));
	if (en->shared.procs == NULL)
		return et_err(e, ET_NOMEM, "out of memory for processes");
	/*
	 * Addresses without a process index belong to $target. It is not put into the table before
	 * it fires: the consumer reads the files of a process as soon as it is in the table, and
	 * with -c the command has not been executed yet.
	 */
	if (en->opts->target > 0)
		en->shared.home = (uint32_t)en->opts->target;
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		en->shared.clauses[i] = *en->prog->clauses[i];
	if (error != NULL && en_enabled(error) &&
		(en->error_probe = en_probe_shared(en, error)) == NULL)
		return et_err(e, ET_NOMEM, "out of memory for clauses");
	return 0;
}

/* ---- load, unload --------------------------------------------------------------------- */

static bool reads_memory(const struct prog *p)
{
	for (unsigned i = 0; i < p->nclauses; i++)
		if (uses_memory(&p->clauses[i]->uses))
			return true;
	return false;
}

int en_load(struct en *en, const struct prog *prog, struct et_error *e)
{
	en->prog = prog;
	en->fence = !en_barrier_init();
	if (share(en, e) < 0 || note_process(en, e) < 0 || en_cpus_load(en, e) < 0 ||
		load_strings(en, e) < 0 || load_code(en, e) < 0 || load_memory(en, e) < 0 ||
		load_probes(en, e) < 0 || share_clauses(en, e) < 0)
		return -1;
	if (reads_memory(prog)) {
		if (safe_init() < 0)
			return et_err(e, ET_SIGNAL,
				"cannot install the handler that makes bad addresses harmless");
		en->safe_on = true;
	}
	clock_init(wants_time(prog));
	en_note_clocks(en);
	return 0;
}

/* In struct en, because what runs in the kernel sees that and not clock.c. */
void en_note_clocks(struct en *en)
{
	int64_t wall = clock_wall();

	if (en->opts->replay) /* it has been set to that of the file */
		return;
	if (atomic_load_explicit(&en->wall, memory_order_relaxed) != wall) /* the line is shared */
		atomic_store_explicit(&en->wall, wall, memory_order_relaxed);
}

void en_unload(struct en *en)
{
	for (unsigned i = 0; i < en->reg.nprobes; i++) {
		free(atomic_exchange(&en->reg.probes[i]->ecbs, NULL));
		en->reg.probes[i]->argmask = en->reg.probes[i]->nomask = 0;
		en->reg.probes[i]->uses = (struct prog_uses){0};
	}
	for (unsigned i = 0; i < en->ncode; i++)
		ebpf_jit_free(&en->code[i]);
	for (unsigned i = 0; en->strs != NULL && !en->shared.on && i < en->prog->nstrs; i++)
		et_str_free((struct et_str *)(uintptr_t)(en->strs[i] & ~STR_TAG));
	en_dealloc_pages(en, en->slots, en->slots_size);
	if (en->safe_on)
		safe_fini();
	agg_free(en);
	dyn_free(en);
	spec_free(en);
	et_str_free(en->process.execname);
	et_str_free(en->process.psargs);
	et_str_free(en->process.cwd);
	et_str_free(en->process.rootdir);
	free(en->code);
	free(en->strs);
	free(en->ecbs);
	en_dealloc(en, en->globals);
	en_dealloc(en, en->cpus);
	en->slots = NULL;
	atomic_store(&en->nslots, 0);
	en->code = NULL;
	en->strs = NULL;
	en->ecbs = NULL;
	en->globals = NULL;
	en->cpus = NULL;
	en->process.execname = en->process.psargs = en->process.cwd = en->process.rootdir = NULL;
	en->safe_on = false;
	en->ncpus = en->ncode = en->necbs = en->spec.n = en->process.nancestors = 0;
}
