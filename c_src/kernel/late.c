/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries that processes load while they are traced: once a second the consumer has us look at
 * what is mapped, and probes that the script's descriptions ask for are armed there. The programs
 * are those of the start: clauses whose probes may yet come are in them from the beginning.
 */
#include <string.h>

#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "late.h"

static int pid_of(const struct d_pdesc *d, enum k_kind kind)
{
	size_t len;
	int pid = k_pid_of(d->prov, &len);
	bool is_pid = len == 3 && d->prov != NULL && strncmp(d->prov, "pid", 3) == 0;

	return len > 0 && is_pid == (kind == K_PID) ? pid : 0;
}

bool k_has_processes(struct en *en, enum k_kind kind)
{
	for (unsigned i = 0; i < en->prog->nclauses && !en->opts->inside; i++)
		for (const struct d_pdesc *d = en->prog->clauses[i]->descs; d != NULL; d = d->next)
			if (pid_of(d, kind) != 0)
				return true;
	return false;
}

int k_late_ready(struct en *en, enum k_kind kind, struct et_error *e)
{
	if (en->kernel == NULL || !k_has_processes(en, kind))
		return 0;
	if (k_prepare(en, e) < 0)
		return -1;
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		for (const struct d_pdesc *d = en->prog->clauses[i]->descs; d != NULL; d = d->next)
			if (pid_of(d, kind) != 0)
				en->kernel->wanted[i] = K_RUN_ALL;
	return 0;
}

static int arm(
	struct en *en, const struct provider *pv, void *data, unsigned first, struct et_error *e)
{
	int rc = en_extend(en, first, e);

	for (unsigned i = first; i < en->reg.nprobes && rc == 0; i++)
		if (en->reg.probes[i]->pv == pv && en_enabled(en->reg.probes[i]))
			rc = pv->enable(en, data, en->reg.probes[i], e);
	if (rc == 0)
		rc = k_uprobe_load(en, data, e);
	if (rc == 0)
		rc = k_uprobe_attach(en, data, e);
	if (rc < 0 && et_err_is(e, D_PROC_GRAB)) { /* the process has ended meanwhile */
		et_err_clear(e);
		rc = 0;
	}
	k_uprobe_free(en->kernel);
	return rc;
}

/* The probes in one process's new modules. */
static int add_all(struct en *en, void *data, struct k_process *p, enum k_kind kind,
	k_add_module add, struct et_error *e)
{
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		for (const struct d_pdesc *d = en->prog->clauses[i]->descs; d != NULL; d = d->next)
			for (unsigned k = 0; pid_of(d, kind) == p->pid && k < p->n; k++)
				if (k_module_matches(&p->mods[k], d->mod) &&
					add(en, data, p->pid, &p->mods[k], d, e) < 0)
					return -1;
	return 0;
}

int k_late_look(struct en *en, const struct provider *pv, void *data, struct k_process **procs,
	enum k_kind kind, k_add_module add, struct et_error *e)
{
	struct k_process *p = *procs, *more, *last = p;
	unsigned first = en->reg.nprobes;

	if (en->kernel == NULL || en->kernel->root == NULL || p == NULL)
		return 0;
	while (last->next != NULL)
		last = last->next;
	for (bool done = false; !done; p = p->next) {
		done = p == last;
		more = k_process_more(procs, p->pid);
		if (more != NULL && add_all(en, data, more, kind, add, e) < 0)
			return -1;
	}
	return en->reg.nprobes > first ? arm(en, pv, data, first, e) : 0;
}
