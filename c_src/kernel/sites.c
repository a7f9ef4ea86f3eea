/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in the programs and libraries of processes. A probe has a list of sites: two static
 * functions of one name are one probe with two sites. All sites of a script are attached when
 * tracing begins (uprobe.c).
 *
 * Libraries may be loaded while tracing. Once a second the consumer has us look at what is mapped,
 * and the probes there that match the script's descriptions are armed. No program is loaded for
 * them: the clauses that they may run are in the programs from the start.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/region.h"
#include "engine/state.h"
#include "kernel.h"
#include "prog/prog.h"
#include "sites.h"

struct k_probe_site {
	struct k_probe_site *same, *next; /* of the probe; of all */
	struct k_site at;
	const char *file;
	size_t size;
	_Alignas(8) char args[];
};

bool k_sites_init(void **data, size_t size, const struct k_site_provider *of)
{
	struct k_sites *s = *data = calloc(1, size);

	if (s != NULL)
		s->of = of;
	return s != NULL;
}

void k_sites_fini(struct en *en, void *data)
{
	struct k_sites *s = data;
	struct k_probe_site *l;

	k_close(en);
	if (s == NULL)
		return;
	while ((l = s->all) != NULL) {
		s->all = l->next;
		free(l);
	}
	k_processes_free(s->procs);
	free(s);
}

/* ---- making probes ---------------------------------------------------------------------- */

int k_sites_add(struct k_sites *s, struct en_probe *p, const struct k_module *m,
	const struct k_site *at, const void *args, size_t size, struct et_error *e)
{
	struct k_probe_site *l;

	for (l = p->pvdata; l != NULL; l = l->same)
		if (l->file == m->file && l->at.offset == at->offset)
			return 0;
	l = malloc(sizeof(*l) + size);
	if (l == NULL)
		return et_err(
			e, ET_NOMEM, "out of memory for the probes of process %d", at->pid);
	*l = (struct k_probe_site){
		.same = p->pvdata, .next = s->all, .at = *at, .file = m->file, .size = size};
	if (size > 0)
		memcpy(l->args, args, size);
	s->all = p->pvdata = l;
	return 0;
}

int k_sites_provide(struct en *en, struct k_sites *s, struct k_process *proc,
	const struct d_pdesc *d, struct et_error *e)
{
	for (unsigned i = 0; i < proc->n; i++)
		if (k_module_matches(&proc->mods[i], d->mod) &&
			s->of->add(en, s, &proc->mods[i], d, e) < 0)
			return -1;
	return 0;
}

/* ---- tracing ------------------------------------------------------------------------------ */

/* The probe as the kernel has it; a site that has arguments of its own has one of its own. */
static struct en_probe *share(
	struct en *en, const struct en_probe *p, const struct k_probe_site *l, struct et_error *e)
{
	struct en_probe *shared = k_share_probe(en, p, l->at.entry, e);

	if (shared == NULL || l->size == 0)
		return shared;
	shared->pvdata = en_alloc(en, l->size);
	if (shared->pvdata == NULL) {
		et_err(e, ET_NOMEM, "out of memory for probes of programs");
		return NULL;
	}
	memcpy(shared->pvdata, l->args, l->size);
	return shared;
}

int k_sites_enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	struct en_probe *shared = NULL;

	(void)data;
	for (const struct k_probe_site *l = p->pvdata; l != NULL; l = l->same) {
		if ((shared == NULL || l->size > 0) && (shared = share(en, p, l, e)) == NULL)
			return -1;
		en_process_add(en, l->at.pid);
		if (k_uprobe_add(en, l->file, &l->at, shared, e) < 0)
			return -1;
	}
	return 0;
}

bool k_sites_news(struct en *en, void *data, char *buf, size_t size, bool *ended)
{
	(void)en;
	(void)ended;
	return k_modules_news(((struct k_sites *)data)->procs, buf, size);
}

/* ---- libraries that are loaded while tracing ---------------------------------------------- */

/* The process that a description is of; 0: none, or another provider's. */
static int process_of(const struct d_pdesc *d, bool is_pid)
{
	size_t len;
	int pid = k_pid_of(d->prov, &len);
	bool of_pid = len == 3 && d->prov != NULL && strncmp(d->prov, "pid", 3) == 0;

	return len > 0 && of_pid == is_pid ? pid : 0;
}

static bool clause_names_process(const struct prog_clause *c, bool is_pid)
{
	for (const struct d_pdesc *d = c->descs; d != NULL; d = d->next)
		if (process_of(d, is_pid) != 0)
			return true;
	return false;
}

bool k_names_process(const struct en *en, bool is_pid)
{
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		if (clause_names_process(en->prog->clauses[i], is_pid))
			return true;
	return false;
}

/* Clauses whose probes may yet come are in the programs too. */
int k_sites_ready(struct en *en, void *data, struct et_error *e)
{
	const struct k_site_provider *of = ((struct k_sites *)data)->of;

	if (en->kernel != NULL && k_names_process(en, of->is_pid)) {
		if (k_prepare(en, e) < 0)
			return -1;
		for (unsigned i = 0; i < en->prog->nclauses; i++)
			if (clause_names_process(en->prog->clauses[i], of->is_pid))
				en->kernel->programs[i] |= of->programs;
	}
	return k_uprobe_load(en, data, e);
}

static int arm(struct en *en, struct k_sites *s, unsigned first, struct et_error *e)
{
	int rc = en_extend(en, first, e);

	for (unsigned i = first; i < en->reg.nprobes && rc == 0; i++)
		if (en->reg.probes[i]->pv == s->of->pv && en_enabled(en->reg.probes[i]))
			rc = k_sites_enable(en, s, en->reg.probes[i], e);
	if (rc == 0)
		rc = k_uprobe_load(en, s, e);
	if (rc == 0)
		rc = k_uprobe_attach(en, s, e);
	if (rc < 0 && et_err_is(e, D_PROC_GRAB)) { /* the process has ended meanwhile */
		et_err_clear(e);
		rc = 0;
	}
	k_uprobe_free(en->kernel);
	return rc;
}

/* The probes in one process's new modules. */
static int add_all(struct en *en, struct k_sites *s, struct k_process *p, struct et_error *e)
{
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		for (const struct d_pdesc *d = en->prog->clauses[i]->descs; d != NULL; d = d->next)
			if (process_of(d, s->of->is_pid) == p->pid &&
				k_sites_provide(en, s, p, d, e) < 0)
				return -1;
	return 0;
}

int k_sites_look(struct en *en, void *data, struct et_error *e)
{
	struct k_sites *s = data;
	struct k_process *p = s->procs, *more, *last = p;
	unsigned first = en->reg.nprobes;

	if (en->kernel == NULL || en->kernel->root == NULL || p == NULL)
		return 0;
	while (last->next != NULL)
		last = last->next;
	for (bool done = false; !done; p = p->next) {
		done = p == last;
		more = k_process_more(&s->procs, p->pid);
		if (more != NULL && add_all(en, s, more, e) < 0)
			return -1;
	}
	return en->reg.nprobes > first ? arm(en, s, first, e) : 0;
}
