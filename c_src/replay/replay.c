/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider of events that come from a file. Without such a file it does nothing. With one, the
 * probes of the providers erlang and state are here: those that the file has events of, and those
 * that a script names, which then never fire. Time is the file's: BEGIN fires at 0, events and END
 * when the file says, tick-N whenever it is due in between.
 *
 * What a script reads of an event must be in the file, and what cannot be in one is refused, before
 * anything fires: nothing is made up.
 */
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/seen.h"
#include "engine/state.h"
#include "period.h"
#include "prog/builtins.h"
#include "prog/erlang_has.h"
#include "prog/prog.h"
#include "prog/state_kinds.h"

extern const struct provider replay_provider;

#define ARGS(...)                                                                                  \
	PROBE_NARGS(__VA_ARGS__), (const char *const[])                                            \
	{                                                                                          \
		PROBE_TYPES(__VA_ARGS__)                                                           \
	}
static const struct def {
	const char *name;
	bool of_functions;
	int nargs;
	const char *const *types;
} defs[] = {
#define PROBE(ID, name, route, ...)    {name, false, ARGS(__VA_ARGS__)},
#define FN_PROBE(ID, name, route, ...) {name, true, ARGS(__VA_ARGS__)},
#include "erlang_probes.def"
};
enum { NDEFS = sizeof(defs) / sizeof(*defs) };

static struct replay *replay_of(const struct en *en)
{
	for (unsigned i = 0; i < en->providers.n; i++)
		if (et_providers[i] == &replay_provider)
			return en->providers.data[i];
	return NULL;
}

/* ---- probes --------------------------------------------------------------------------- */

static const struct def *def_of(const char *name)
{
	const char *user = "user_trace-i4s4";

	if (strncmp(name, "user_trace-n", 12) == 0)
		name = user;
	for (unsigned i = 0; i < NDEFS; i++)
		if (strcmp(defs[i].name, name) == 0)
			return &defs[i];
	return NULL;
}

/* "seq/2" is known as seq too. */
static bool add_alias(struct replay *r, struct en_probe *p)
{
	const char *func = p->func->text, *arity = strrchr(func, '/');
	char *alias;

	if (arity == NULL || p->func_alias != NULL)
		return true;
	if (!ARRAY_ROOM(r->names, r->nnames) ||
		(alias = strndup(func, (size_t)(arity - func))) == NULL)
		return false;
	p->func_alias = r->names[r->nnames++] = alias;
	return true;
}

static struct en_probe *add_erlang(
	struct replay *r, const char *mod, const char *func, const char *name, struct et_error *e)
{
	const struct def *d = def_of(name);
	struct en_probe *p = en_probe_add(r->en, &replay_provider, NULL, r->prov, mod, func, name);

	if (p == NULL || !add_alias(r, p)) {
		et_err(e, ET_NOMEM, "out of memory for probes");
		return NULL;
	}
	p->nargs = d->nargs;
	p->argtypes = d->types;
	p->has = prog_erlang_pbis(d->name);
	return p;
}

static struct en_probe *add_state(struct replay *r, const char *name, struct et_error *e)
{
	static const char *const object[] = {"uintptr_t"};
	static const char *const numbers[] = {"int64_t", "int64_t", "int64_t", "int64_t"};
	struct en_probe *p = en_probe_add(r->en, &replay_provider, NULL, "state", "", "", name);
	int kind = state_kind(name, NULL);

	if (p == NULL) {
		et_err(e, ET_NOMEM, "out of memory for probes");
		return NULL;
	}
	p->nargs = kind == STATE_ROUND ? 4 : kind == STATE_KEY ? STATE_KEY_ARGS : 1;
	p->argtypes = state_type(kind) != NULL ? object : numbers;
	p->xargtypes = state_type(kind);
	p->has = state_pbis(kind);
	return p;
}

/* A probe that the file has events of. */
static int add_recorded(struct replay *r, struct rp_probe *f, struct et_error *e)
{
	if (strcmp(f->prov, "erlang") == 0 && def_of(f->name) != NULL)
		f->probe = add_erlang(r, f->mod, f->func, f->name, e);
	else if (strcmp(f->prov, "state") == 0 && state_kind(f->name, NULL) >= 0)
		f->probe = add_state(r, f->name, e);
	else if (strcmp(f->prov, "profile") == 0 && strncmp(f->name, "profile-", 8) == 0)
		return 0; /* it is there if the script has it */
	else
		et_err(e, ET_REPLAY,
			"there is no probe %s:%s:%s:%s: those of erlang, state and profile-N are "
			"replayed; tick-N fires by itself",
			f->prov, f->mod, f->func, f->name);
	if (f->probe != NULL)
		return 0;
	snprintf(e->file, sizeof(e->file), "%s", r->file->path);
	e->line = (int)f->line;
	return -1;
}

static void is_there(void *arg, struct en_probe *p)
{
	*(bool *)arg |= p->pv == &replay_provider;
}

/* As in a node: those of certain functions, and exceptions, must be named. */
static bool is_meant(const char *glob, const struct def *d)
{
	if (!en_glob(glob, d->name))
		return false;
	return strpbrk(glob, "*?[") == NULL && *glob != '\0'
		       ? true
		       : strstr(d->name, "function-entry") != NULL ||
				 strstr(d->name, "-return") != NULL;
}

/* A function that the script names, and that the file has no event of. */
static int provide_function(
	struct replay *r, const struct d_pdesc *d, const struct def *def, struct et_error *e)
{
	struct d_pdesc one = *d;
	bool there = false;

	one.name = def->name;
	en_probe_match_from(r->en, 0, &one, is_there, &there);
	if (there || !is_meant(d->name, def))
		return 0;
	return add_erlang(r, d->mod, d->func, def->name, e) != NULL ? 0 : -1;
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	struct replay *r = data;

	if (!r->on || d->id != 0)
		return 0;
	if (en_glob(d->prov, "state") && *d->prov != '\0' && *d->mod == '\0' && *d->func == '\0' &&
		state_kind(d->name, NULL) >= 0 && add_state(r, d->name, e) == NULL)
		return -1;
	if (!en_glob(d->prov, r->prov))
		return 0;
	if (strncmp(d->name, "user_trace-n", 12) == 0 && *d->mod == '\0' && *d->func == '\0' &&
		add_erlang(r, "", "", strpbrk(d->name, "*?[") == NULL ? d->name : "user_trace-n0",
			e) == NULL)
		return -1;
	for (unsigned i = 0; i < NDEFS; i++)
		if (defs[i].of_functions && en_glob(d->name, defs[i].name) &&
			provide_function(r, d, &defs[i], e) < 0)
			return -1;
	(void)en;
	return 0;
}

/* ---- what may be read ----------------------------------------------------------------- */

bool rp_reads_interrupted(const struct prog_uses *u)
{
	const uint32_t of_process = 1u << PBI_ERLPID | 1u << PBI_ERLNAME | 1u << PBI_ERLPROC |
				    1u << PBI_ERLSCHED | 1u << PBI_ERLSTATE;

	return u->ustack || (u->pbis & of_process) != 0 || (u->args & 3) != 0;
}

bool rp_may_replay(const struct prog_uses *u, const char **what)
{
	static const struct {
		enum d_bvar var;
		const char *name;
	} vars[] = {{BI_CPU, "cpu"}, {BI_CURTHREAD, "curthread"}, {BI_ERRNO, "errno"},
		{BI_EXECNAME, "execname"}, {BI_GID, "gid"}, {BI_PPID, "ppid"}, {BI_UID, "uid"},
		{BI_UREGS, "uregs"}, {BI_CALLER, "caller"}, {BI_UCALLER, "ucaller"}};
	static const struct {
		enum rt_fn fn;
		const char *name;
	} fns[] = {{RT_threadnum, "curpsinfo and curlwpsinfo"},
		{RT_threadstr, "curpsinfo and fds[]"}, {RT_cpuinfo, "curcpu"}, {RT_ureg, "uregs[]"},
		{RT_copyin, "copyin()"}, {RT_copyinto, "copyinto()"},
		{RT_copyinstr, "copyinstr() of an address"}, {RT_copyout, "copyout()"},
		{RT_copyoutstr, "copyoutstr()"}, {RT_lock_state, "mutex_owned() and the like"},
		{RT_progenyof, "progenyof()"},
		{RT_destroy, "an action that stops or hurts the node"}};

	for (unsigned i = 0; i < sizeof(vars) / sizeof(*vars); i++)
		if (uses_var(u, vars[i].var))
			return *what = vars[i].name, false;
	for (unsigned i = 0; i < sizeof(fns) / sizeof(*fns); i++)
		if (uses_fn(u, fns[i].fn))
			return *what = fns[i].name, false;
	if (u->stack)
		return *what = "stack()", false;
	if (u->pbis >> PBI_FOLLOW & 1)
		return *what = "follow(): flows are followed inside nodes only", false;
	if (u->pbis >> PBI_USDT & 1)
		return *what = "usdt()", false;
	return true;
}

/* The line lacks something. */
static int lacks(
	const struct replay *r, const struct rp_event *ev, const char *what, struct et_error *e)
{
	et_err(e, ET_REPLAY,
		"the event of %s has no %s, which the script reads: record it anew, or add it",
		ev->probe->name, what);
	snprintf(e->file, sizeof(e->file), "%s", r->file->path);
	e->line = (int)ev->line;
	return -1;
}

static int check_args(const struct replay *r, const struct rp_event *ev, struct et_error *e)
{
	const struct en_probe *p = ev->probe->probe;
	char what[64];

	for (int i = 0; i < p->nargs && state_type(state_kind(p->name->text, NULL)) == NULL; i++) {
		const struct rp_field *f = rp_field(ev, RP_ARG, (unsigned)i);
		bool text = strcmp(p->argtypes[i], "string") == 0;

		snprintf(what, sizeof(what), f == NULL ? "args[%d]" : "args[%d] that is a %s", i,
			text ? "text" : "number");
		if ((p->argmask >> i & 1) && (f == NULL || f->is_text != text))
			return lacks(r, ev, what, e);
	}
	return 0;
}

/* A term that the clauses of its probe look into. */
static int check_term(struct replay *r, const struct rp_event *ev, struct rp_term *t,
	const char *name, struct et_error *e)
{
	const struct prog_uses *u = &ev->probe->probe->uses;
	const char *why;

	if (!uses_fn(u, RT_term_source) && !uses_fn(u, RT_source_part) &&
		!uses_fn(u, RT_source_match) && !uses_fn(u, RT_pbi_equals) &&
		!(u->pbis >> PBI_ERLINT & 1))
		return 0;
	if (t->text->len == 0 || (why = rp_term_read(r->file, t)) == NULL)
		return 0;
	et_err(e, ET_REPLAY,
		"%s cannot be read as a term, and the script looks into it: %s: %.200s", name, why,
		t->text->text);
	snprintf(e->file, sizeof(e->file), "%s", r->file->path);
	e->line = (int)ev->line;
	return -1;
}

/* Arguments that stand one by one, as a list. */
static int join_args(struct replay *r, struct rp_event *ev, struct et_error *e)
{
	struct rp_term *t = rp_alloc(r->file, sizeof(*t));
	struct et_str *s = NULL;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (t == NULL || f == NULL)
		return et_err(e, ET_NOMEM, "out of memory for events");
	putc('[', f);
	for (unsigned i = 0; i < ev->nargs; i++)
		fprintf(f, "%s%s", i > 0 ? "," : "", rp_field(ev, RP_ERLARG, i)->term->text->text);
	putc(']', f);
	if (fclose(f) == 0)
		s = rp_text(r->file, text, len);
	free(text);
	if (s == NULL)
		return et_err(e, ET_NOMEM, "out of memory for events");
	t->text = s;
	/* there is room: "at" and "probe" have no field */
	ev->fields[ev->nfields++] =
		(struct rp_field){.what = RP_PBI, .n = PBI_ERLARGS, .is_text = true, .term = t};
	return check_term(r, ev, t, "erlargs", e);
}

static int check_call(struct replay *r, struct rp_event *ev, struct et_error *e)
{
	uint32_t pbis = ev->probe->probe->uses.pbis;
	const struct rp_field *all = rp_field(ev, RP_PBI, PBI_ERLARGS);
	bool by_number = pbis >> PBI_ERLARG & 1 || pbis >> PBI_ERLINT & 1;
	char what[32];

	if (all != NULL)
		return check_term(r, ev, all->term, "erlargs", e);
	if (((pbis >> PBI_ERLARGS & 1) || (by_number && (pbis >> PBI_ANY_ARG & 1))) &&
		!ev->all_args)
		return lacks(r, ev, "erlargs", e);
	for (unsigned i = 0; i < 255; i++) {
		const struct rp_field *f = rp_field(ev, RP_ERLARG, i);

		snprintf(what, sizeof(what), "erlarg(%u)", i);
		if (f != NULL && check_term(r, ev, f->term, what, e) < 0)
			return -1;
		if (f == NULL && i < ev->nargs &&
			((pbis >> PBI_ERLARGS & 1) || (by_number && (pbis >> PBI_ANY_ARG & 1))))
			return lacks(r, ev, what, e);
		if (f == NULL && by_number && i < PBI_ARGS && (pbis >> (PBI_ARG0 + i) & 1) &&
			!(ev->all_args && i >= ev->nargs))
			return lacks(r, ev, what, e);
		if (i >= PBI_ARGS && (ev->nargs == UINT32_MAX || i >= ev->nargs))
			break;
	}
	return pbis >> PBI_ERLARGS & 1 ? join_args(r, ev, e) : 0;
}

static const struct {
	const char *name;
	unsigned pbi;
	bool is_term;
} built_ins[] = {
#define D_PVAR(name, ID, type, traits) {name, PBI_##ID, type[0] == 't'},
#define D_PFUNC(name, ID, proto, traits)
#include "prog/builtins.def"
};

static int check_builtins(struct replay *r, const struct rp_event *ev, struct et_error *e)
{
	uint32_t pbis = ev->probe->probe->uses.pbis & ev->probe->probe->has;

	for (unsigned i = 0; i < sizeof(built_ins) / sizeof(*built_ins); i++) {
		const struct rp_field *f = rp_field(ev, RP_PBI, built_ins[i].pbi);

		if (!(pbis >> built_ins[i].pbi & 1) || built_ins[i].pbi == PBI_ERLNODE ||
			built_ins[i].pbi == PBI_ERLARGS)
			continue;
		if (f == NULL)
			return lacks(r, ev, built_ins[i].name, e);
		if (built_ins[i].is_term && check_term(r, ev, f->term, built_ins[i].name, e) < 0)
			return -1;
	}
	return 0;
}

static int check_event(struct replay *r, struct rp_event *ev, struct et_error *e)
{
	const struct en_probe *p = ev->probe->probe;
	const struct prog_uses *u = &p->uses;
	int kind = strcmp(p->prov->text, "state") == 0 ? state_kind(p->name->text, NULL) : -1;
	const struct state_member *m;

	if (check_args(r, ev, e) < 0 || check_builtins(r, ev, e) < 0)
		return -1;
	if ((u->pbis & (1u << PBI_ERLARGS | 1u << PBI_ERLARG | 1u << PBI_ERLINT)) &&
		check_call(r, ev, e) < 0)
		return -1;
	if (uses_var(u, BI_VTIMESTAMP) && rp_field(ev, RP_VTIMESTAMP, 0) == NULL)
		return lacks(r, ev, "vtimestamp", e);
	if ((u->ustack || uses_var(u, BI_USTACKDEPTH)) && rp_field(ev, RP_STACK, 0) == NULL)
		return lacks(r, ev, "stack", e);
	for (unsigned i = 0; (m = state_member(kind, i)) != NULL; i++)
		if ((u->members >> i & 1) && rp_field(ev, RP_MEMBER, i) == NULL)
			return lacks(r, ev, m->name, e);
	return 0;
}

/* ---- timers --------------------------------------------------------------------------- */

static bool has_events(const struct replay *r, const struct en_probe *p)
{
	for (size_t i = 0; i < r->file->nprobes; i++)
		if (r->file->probes[i]->probe == p)
			return true;
	return false;
}

/* tick-N, and profile-N that does not look at what it interrupts. */
static int add_timer(struct replay *r, struct en_probe *p, struct et_error *e)
{
	bool tick = strncmp(p->name->text, "tick-", 5) == 0;
	uint64_t period = et_period(strchr(p->name->text, '-') + 1);

	if (has_events(r, p))
		return 0;
	if (!tick && (period == 0 || rp_reads_interrupted(&p->uses)))
		return et_err(e, ET_REPLAY,
			"%s has no events in %s, and the script reads what it interrupts: record "
			"them",
			p->name->text, r->file->path);
	if (tick && (p->uses.ustack || p->uses.pbis & ~(1u << PBI_ERLNODE)))
		return et_err(e, ET_REPLAY, "%s reads what only an event has", p->name->text);
	if (r->file->end / period > RP_TICKS_MOST)
		return et_err(e, ET_REPLAY,
			"%s would fire %llu times until the recording ends: at most %d are "
			"replayed",
			p->name->text, (unsigned long long)(r->file->end / period), RP_TICKS_MOST);
	if (!ARRAY_ROOM(r->timers, r->ntimers))
		return et_err(e, ET_NOMEM, "out of memory for timers");
	r->timers[r->ntimers++] = (struct rp_timer){p, period, period};
	return 0;
}

/* All are enabled: can they be replayed, and from this file? */
static int ready(struct en *en, void *data, struct et_error *e)
{
	struct replay *r = data;
	const char *what;

	if (!r->on || r->file == NULL)
		return 0;
	for (size_t i = 0; i < r->file->nprobes; i++) {
		struct rp_probe *f = r->file->probes[i];

		if (f->probe == NULL)
			f->probe = en_probe_find(en, f->prov, f->mod, f->func, f->name);
	}
	for (unsigned i = 0; i < en->reg.nprobes; i++) {
		struct en_probe *p = en->reg.probes[i];

		if (!en_enabled(p))
			continue;
		if (!rp_may_replay(&p->uses, &what))
			return et_err(e, ET_REPLAY, "a clause at %s cannot be replayed: it has %s",
				p->name->text, what);
		if (strcmp(p->prov->text, "profile") == 0 && add_timer(r, p, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < r->file->nevents; i++) {
		struct rp_event *ev = &r->file->events[i];

		if (ev->probe->probe != NULL && en_enabled(ev->probe->probe) &&
			check_event(r, ev, e) < 0)
			return -1;
	}
	en->process.pid = (uint32_t)r->file->pid;
	return 0;
}

/* ---- firing --------------------------------------------------------------------------- */

/* BEGIN and END. */
static void fire_phase(struct en *en, unsigned phase)
{
	static const uint64_t none[RP_ARGS];
	struct replay *r = replay_of(en);
	struct en_probe *p =
		en_probe_find(en, "dtrace", "", "", phase == PHASE_BEGIN ? "BEGIN" : "END");

	en_fire_at(p, none, 0, NULL, r->file->start + r->now, phase);
}

/* A row of the provider state, or the end of a round, for struct en_looks. */
static void note_object(struct replay *r, const struct en_probe *p, const uint64_t *arg)
{
	bool whole = (p->argmask >> 2 & 1) == 0 || arg[2] != 0; /* where the script reads that */

	en_apart(r->en, 1);
	if (strncmp(p->name->text, "round", 5) != 0) {
		r->looks.now += strcmp(p->name->text, "key") != 0;
	} else {
		r->looks.rounds++;
		r->looks.whole += whole;
		r->looks.things = whole ? r->looks.now : r->looks.things;
		r->looks.now = 0;
	}
	en_looked(r->en, &r->looks);
}

static void fire_event(struct replay *r, const struct rp_event *ev)
{
	struct en_probe *p = ev->probe->probe;
	struct rp_current c = {.ev = ev, .r = r};
	uint64_t arg[RP_ARGS] = {0};
	unsigned strings = 0;

	if (p == NULL || !en_enabled(p))
		return;
	c.cur = (struct en_current){.key = ev->key != 0 ? ev->key : UINT32_MAX,
		.vtimestamp = rp_vtimestamp,
		.ustack = rp_ustack,
		.ops = &rp_ops};
	for (unsigned i = 0; i < ev->nfields; i++) {
		const struct rp_field *f = &ev->fields[i];

		if (f->what != RP_ARG)
			continue;
		arg[f->n] = f->is_text ? (uint64_t)(uintptr_t)f->text->text : (uint64_t)f->num;
		strings |= (unsigned)f->is_text << f->n;
	}
	rp_slots_clear(r);
	if (strcmp(p->prov->text, "state") == 0)
		note_object(r, p, arg);
	en_fire_at(p, arg, strings, &c.cur, r->file->start + ev->at, PHASE_RUN);
	if (ev->key != 0 && strcmp(p->name->text, "process-exit") == 0)
		en_self_free(r->en, ev->key);
}

static struct rp_timer *next_timer(const struct replay *r)
{
	struct rp_timer *first = NULL;

	for (unsigned i = 0; i < r->ntimers; i++)
		if (first == NULL || r->timers[i].due < first->due)
			first = &r->timers[i];
	return first;
}

bool rp_step(struct en *en)
{
	static const uint64_t none[RP_ARGS];
	struct replay *r = replay_of(en);
	const struct rp_event *ev = r->next < r->file->nevents ? &r->file->events[r->next] : NULL;
	struct rp_timer *t = next_timer(r);

	/* a tick comes before the event of the same time */
	if (t != NULL && t->due <= (ev != NULL ? ev->at : r->file->end)) {
		r->now = t->due;
		t->due += t->period;
		en_fire_at(t->probe, none, 0, NULL, r->file->start + r->now, PHASE_RUN);
		if (strncmp(t->probe->name->text, "tick-", 5) == 0)
			en_apart(en, 1);
		return true;
	}
	r->now = ev != NULL ? ev->at : r->file->end;
	if (ev == NULL)
		return false;
	r->next++;
	fire_event(r, ev);
	return true;
}

const struct rp_file *rp_file(const struct en *en)
{
	return replay_of(en)->file;
}

uint64_t rp_now(const struct en *en)
{
	return replay_of(en)->now;
}

/* ---- life ----------------------------------------------------------------------------- */

static int init(struct en *en, void **data, struct et_error *e)
{
	struct replay *r = calloc(1, sizeof(*r));

	*data = r;
	if (r == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	r->en = en;
	return 0;
}

int rp_begin(struct en *en, struct rp_file *file, struct et_error *e)
{
	struct replay *r = replay_of(en);

	r->file = file;
	r->on = en->opts->replay = true;
	snprintf(r->prov, sizeof(r->prov), "erlang%d", file != NULL ? (int)file->pid : 1);
	for (unsigned i = 0; i < NDEFS; i++)
		if (!defs[i].of_functions && add_erlang(r, "", "", defs[i].name, e) == NULL)
			return -1;
	for (size_t i = 0; file != NULL && i < file->nprobes; i++)
		if (add_recorded(r, file->probes[i], e) < 0)
			return -1;
	if (file == NULL)
		return 0;
	r->host = (struct rp_current){.cur = {.ops = &rp_ops}, .r = r};
	en_set_host(en, &r->host.cur);
	en->shared.fire = fire_phase;
	atomic_store(&en->wall, (int64_t)(file->wall - file->start));
	return 0;
}

static void fini(struct en *en, void *data)
{
	struct replay *r = data;

	(void)en;
	if (r == NULL)
		return;
	for (unsigned i = 0; i < r->nnames; i++)
		free(r->names[i]);
	free(r->names);
	free(r->timers);
	free(r->slots);
	rp_file_free(r->file);
	free(r);
}

const struct provider replay_provider = {
	.name = "replay",
	.replays = true,
	.init = init,
	.provide = provide,
	.ready = ready,
	.fini = fini,
};
