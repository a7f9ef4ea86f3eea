/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider erlang<N> in the kernel, of the node whose VM is process N.
 *
 * Probes that tracing inside the node cannot give are uprobes on functions of the VM (vm_probes.c).
 * All others fire inside the node, and are handed over (handover.c): so a script may have them
 * beside system calls. Which nodes: option erlnode, by -N and -p.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/region.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "handover.h"
#include "kernel/kernel.h"
#include "kernel/modules.h"
#include "prog/builtins.h"
#include "prog/erlang_has.h"
#include "kernel/sites.h"
#include "kernel/uprobe.h"
#include "vm_probes.h"
#include "vm_stacks.h"

extern const struct provider kernel_erlang_provider;

#define ARGS(...) PROBE_NARGS(__VA_ARGS__), (const char *const[]){PROBE_TYPES(__VA_ARGS__)}
static const struct def {
	const char *name;
	bool absent; /* inside the node */
	bool of_functions; /* there is one for each function */
	int nargs;
	const char *const *types;
} defs[] = {
#define PROBE(ID, name, route, ...)	    {name, false, false, ARGS(__VA_ARGS__)},
#define FN_PROBE(ID, name, route, ...)	    {name, false, true, ARGS(__VA_ARGS__)},
#define ABSENT(ID, name, reason, what, ...) {name, true, false, ARGS(__VA_ARGS__)},
#include "erlang_probes.def"
};
enum { NDEFS = sizeof(defs) / sizeof(*defs) };

struct erlang {
	struct k_sites sites; /* in the VM; a probe that has none fires inside the node */
	int *pids;	      /* of the nodes; NULL: not asked for yet */
	unsigned npids;
	char **asked; /* descriptions that the nodes were asked for */
	unsigned nasked;
	char **aliases; /* names of functions without their arity */
	unsigned naliases;
	unsigned nlisted;	  /* probes that nodes have told of */
	struct k_handover inside; /* events inside nodes */
	bool later;		  /* functions that are loaded later are meant too */
	bool later_told;	  /* ... and that has been told */
};

static int init(struct en *en, void **data, struct et_error *e)
{
	(void)en;
	return k_sites_init(data, sizeof(struct erlang), NULL)
		       ? 0
		       : et_err(e, ET_NOMEM, "out of memory");
}

static const struct def *def_of(const char *name)
{
	for (unsigned i = 0; i < NDEFS; i++)
		if (strcmp(defs[i].name, name) == 0)
			return &defs[i];
	return NULL;
}

static struct en_probe *add_probe(
	struct en *en, const char *prov, const char *mod, const char *func, const char *name)
{
	struct en_probe *p = en_probe_add(en, &kernel_erlang_provider, NULL, prov, mod, func, name);
	const struct def *d = def_of(name);

	if (p != NULL && d != NULL) {
		p->nargs = d->nargs;
		p->has = prog_erlang_pbis(d->name);
		p->argtypes = d->types;
	}
	return p;
}

/* ---- the VM --------------------------------------------------------------------------- */

struct search {
	struct en *en;
	struct erlang *s;
	struct k_module *m;
	const char *prov;
	struct et_error *e;
};

static int on_vm_probe(void *arg, const struct k_vm_probe *found)
{
	const struct search *l = arg;
	struct k_site at = {.entry = ENTRY_erlang, .pid = l->m->pid, .offset = found->offset};
	struct en_probe *p = add_probe(l->en, l->prov, "", "", found->probe);

	if (p == NULL)
		return et_err(l->e, ET_NOMEM, "out of memory for the probes of a node");
	if (p->note == NULL)
		p->note = found->note;
	return k_sites_add(&l->s->sites, p, l->m, &at, &found->vm, sizeof(found->vm), l->e);
}

static int add_vm(struct en *en, struct erlang *s, int pid, const struct d_pdesc *d,
	struct et_error *e)
{
	char prov[32];
	struct search l = {.en = en, .s = s, .prov = prov, .e = e};
	struct k_process *proc;

	snprintf(prov, sizeof(prov), "erlang%d", pid);
	if (!en_glob(d->prov, prov))
		return 0;
	proc = k_process(&s->sites.procs, pid, e);
	if (proc == NULL)
		return -1;
	for (unsigned i = 0; i < proc->n; i++) {
		l.m = &proc->mods[i];
		if (l.m->main && k_vm_probes(pid, l.m, d->name, on_vm_probe, &l) < 0)
			return -1;
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
	if (!ARRAY_ROOM(s->pids, s->npids))
		return et_err(e, ET_NOMEM, "out of memory");
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

/* "seq/2" is known as seq too. */
static bool add_alias(struct erlang *s, struct en_probe *p, const char *func)
{
	const char *arity = strrchr(func, '/');
	char *alias;

	if (arity == NULL || p->func_alias != NULL)
		return true;
	if (!ARRAY_ROOM(s->aliases, s->naliases) ||
		(alias = strndup(func, (size_t)(arity - func))) == NULL)
		return false;
	p->func_alias = s->aliases[s->naliases++] = alias;
	return true;
}

static int on_listed(void *arg, const erltrace_probe_info_t *listed)
{
	struct listing *l = arg;
	const struct def *d = def_of(listed->name);
	struct en_probe *p;

	if ((d != NULL && d->absent) || !en_glob(l->d->prov, listed->provider))
		return 0;
	l->s->nlisted++;
	p = add_probe(l->en, listed->provider, listed->module, listed->function, listed->name);
	if (p == NULL || !add_alias(l->s, p, listed->function))
		return et_err(l->e, ET_NOMEM, "out of memory for the probes of a node");
	return 0;
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
		*more |= defs[i].of_functions;
		p.name = defs[i].name;
		for (unsigned k = 0; k < l->s->npids && !defs[i].of_functions; k++) {
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
		if (defs[i].of_functions && en_glob(d->name, defs[i].name))
			return true;
	return false;
}

static bool is_asked(struct erlang *s, char *desc)
{
	for (unsigned i = 0; i < s->nasked; i++)
		if (strcmp(s->asked[i], desc) == 0) {
			free(desc);
			return true;
		}
	if (ARRAY_ROOM(s->asked, s->nasked))
		s->asked[s->nasked++] = desc;
	return false;
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	struct listing l = {.en = en, .s = data, .d = d, .e = e};
	unsigned before;
	bool more;
	char *desc, *parts;
	int rc;

	/* nobody's nodes are looked at unless the command says which */
	if (!en->opts->set[OPT_ERLNODE] || d->id != 0 ||
		strncmp(d->prov, "erlang", 6) != 0)
		return 0;
	if (find_nodes(en, l.s, e) < 0)
		return -1;
	for (unsigned i = 0; k_is_vm_probe(d->name) && i < l.s->npids; i++)
		if (d->mod[0] == '\0' && d->func[0] == '\0' &&
			add_vm(en, l.s, l.s->pids[i], d, e) < 0)
			return -1;
	if (provide_plain(&l, d, &more) < 0)
		return -1;
	if (!more)
		return 0;
	before = l.s->nlisted;
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
	l.s->later |= names_functions(d) && (is_of_any_module(d) || l.s->nlisted == before);
	return 0;
}

/* ---- tracing -------------------------------------------------------------------------- */

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	struct erlang *s = data;
	struct en_probe *shared;
	size_t len;
	int pid = k_pid_of(p->prov->text, &len);

	if (p->pvdata != NULL) /* sites in the VM: they come before what the node itself gives */
		return k_sites_enable(en, data, p, e);
	if (p->uses.pbis >> PBI_ANY_ARG & 1)
		return et_err(e, ET_ARGUMENT,
			"erlarg() and erlint() at %s of a script that runs in the kernel: the "
			"argument has to be a number from 0 to %d; erlargs has them all",
			p->name->text, PBI_ARGS - 1);
	if (strncmp(p->name->text, "flow-", 5) == 0)
		return et_err(e, ET_FLOW,
			"%s of a script that runs in the kernel: requests are followed inside "
			"nodes only",
			p->name->text);
	shared = k_share_probe(en, p, ENTRY_erlang_usdt, e);
	if (shared == NULL)
		return -1;
	en_process_add(en, pid);
	return k_handover_add(&s->inside, shared, pid, e);
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
	proc = r->nvms < K_VMS ? k_process(&s->sites.procs, pid, e) : NULL;
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

	if (s != NULL) {
		k_handover_disarm(en, &s->inside);
		for (unsigned i = 0; i < s->nasked; i++)
			free(s->asked[i]);
		for (unsigned i = 0; i < s->naliases; i++)
			free(s->aliases[i]);
		free(s->asked);
		free(s->aliases);
		free(s->pids);
		free(s->inside.v);
	}
	k_sites_fini(en, data);
}

const struct provider kernel_erlang_provider = {
	.name = "erlang",
	.confinable = true,
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
