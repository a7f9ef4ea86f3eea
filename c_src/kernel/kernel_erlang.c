/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider erlang<N> in the kernel, of the node whose VM is process N.
 *
 * Probes that tracing inside the node cannot give are uprobes on functions of the VM (vm_probes.c).
 * All others fire inside the node, and are handed over (handover.c): so a script may have them beside
 * system calls. Which nodes: option erlnode, by -N and -p.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/region.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "handover.h"
#include "load.h"
#include "modules.h"
#include "prog/builtins.h"
#include "vm_probes.h"

extern const struct provider kernel_erlang_provider;

#define TYPES(...) ((const char *const[]){__VA_ARGS__})
static const struct def {
	const char *name;
	bool absent; /* inside the node */
	const char *route; /* LOCAL, GLOBAL, RETURN: there is one for each function */
	int nargs;
	const char *const *types;
} defs[] = {
#define PROBE(ID, name, route, nargs, ...) {name, false, #route, nargs, TYPES(__VA_ARGS__)},
#define ABSENT(ID, name, why, nargs, ...)  {name, true, "", nargs, TYPES(__VA_ARGS__)},
#include "beam/probes.def"
};
enum { NDEFS = sizeof(defs) / sizeof(*defs) };

struct place { /* of a probe: pvdata */
	const char *file;
	struct k_inside at; /* a place in the VM; probe NULL: it fires inside the node */
	int pid;
	char *alias;
	struct place *same; /* another place of the probe */
	struct place *next; /* all */
};

struct erlang {
	struct k_process *procs;
	struct place *places;
	int *pids; /* of the nodes; NULL: not asked for yet */
	unsigned npids;
	char **asked; /* descriptions that the nodes were asked for */
	unsigned nasked;
	struct k_handover inside; /* events inside nodes */
	bool later;	 /* functions that are loaded later are meant too */
	bool later_told; /* ... and that has been told */
};

static int init(struct en *en, void **data, struct et_error *e)
{
	(void)en;
	*data = calloc(1, sizeof(struct erlang));
	return *data != NULL ? 0 : et_err(e, ET_NOMEM, "out of memory");
}

static const struct def *def_of(const char *name)
{
	for (unsigned i = 0; i < NDEFS; i++)
		if (strcmp(defs[i].name, name) == 0)
			return &defs[i];
	return NULL;
}

/* A probe may have several places; what a node gives itself gives way to a function of the VM. */
static void add_place(struct en_probe *p, struct place *l)
{
	struct place *first = p->pvdata, *o;

	for (o = first; o != NULL; o = o->same)
		if (o->at.offset == l->at.offset && o->at.vm.how.kind == l->at.vm.how.kind)
			return;
	if (l->at.probe == NULL)
		return;
	if (first->at.probe == NULL) {
		p->pvdata = l;
		return;
	}
	l->same = first->same;
	first->same = l;
}

static struct en_probe *add(struct en *en, struct erlang *s, const struct place *at,
	const char *prov, const char *mod, const char *func, const char *name)
{
	const struct def *d = def_of(name);
	struct place *l = malloc(sizeof(*l));
	struct en_probe *p;

	if (l == NULL)
		return NULL;
	*l = *at;
	l->next = s->places;
	s->places = l;
	p = en_probe_add(en, &kernel_erlang_provider, l, prov, mod, func, name);
	if (p != NULL && p->pvdata != l)
		add_place(p, l);
	if (p != NULL && d != NULL) {
		p->nargs = d->nargs;
		p->argtypes = d->types;
	}
	return p;
}

/* ---- the VM --------------------------------------------------------------------------- */

struct looking {
	struct en *en;
	struct erlang *s;
	const struct k_module *m;
	const char *prov;
	int pid;
};

static int on_inside(void *arg, const struct k_inside *at)
{
	struct looking *l = arg;
	struct place place = {.file = l->m->file, .at = *at, .pid = l->pid};
	struct en_probe *p = add(l->en, l->s, &place, l->prov, "", "", at->probe);

	if (p != NULL && p->note == NULL)
		p->note = at->note;
	return p != NULL ? 0 : -1;
}

static int add_vm(struct en *en, struct erlang *s, int pid, const struct d_pdesc *d,
	struct et_error *e)
{
	char prov[32];
	struct looking l = {.en = en, .s = s, .prov = prov, .pid = pid};
	struct k_process *proc;

	snprintf(prov, sizeof(prov), "erlang%d", pid);
	if (!en_glob(d->prov, prov))
		return 0;
	proc = k_process(&s->procs, pid, e);
	if (proc == NULL)
		return -1;
	for (unsigned i = 0; i < proc->n; i++) {
		l.m = &proc->mods[i];
		if (l.m->main && k_insides(pid, &proc->mods[i], d->name, on_inside, &l) < 0)
			return et_err(e, ET_NOMEM, "out of memory");
	}
	return 0;
}

/* ---- which nodes ---------------------------------------------------------------------- */

struct listing {
	struct en *en;
	struct erlang *s;
	const struct d_pdesc *d;
	struct et_error *e;
};

static int add_pid(struct erlang *s, int pid, struct et_error *e)
{
	int *more = realloc(s->pids, (s->npids + 1) * sizeof(*more));

	if (more == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	s->pids = more;
	for (unsigned i = 0; i < s->npids; i++)
		if (s->pids[i] == pid)
			return 0;
	s->pids[s->npids++] = pid;
	return 0;
}

static int on_node(void *arg, const erltrace_probe_info_t *p)
{
	struct listing *l = arg;
	size_t len;

	return add_pid(l->s, k_pid_of(p->provider, &len), l->e);
}

/* The processes that are the nodes; those with names are asked, once. */
static int find_nodes(struct en *en, struct erlang *s, struct et_error *e)
{
	struct listing l = {.en = en, .s = s, .e = e};
	const struct et_options *o = en->opts;
	bool named = false;

	if (s->pids != NULL)
		return 0;
	for (uint64_t i = 0; i < o->val[OPT_ERLNODE]; i++) {
		int pid = atoi(o->str[OPT_ERLNODE][i]);

		if (pid != 0 && add_pid(s, pid, e) < 0)
			return -1;
		named |= pid == 0;
	}
	return named ? k_handover_list(en, "erlang*:::process-spawn", on_node, &l, e) : 0;
}

static int on_listed(void *arg, const erltrace_probe_info_t *listed)
{
	struct listing *l = arg;
	struct place at = {0};
	const char *func = listed->function, *arity = strrchr(func, '/');
	const struct def *d = def_of(listed->name);
	struct en_probe *p;
	size_t len;

	if ((d != NULL && d->absent) || !en_glob(l->d->prov, listed->provider))
		return 0;
	at.pid = k_pid_of(listed->provider, &len);
	if (arity != NULL)
		at.alias = strndup(func, (size_t)(arity - func));
	p = add(l->en, l->s, &at, listed->provider, listed->module, func, listed->name);
	if (p == NULL)
		return et_err(l->e, ET_NOMEM, "out of memory for the probes of a node");
	if (p->func_alias == NULL)
		p->func_alias = ((struct place *)p->pvdata)->alias;
	return 0;
}

static bool is_of_functions(const struct def *d)
{
	return strcmp(d->route, "LOCAL") == 0 || strcmp(d->route, "GLOBAL") == 0 ||
	       strcmp(d->route, "RETURN") == 0;
}

/* Probes that each node has, and has once; true: there may be others. */
static int provide_plain(struct listing *l, const struct d_pdesc *d, bool *more)
{
	erltrace_probe_info_t p = {.module = "", .function = ""};
	char prov[32];

	p.provider = prov;
	*more = strncmp(d->name, "user_trace-n", 12) != 0 && en_glob(d->name, "user_trace-n0");
	*more |= strncmp(d->name, "user_trace-n", 12) == 0;
	for (unsigned i = 0; i < NDEFS; i++) {
		if (defs[i].absent || !en_glob(d->name, defs[i].name))
			continue;
		if (l->en->bridge == NULL)
			return k_no_bridge(l->e);
		*more |= is_of_functions(&defs[i]);
		p.name = defs[i].name;
		for (unsigned k = 0; k < l->s->npids && !is_of_functions(&defs[i]); k++) {
			snprintf(prov, sizeof(prov), "erlang%d", l->s->pids[k]);
			if (en_glob(d->prov, prov) && en_glob(d->mod, "") && en_glob(d->func, "") &&
				on_listed(l, &p) < 0)
				return -1;
		}
	}
	return 0;
}

static bool is_of_any_module(const struct d_pdesc *d)
{
	return d->mod[0] == '\0' || strpbrk(d->mod, "*?[") != NULL;
}

static bool names_functions(const struct d_pdesc *d)
{
	for (unsigned i = 0; i < NDEFS; i++)
		if (is_of_functions(&defs[i]) && en_glob(d->name, defs[i].name))
			return true;
	return false;
}

static bool is_asked(struct erlang *s, char *desc)
{
	char **more;

	for (unsigned i = 0; i < s->nasked; i++)
		if (strcmp(s->asked[i], desc) == 0) {
			free(desc);
			return true;
		}
	more = realloc(s->asked, (s->nasked + 1) * sizeof(*more));
	if (more != NULL) {
		s->asked = more;
		s->asked[s->nasked++] = desc;
	}
	return false;
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	struct listing l = {.en = en, .s = data, .d = d, .e = e};
	const struct place *before;
	bool more;
	char *desc, *parts;
	int rc;

	/* nobody's nodes are looked at unless the command says which */
	if (!en->opts->set[OPT_ERLNODE] || d->id != 0 ||
		strncmp(d->prov, "erlang", 6) != 0)
		return 0;
	if (find_nodes(en, l.s, e) < 0)
		return -1;
	for (unsigned i = 0; k_is_inside(d->name) && i < l.s->npids; i++)
		if (d->mod[0] == '\0' && d->func[0] == '\0' &&
			add_vm(en, l.s, l.s->pids[i], d, e) < 0)
			return -1;
	if (provide_plain(&l, d, &more) < 0)
		return -1;
	if (!more)
		return 0;
	before = l.s->places;
	if (asprintf(&desc, "%s:%s:%s:%s", d->prov, d->mod, d->func, d->name) < 0)
		return et_err(e, ET_NOMEM, "out of memory");
	if (is_asked(data, desc))
		return 0;
	/* by whatever number: a node in a container knows itself by another than ours */
	if (asprintf(&parts, "erlang*%s", strchr(desc, ':')) < 0)
		return et_err(e, ET_NOMEM, "out of memory");
	rc = k_handover_list(en, parts, on_listed, &l, e);
	free(parts);
	if (rc < 0)
		return -1;
	/* functions of whatever modules, and of one that is not there (-Z) */
	l.s->later |= names_functions(d) && (is_of_any_module(d) || l.s->places == before);
	return 0;
}

/* ---- tracing -------------------------------------------------------------------------- */

/* Each place has its own way to the arguments: a probe of its own for the kernel. */
static int enable_vm(struct en *en, struct en_probe *p, struct et_error *e)
{
	for (const struct place *l = p->pvdata; l != NULL; l = l->same) {
		struct k_site at = {
			.entry = ENTRY_erlang, .pid = l->pid, .offset = l->at.offset};
		struct en_probe *shared = k_share_probe(en, p, ENTRY_erlang, e);
		struct k_vm *vm = shared != NULL ? en_alloc(en, sizeof(*vm)) : NULL;

		if (shared == NULL)
			return -1;
		if (vm == NULL)
			return et_err(e, ET_NOMEM, "out of memory for probes of the kernel");
		*vm = l->at.vm;
		shared->pvdata = vm;
		en_process_add(en, l->pid);
		if (k_uprobe_add(en, l->file, &at, shared, e) < 0)
			return -1;
	}
	return 0;
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	const struct place *l = p->pvdata;
	struct erlang *s = data;
	struct en_probe *shared;

	if (l->at.probe != NULL)
		return enable_vm(en, p, e);
	if (p->pbis >> PBI_ANY_ARG & 1)
		return et_err(e, ET_ARGUMENT,
			"erlarg() and erlint() at %s of a script that runs in the kernel: the "
			"argument has to be a number from 0 to %d; erlargs has them all",
			p->name->text, PBI_ARGS - 1);
	shared = k_share_probe(en, p, ENTRY_erlang_usdt, e);
	if (shared == NULL)
		return -1;
	en_process_add(en, l->pid);
	return k_handover_add(&s->inside, shared, l->pid, e);
}

/* ---- whose thread it is --------------------------------------------------------------- */

/* With the process goes what self-> has of it, after its process-exit as inside the node. */
static int add_end(struct en *en, int pid, struct k_module *m, struct et_error *e)
{
	struct k_site at = {.entry = ENTRY_process_gone, .pid = pid};

	if (!k_has_self(en->prog) || (at.offset = k_vm_exit(m)) == 0)
		return 0;
	return k_uprobe_add(en, m->file, &at, NULL, e);
}

static int add_thread_owner(struct en *en, struct erlang *s, int pid, struct et_error *e)
{
	struct k_root *r = en->kernel->root;
	struct k_process *proc;
	int rc = 0;

	for (unsigned i = 0; i < r->nvms; i++)
		if (r->vms[i].pid == (uint32_t)pid)
			return 0;
	proc = r->nvms < K_VMS ? k_process(&s->procs, pid, e) : NULL;
	for (unsigned i = 0; proc != NULL && i < proc->n; i++)
		if (proc->mods[i].main && rc == 0) {
			k_vm_find(pid, &proc->mods[i], &r->vms[r->nvms++]);
			rc = add_end(en, pid, &proc->mods[i], e);
		}
	if (proc != NULL)
		en_process_add(en, pid);
	if (rc < 0)
		return -1;
	return proc != NULL || r->nvms == K_VMS ? 0 : -1;
}

bool k_nodes_named(const struct et_options *o)
{
	for (uint64_t i = 0; i < o->val[OPT_ERLNODE]; i++)
		if (atoi(o->str[OPT_ERLNODE][i]) == 0 && strcmp(o->str[OPT_ERLNODE][i], "*") != 0)
			return true;
	return false;
}

/* The VMs whose threads are known by the Erlang process that they run: self->, erlpid. */
static int find_vms(struct en *en, struct erlang *s, struct et_error *e)
{
	struct k_root *r = en->kernel->root;
	int rc = find_nodes(en, s, e);

	r->only_vms = k_nodes_named(en->opts);
	r->vms = en_alloc(en, K_VMS * sizeof(*r->vms));
	if (r->vms == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the probes of a node");
	for (unsigned i = 0; i < s->npids && rc == 0; i++)
		rc = add_thread_owner(en, s, s->pids[i], e);
	return rc;
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	struct erlang *s = data;

	if (en->kernel != NULL && en->kernel->root != NULL && en->opts->set[OPT_ERLNODE] &&
		find_vms(en, s, e) < 0)
		return -1;
	if (k_handover_arm(en, &s->inside, e) < 0)
		return -1;
	return k_uprobe_load(en, NULL, e);
}

static bool news(struct en *en, void *data, char *buf, size_t size, bool *ended)
{
	struct erlang *s = data;

	if (s->later && !s->later_told) {
		s->later_told = true;
		snprintf(buf, size,
			"functions of modules that are loaded from now on do not fire, because "
			"the script runs in the kernel: name the modules, and load them before");
		return true;
	}
	return k_handover_news(en, &s->inside, buf, size, ended);
}

static void stop(struct en *en, void *data)
{
	struct erlang *s = data;

	k_detach(en);
	k_handover_disarm(en, &s->inside);
}

static void fini(struct en *en, void *data)
{
	struct erlang *s = data;
	struct place *l;

	k_close(en);
	if (s == NULL)
		return;
	k_handover_disarm(en, &s->inside);
	while ((l = s->places) != NULL) {
		s->places = l->next;
		free(l->alias);
		free(l);
	}
	for (unsigned i = 0; i < s->nasked; i++)
		free(s->asked[i]);
	free(s->asked);
	free(s->pids);
	free(s->inside.v);
	k_processes_free(s->procs);
	free(s);
}

const struct provider kernel_erlang_provider = {
	.name = "erlang",
	.init = init,
	.provide = provide,
	.enable = enable,
	.ready = ready,
	.start = k_uprobe_attach,
	.stop = stop,
	.fini = fini,
	.arena = k_arena,
	.news = news,
};
