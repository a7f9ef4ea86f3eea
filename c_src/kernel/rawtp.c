/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The providers rawtp and sdt: the tracepoints of the kernel and of its modules, which their types
 * name (typedef btf_trace_NAME: a function that takes what the tracepoint passes). They are the
 * same events by two names:
 *
 *   rawtp:MODULE::NAME   the module whose code it is in; vmlinux
 *   sdt:GROUP::NAME      the group that the kernel's sources put it in, as DTrace has it: sched,
 *                        block. Only tracefs says which; without it, the module, and descriptions
 *                        may name the first word of NAME, which mostly is the group
 *
 * arg0.. and args[] are what is passed, in the kernel's types. Each probe has a program of its own:
 * the kernel takes none that could read more words than the tracepoint has, and before Linux 6.10
 * nothing tells a program at which one it runs.
 */
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "btf/btf.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "file.h"
#include "kernel.h"
#include "missed.h"
#include "program.h"
#include "tracepoint.h"

#define PREFIX "btf_trace_"
enum { MOST = 512 }; /* programs of a script: the kernel checks each for some milliseconds */

struct site {
	const char *tracepoint;
	struct k_own own;
	int prog;
};

struct rawtp {
	struct btf *btf;
	char *groups; /* "sched:sched_switch" by line; NULL: not read yet */
	bool listed;  /* all are probes */
	char **words; /* aliases of modules */
	unsigned nwords;
	struct site *sites;
	unsigned n;
};

extern const struct provider rawtp_provider;

/* ---- groups ----------------------------------------------------------------------------- */

static const char *const group_files[] = {
	"/sys/kernel/tracing/available_events", "/sys/kernel/debug/tracing/available_events"};
enum { NGROUP_FILES = sizeof(group_files) / sizeof(*group_files) };

static char *read_groups(void)
{
	char *text = NULL;
	size_t n;

	for (unsigned i = 0; i < NGROUP_FILES && text == NULL; i++)
		text = file_read(group_files[i], 4 << 20, &n);
	return text != NULL ? text : strdup("");
}

static bool has_groups(void)
{
	for (unsigned i = 0; i < NGROUP_FILES; i++)
		if (access(group_files[i], R_OK) == 0)
			return true;
	return false;
}

/* The group of a tracepoint into buf; false: it is not known. */
static bool group_of(struct rawtp *r, const char *name, char *buf, size_t size)
{
	size_t len = strlen(name), n;

	if (r->groups == NULL)
		r->groups = read_groups();
	for (const char *p = r->groups; p != NULL && *p != '\0';
		p += strcspn(p, "\n"), p += *p == '\n') {
		n = strcspn(p, ":\n");
		if (p[n] == ':' && strncmp(p + n + 1, name, len) == 0 &&
			strchr("\n", p[n + 1 + len]) != NULL && n < size) {
			memcpy(buf, p, n);
			buf[n] = '\0';
			return true;
		}
	}
	return false;
}

/* "sched" and "", for sched_switch. NULL: it has no words, or there is no memory. */
static const char *first_word(struct rawtp *r, const char *name)
{
	size_t len = strcspn(name, "_");
	char *alias;

	for (unsigned i = 0; i < r->nwords; i++)
		if (strncmp(r->words[i], name, len) == 0 && r->words[i][len] == '\0')
			return r->words[i];
	if (name[len] == '\0' || !ARRAY_ROOM(r->words, r->nwords) ||
		(alias = calloc(1, len + 2)) == NULL)
		return NULL;
	memcpy(alias, name, len);
	return r->words[r->nwords++] = alias;
}

/* ---- making probes ---------------------------------------------------------------------- */

struct request {
	struct en *en;
	struct rawtp *r;
	const char *module;
	bool raw, sdt;
	struct et_error *e;
	bool failed;
};

/* The function that a tracepoint calls; its first parameter is not the tracepoint's. */
static bool parameters(struct btf_at at, struct btf_at *proto, unsigned *n)
{
	struct btf_view v;

	for (unsigned i = 0; i < 2; i++, at = v.ref)
		if (!btf_view(at, &v))
			return false;
	if (!btf_view(at, &v) || v.kind != BTF_KIND_FUNC_PROTO || v.n == 0)
		return false;
	*proto = at;
	*n = v.n - 1;
	return true;
}

static const char **types_of(struct btf_at proto, unsigned n)
{
	const char **types = calloc(n + 1, sizeof(*types));
	struct btf_item p;
	char text[512];

	for (unsigned i = 0; types != NULL && i < n; i++) {
		btf_item(proto, i + 1, &p);
		types[i] = strdup(btf_text(p.type, text, sizeof(text)));
		if (types[i] != NULL)
			continue;
		while (i > 0)
			free((char *)types[--i]);
		free(types);
		types = NULL;
	}
	return types;
}

static struct en_probe *add_probe(struct request *q, const char *prov, const char *mod,
	const char *name, struct btf_at proto, unsigned n)
{
	struct en_probe *p = en_probe_add(q->en, &rawtp_provider, NULL, prov, mod, "", name);

	if (p != NULL && p->argtypes == NULL && (p->argtypes = types_of(proto, n)) != NULL) {
		p->nargs = (int)n;
		p->own_types = true;
	}
	q->failed = p == NULL || p->argtypes == NULL;
	if (q->failed)
		et_err(q->e, ET_NOMEM, "out of memory for tracepoints");
	return q->failed ? NULL : p;
}

static bool add(void *arg, struct btf_at at, const char *name)
{
	struct request *q = arg;
	struct btf_at proto;
	struct en_probe *p;
	char group[64];
	bool known;
	unsigned n;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || !parameters(at, &proto, &n))
		return true;
	name += strlen(PREFIX);
	if (q->raw && !add_probe(q, "rawtp", q->module, name, proto, n))
		return false;
	if (!q->sdt)
		return true;
	known = group_of(q->r, name, group, sizeof(group));
	p = add_probe(q, "sdt", known ? group : q->module, name, proto, n);
	if (p != NULL && !known)
		p->mod_aliases = first_word(q->r, name);
	return p != NULL;
}

static int add_all(struct request *q)
{
	struct btf *b = q->r->btf;

	if (q->r->listed)
		return 0;
	q->raw = q->sdt = true;
	for (unsigned i = 0; i < btf_nfiles(b) && !q->failed; i++) {
		const struct btf_file *f = btf_file_at(b, i);

		q->module = btf_file_name(b, i);
		if (f != NULL)
			btf_each(f, BTF_A(BTF_KIND_TYPEDEF), add, q);
	}
	q->r->listed = !q->failed;
	return q->failed ? -1 : 0;
}

/* One by its name, if vmlinux has it: the usual case, for which nothing else is looked at. */
static bool add_one(struct request *q, const char *name)
{
	char type[256];
	struct btf_at at;

	snprintf(type, sizeof(type), PREFIX "%s", name);
	q->module = "vmlinux";
	return name[0] != '\0' && name[strcspn(name, "*?[\\")] == '\0' &&
	       btf_find(q->r->btf, q->module, type, BTF_A(BTF_KIND_TYPEDEF), &at) &&
	       (add(q, at, type), true);
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	struct request q = {.en = en, .r = data, .e = e};

	if (d->prov[0] == '\0' &&
		!d->listing) /* BEGIN is none, and ::: does not mean all of them */
		return 0;
	q.raw = en_glob(d->prov, "rawtp");
	q.sdt = en_glob(d->prov, "sdt");
	if (!q.raw && !q.sdt)
		return 0;
	if (q.r->btf == NULL && (q.r->btf = btf_open(e)) == NULL) {
		if (d->prov[strcspn(d->prov, "*?[")] == '\0' && d->prov[0] != '\0')
			return -1;
		et_err_clear(e);
		return 0;
	}
	if (add_one(&q, d->name) || q.failed)
		return q.failed ? -1 : 0;
	return add_all(&q);
}

/* Who names a group that cannot be known here is not to look for a misspelling. */
static const char *why_none(const struct d_pdesc *d)
{
	if (d->id != 0 || strcmp(d->prov, "sdt") != 0 || d->mod[0] == '\0' || has_groups())
		return NULL;
	return "which group a tracepoint is in only tracefs tells, which is not mounted here: "
	       "sdt:::NAME "
	       "goes without (mount -t tracefs tracefs /sys/kernel/tracing)";
}

/* ---- tracing ---------------------------------------------------------------------------- */

static int init(struct en *en, void **data, struct et_error *e)
{
	(void)en;
	*data = calloc(1, sizeof(struct rawtp));
	return *data != NULL ? 0 : et_err(e, ET_NOMEM, "out of memory");
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	struct en_probe *shared = k_share_probe(en, p, ENTRY_rawtp, e);
	unsigned words = p->nargs < 10 ? (1u << p->nargs) - 1 : 0x3ff;
	struct rawtp *r = data;

	if (shared == NULL)
		return -1;
	if (r->n == MOST)
		return et_err(e, ET_ARGUMENT,
			"more than %d tracepoints, each of which needs a program in the kernel: "
			"name fewer",
			MOST);
	if (!ARRAY_ROOM(r->sites, r->n))
		return et_err(e, ET_NOMEM, "out of memory for tracepoints");
	r->sites[r->n++] = (struct site){
		.tracepoint = p->name->text, .own = {.probe = shared, .words = p->argmask & words}};
	return 0;
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	struct rawtp *r = data;

	for (unsigned i = 0; i < r->n; i++)
		if ((r->sites[i].prog = k_load(en, ENTRY_rawtp, &r->sites[i].own, e)) < 0)
			return -1;
	return 0;
}

static int start(struct en *en, void *data, struct et_error *e)
{
	const struct rawtp *r = data;

	for (unsigned i = 0; i < r->n; i++) {
		if (k_tracepoint_attach(en, r->sites[i].prog, r->sites[i].tracepoint, e) < 0)
			return -1;
		if (!k_count_missed(en->kernel, r->sites[i].prog, false))
			return et_err(e, ET_NOMEM, "out of memory for tracepoints");
	}
	return 0;
}

static void fini(struct en *en, void *data)
{
	struct rawtp *r = data;

	if (r != NULL) {
		btf_close(r->btf);
		free(r->groups);
		for (unsigned i = 0; i < r->nwords; i++)
			free(r->words[i]);
		free(r->words);
		free(r->sites);
	}
	k_fini(en, data);
}

const struct provider rawtp_provider = {
	.name = "rawtp",
	.of_kernel = true,
	.init = init,
	.provide = provide,
	.why_none = why_none,
	.enable = enable,
	.ready = ready,
	.start = start,
	.look = k_look_missed,
	.stop = k_stop,
	.fini = fini,
	.arena = k_arena,
};
