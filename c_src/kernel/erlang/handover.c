/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events inside Erlang nodes, handed over to the kernel. In each node a script runs that calls
 * usdt() at the events that are wanted: the library there has a USDT probe for each kind of event,
 * and what the clauses in the kernel ask of an event is read by that script, so that it comes
 * along. Which probe an event is of, it says by the hash of its names.
 *
 * Nodes are reached by the program's bridge (include/erltrace.h), nothing here connects to them.
 *
 */
#include "handover.h"

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
#include "engine/state.h"
#include "kernel/kernel.h"
#include "kernel/modules.h"
#include "proc_file.h"
#include "prog/builtins.h"
#include "symbols/sdt_notes.h"
#include "kernel/uprobe.h"

/* ---- the bridge ----------------------------------------------------------------------- */

int k_no_bridge(struct et_error *e)
{
	return et_err(e, ET_NODE,
		"erlang probes of a node beside probes of the kernel need a bridge to the nodes: "
		"erltrace_set_bridge()");
}

/* What a call of it has failed with; a callback of ours has said so itself. */
static int failed(const erltrace_error_t *err, struct et_error *e)
{
	return et_err(e, ET_NODE, "probes of an Erlang node: %s",
		err->text[0] != '\0' ? err->text : "the Erlang node does not answer");
}

/* The nodes as the option has them, with a NULL behind; to be freed, not the texts. */
static const char **node_names(const struct et_options *o)
{
	uint64_t n = o->val[OPT_ERLNODE];
	const char **v = calloc(n + 1, sizeof(*v));

	for (uint64_t i = 0; v != NULL && i < n; i++)
		v[i] = o->str[OPT_ERLNODE][i];
	return v;
}

int k_handover_list(struct en *en, const char *desc, erltrace_probe_cb *cb, void *arg,
	struct et_error *e)
{
	erltrace_error_t err = {.tag = ""};
	const char **nodes;
	int rc;

	if (en->bridge == NULL || en->bridge->list == NULL)
		return k_no_bridge(e);
	nodes = node_names(en->opts);
	if (nodes == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	rc = en->bridge->list(en->bridge_arg, nodes, desc, cb, arg, &err);
	free(nodes);
	return rc != 0 ? failed(&err, e) : 0;
}

void k_handover_disarm(struct en *en, struct k_handover *s)
{
	if (s->armed && en->bridge->disarm != NULL)
		en->bridge->disarm(en->bridge_arg);
	s->armed = false;
}

/* ---- what is wanted ------------------------------------------------------------------- */

int k_handover_add(struct k_handover *s, struct en_probe *shared, int pid, struct et_error *e)
{
	int own;

	if (!ARRAY_ROOM(s->v, s->n))
		return et_err(e, ET_NOMEM, "out of memory for the probes of a node");
	own = s->n > 0 && s->v[s->n - 1].pid == pid ? s->v[s->n - 1].own : fi_own_pid(pid);
	s->v[s->n++] = (struct k_node_event){shared, pid, own};
	if (own != pid) { /* in a container: so the event is of another name */
		char prov[32];

		snprintf(prov, sizeof(prov), "erlang%d", own);
		shared->hash = en_probe_hash_as(shared, prov);
	}
	return 0;
}

/* The probes by their hashes, as events bring them. */
static int make_table(struct en *en, const struct k_handover *s, struct et_error *e)
{
	struct k_root *r = en->kernel->root;
	uint64_t size = 64;

	while (size < 4 * (uint64_t)s->n)
		size *= 2;
	r->erlang = en_alloc(en, size * sizeof(*r->erlang));
	if (r->erlang == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the probes of a node");
	r->erlang_mask = size - 1;
	for (unsigned i = 0; i < s->n; i++) {
		uint64_t at = s->v[i].probe->hash & r->erlang_mask;

		for (; r->erlang[at] != NULL; at = (at + 1) & r->erlang_mask)
			if (r->erlang[at]->hash == s->v[i].probe->hash &&
				r->erlang[at]->prov != s->v[i].probe->prov)
				return et_err(e, ET_NODE,
					"several nodes are process %d of their containers: trace "
					"them "
					"one by one",
					s->v[i].own);
		r->erlang[at] = s->v[i].probe;
	}
	return 0;
}

/* ---- the scripts ---------------------------------------------------------------------- */

static const char *const built_ins[] = {
#define D_PVAR(name, ID, type, traits)	 name,
#define D_PFUNC(name, ID, proto, traits) NULL,
#include "prog/builtins.def"
};

/* In a description: what means something there is any character ("-f/1-lc$^0/1-0-/2"). */
static void put_name(FILE *f, const char *name)
{
	const char *arity = strrchr(name, '/');

	for (; *name != '\0'; name++)
		putc(isalnum((unsigned char)*name) || strchr("_-.", *name) != NULL || name == arity
				? *name : '?', f);
	putc(':', f);
}

/* What its clauses read that it has; arguments by number too. */
static uint32_t asked(const struct en_probe *p)
{
	return p->uses.pbis & (p->has | ~((1u << PBI_COUNT_) - 1));
}

/* Are both in one clause of one script? */
static bool is_alike(const struct k_node_event *a, const struct k_node_event *b)
{
	return a->pid == b->pid && asked(a->probe) == asked(b->probe);
}

/* A clause at all probes that are like one; what it reads there is handed over. */
static void put_clause(FILE *f, const struct k_handover *s, const struct k_node_event *like)
{
	uint32_t pbis = asked(like->probe);
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++) {
		const struct en_probe *p = s->v[i].probe;

		if (!is_alike(&s->v[i], like))
			continue;
		fprintf(f, "%serlang%d:", n++ > 0 ? ",\n" : "", like->own);
		put_name(f, p->mod->text);
		put_name(f, p->func->text);
		fputs(p->name->text, f);
	}
	fputs("\n{", f);
	for (unsigned i = 0; i < PBI_COUNT_; i++)
		if ((pbis >> i & 1) && built_ins[i] != NULL)
			fprintf(f, " this->%s_ = %s;", built_ins[i], built_ins[i]);
	for (unsigned i = 0; i < PBI_ARGS; i++) {
		if ((pbis >> (PBI_ARG0 + i) & 1) && (pbis >> PBI_ERLARG & 1))
			fprintf(f, " this->erlarg%u_ = erlarg(%u);", i, i);
		if ((pbis >> (PBI_ARG0 + i) & 1) && (pbis >> PBI_ERLINT & 1))
			fprintf(f, " this->erlint%u_ = erlint(%u);", i, i);
	}
	fputs(" usdt(); }\n", f);
}

/* What runs inside a node. Each probe is named once, so that it fires once. */
static char *node_script(const struct k_handover *s, int pid)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (unsigned i = 0; f != NULL && i < s->n; i++) {
		unsigned k = 0;

		while (k < i && !is_alike(&s->v[k], &s->v[i]))
			k++;
		if (k == i && s->v[i].pid == pid)
			put_clause(f, s, &s->v[i]);
	}
	return f != NULL && fclose(f) == 0 ? text : NULL;
}

/* ---- their USDT probes ---------------------------------------------------------------- */

struct attaching {
	struct en *en;
	const struct k_handover *s;
	struct k_module *m;
	int pid;
	unsigned n;
	struct et_error *e;
};

/* "message__send" is message-send. */
static bool same_name(const char *note, const char *name)
{
	for (; *name != '\0'; name++, note++) {
		if (*name == '-' && note[0] == '_' && note[1] == '_')
			note++;
		else if (*name != *note)
			return false;
	}
	return *note == '\0';
}

static int on_note(void *arg, const struct sdt_note *n)
{
	struct attaching *a = arg;
	const struct elf *f = k_module_elf(a->m);
	struct k_site at = {.entry = ENTRY_erlang_usdt, .pid = a->pid};

	if (strcmp(n->prov, "erlang") != 0 || !elf_offset(f, n->pc, true, &at.offset) ||
		(n->semaphore != 0 && !elf_offset(f, n->semaphore, false, &at.ref_ctr)))
		return 0;
	for (unsigned i = 0; i < a->s->n; i++) {
		struct en_probe *p = a->s->v[i].probe;

		if (a->s->v[i].pid != a->pid || !same_name(n->name, p->name->text))
			continue;
		a->n++;
		return k_uprobe_add(a->en, a->m->file, &at, p, a->e);
	}
	return 0;
}

static int add_notes(struct en *en, struct k_handover *s, int pid, struct et_error *e)
{
	struct attaching a = {.en = en, .s = s, .pid = pid, .e = e};
	struct k_process *fresh = NULL, *proc = k_process(&fresh, pid, e);
	int fd, rc = 0;

	if (proc == NULL)
		return -1;
	/* one that was brought there before may be mapped still: only the one that runs counts */
	for (unsigned i = 0; i < proc->n && rc == 0; i++) {
		if (strncmp(proc->mods[i].name, "erltrace", 8) != 0)
			continue;
		a.m = &proc->mods[i];
		fd = k_module_open(a.m);
		if (fd < 0)
			continue;
		rc = sdt_notes(fd, on_note, &a);
		close(fd);
	}
	k_processes_free(fresh);
	if (rc < 0)
		return -1;
	return a.n > 0 ? 0
		       : et_err(e, ET_NODE,
				 "the library in the node of process %d has no USDT probes: it is "
				 "of another version of erltrace, or of another machine",
				 pid);
}

/* ---- arming --------------------------------------------------------------------------- */

/* Options that are for what happens inside nodes. */
static const unsigned passed[] = {OPT_CALLS, OPT_SILENCE, OPT_WATCHDOG, OPT_WATCHTIME};
enum { NPASSED = sizeof(passed) / sizeof(*passed) };

/* A script for each node that has such events. */
static int make_scripts(const struct k_handover *s, erltrace_node_script_t *v, unsigned *n)
{
	for (unsigned i = 0; i < s->n; i++) {
		int pid = s->v[i].pid;
		unsigned k = 0;

		while (k < *n && v[k].pid != pid)
			k++;
		if (k < *n)
			continue;
		v[*n] = (erltrace_node_script_t){pid, node_script(s, pid)};
		if (v[(*n)++].text == NULL)
			return -1;
	}
	return 0;
}

static int arm_scripts(struct en *en, struct k_handover *s, const erltrace_node_script_t *scripts,
	unsigned n, struct et_error *e)
{
	const struct et_options *o = en->opts;
	char set[NPASSED][64];
	const char *options[NPASSED + 1] = {NULL}, **nodes = node_names(o);
	erltrace_arming_t a = {sizeof(a), nodes, options, scripts, n};
	erltrace_error_t err = {.tag = ""};
	unsigned k = 0;
	int rc = 0;

	if (nodes == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	for (unsigned i = 0; i < NPASSED; i++) {
		const char *name = et_optdefs[passed[i]].name;
		int len = snprintf(set[i], sizeof(set[i]), "%s=", name);

		if (o->set[passed[i]] &&
			et_getopt(o, name, set[i] + len, sizeof(set[i]) - (size_t)len, e) == 0)
			options[k++] = set[i];
	}
	if (en->bridge->arm(en->bridge_arg, &a, &err) < 0)
		rc = failed(&err, e);
	else
		s->armed = s->has_news = true;
	free(nodes);
	return rc;
}

int k_handover_arm(struct en *en, struct k_handover *s, struct et_error *e)
{
	erltrace_node_script_t *v;
	unsigned n = 0;
	int rc;

	if (s->n == 0)
		return 0;
	if (make_table(en, s, e) < 0)
		return -1;
	v = calloc(s->n, sizeof(*v));
	if (en->bridge == NULL || en->bridge->arm == NULL)
		rc = k_no_bridge(e);
	else if (v == NULL || make_scripts(s, v, &n) < 0)
		rc = et_err(e, ET_NOMEM, "out of memory");
	else
		rc = arm_scripts(en, s, v, n, e);
	for (unsigned i = 0; i < n; i++) {
		if (rc == 0)
			rc = add_notes(en, s, v[i].pid, e);
		free((char *)(uintptr_t)v[i].text);
	}
	if (rc < 0)
		k_handover_disarm(en, s);
	free(v);
	return rc;
}

bool k_handover_news(struct en *en, struct k_handover *s, char *buf, size_t size,
	bool *ended)
{
	char line[480] = "";
	int rc;

	if (!s->has_news || en->bridge->news == NULL)
		return false;
	rc = en->bridge->news(en->bridge_arg, line, sizeof(line));
	if (rc > 0)
		snprintf(buf, size, "in the node: %s", line);
	if (rc >= 0)
		return rc > 0;
	s->has_news = false;
	*ended = true;
	snprintf(buf, size,
		"the events inside the node have come to an end, and so has the script");
	return true;
}
