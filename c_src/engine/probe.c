/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of probes: a growing table by id, a hash table by name, and matching by globs. Used
 * by one thread at a time, never on the probe path.
 */
#include <stdlib.h>
#include <string.h>

#include "prog/erlang_has.h"
#include "probe.h"
#include "provider.h"
#include "slot.h"
#include "state.h"
#include "str.h"

/* ---- globs ---------------------------------------------------------------------------- */

/* Match a set "[a-z]" or "[!a-z]"; p is after the bracket. *end: after the set, or NULL. */
static bool in_set(const char *p, char c, const char **end)
{
	bool negated = *p == '!', found = false;
	const char *first;

	p += negated;
	for (first = p; *p != '\0' && (*p != ']' || p == first);) {
		unsigned char lo, hi;

		p += *p == '\\' && p[1] != '\0';
		lo = hi = (unsigned char)*p++;
		if (*p == '-' && p[1] != ']' && p[1] != '\0') {
			p++;
			p += *p == '\\' && p[1] != '\0';
			hi = (unsigned char)*p++;
		}
		found |= (unsigned char)c >= lo && (unsigned char)c <= hi;
	}
	if (*p != ']') {
		*end = NULL;
		return false;
	}
	*end = p + 1;
	return found != negated;
}

/* Match one element of the pattern with one character. Returns the next element; NULL: no match. */
static const char *match_one(const char *p, char c)
{
	const char *end;

	switch (*p) {
	case '?': return p + 1;
	case '[': {
		bool in = in_set(p + 1, c, &end);

		if (end != NULL)
			return in ? end : NULL;
		break; /* no closing bracket: a literal one */
	}
	case '\\':
		if (p[1] != '\0')
			p++;
		break;
	}
	return *p == c ? p + 1 : NULL;
}

bool en_glob(const char *pattern, const char *text)
{
	const char *p = pattern, *star = NULL, *again = NULL;

	if (pattern == NULL || *pattern == '\0')
		return true;
	while (*text != '\0') {
		const char *next;

		if (*p == '*') {
			star = ++p;
			again = text;
		} else if (*p != '\0' && (next = match_one(p, *text)) != NULL) {
			p = next;
			text++;
		} else if (star != NULL) { /* let the star match one more character */
			p = star;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return *p == '\0';
}

/* ---- table ---------------------------------------------------------------------------- */

/*
 * The bucket of a text in the table of names, or the empty one where it belongs. Very many probes
 * share few names, so names are interned: equal names are the same string.
 */
static struct et_str **name_bucket(struct en *en, uint64_t hash, const char *text)
{
	unsigned mask = en->reg.names_size - 1;
	unsigned i = (unsigned)hash & mask;

	while (en->reg.names[i] != NULL &&
		(en->reg.names[i]->hash != hash || strcmp(en->reg.names[i]->text, text) != 0))
		i = (i + 1) & mask;
	return &en->reg.names[i];
}

static bool grow_names(struct en *en)
{
	unsigned size = en->reg.names_size ? 2 * en->reg.names_size : 64, old = en->reg.names_size;
	struct et_str **names, **from = en->reg.names;

	if (2 * en->reg.nnames < old)
		return true;
	names = calloc(size, sizeof(struct et_str *));
	if (names == NULL)
		return false;
	en->reg.names = names;
	en->reg.names_size = size;
	for (unsigned i = 0; i < old; i++)
		if (from[i] != NULL)
			*name_bucket(en, from[i]->hash, from[i]->text) = from[i];
	free(from);
	return true;
}

/* Intern a name. NULL: it is not there, or (make) out of memory. */
static const struct et_str *name_of(struct en *en, const char *text, bool make)
{
	struct et_str **at;

	if (make ? !grow_names(en) : en->reg.names_size == 0)
		return NULL;
	at = name_bucket(en, et_hash(text, strlen(text)), text);
	if (*at == NULL && make && (*at = et_str_new(text, strlen(text))) != NULL)
		en->reg.nnames++;
	return *at;
}

struct names {
	const struct et_str *prov, *mod, *func, *name;
};

static bool get_names(struct en *en, struct names *n, const char *prov, const char *mod,
	const char *func, const char *name, bool make)
{
	n->prov = name_of(en, prov, make);
	n->mod = name_of(en, mod, make);
	n->func = name_of(en, func, make);
	n->name = name_of(en, name, make);
	return n->prov != NULL && n->mod != NULL && n->func != NULL && n->name != NULL;
}

static uint64_t name_hash(const struct names *n)
{
	return n->prov->hash * 3 + n->mod->hash * 5 + n->func->hash * 7 + n->name->hash;
}

uint64_t en_probe_hash_as(const struct en_probe *p, const char *prov)
{
	return p->hash + (et_hash(prov, strlen(prov)) - p->prov->hash) * 3;
}

static bool is_named(const struct en_probe *p, const struct names *n)
{
	return p->name == n->name && p->func == n->func && p->mod == n->mod && p->prov == n->prov;
}

/* The bucket of a probe in the hash table, or the empty one where it belongs. */
static struct en_probe **bucket_of(struct en *en, uint64_t hash, const struct names *n)
{
	unsigned mask = en->reg.probe_hash_size - 1;
	unsigned i = (unsigned)hash & mask;
	const struct en_probe *p;

	while ((p = en->reg.probe_hash[i]) != NULL && (p->hash != hash || !is_named(p, n)))
		i = (i + 1) & mask;
	return &en->reg.probe_hash[i];
}

/* The bucket for a probe that is not in the table yet. */
static struct en_probe **free_bucket(struct en *en, uint64_t hash)
{
	unsigned mask = en->reg.probe_hash_size - 1;
	unsigned i = (unsigned)hash & mask;

	while (en->reg.probe_hash[i] != NULL)
		i = (i + 1) & mask;
	return &en->reg.probe_hash[i];
}

static bool grow(struct en *en)
{
	unsigned room = en->reg.probe_room ? 2 * en->reg.probe_room : 64;
	struct en_probe **hash, **probes;

	if (en->reg.nprobes < en->reg.probe_room)
		return true;
	probes = realloc(en->reg.probes, room * sizeof(struct en_probe *));
	if (probes == NULL)
		return false;
	en->reg.probes = probes;
	hash = calloc(2 * (size_t)room, sizeof(struct en_probe *));
	if (hash == NULL)
		return false;
	free(en->reg.probe_hash);
	en->reg.probe_hash = hash;
	en->reg.probe_hash_size = 2 * room;
	en->reg.probe_room = room;
	for (unsigned i = 0; i < en->reg.nprobes; i++)
		*free_bucket(en, probes[i]->hash) = probes[i];
	return true;
}

static void probe_free(struct en_probe *p)
{
	for (int i = 0; p->own_types && i < p->nargs; i++)
		free((char *)p->argtypes[i]);
	if (p->own_types)
		free((char **)p->argtypes);
	free(p);
}

void en_probes_free(struct en *en)
{
	for (unsigned i = 0; i < en->reg.nprobes; i++)
		probe_free(en->reg.probes[i]);
	for (unsigned i = 0; i < en->reg.names_size; i++)
		et_str_free(en->reg.names[i]);
	free(en->reg.names);
	free(en->reg.probes);
	free(en->reg.probe_hash);
}

struct en_probe *en_probe_add(struct en *en, const struct provider *pv, void *pvdata,
	const char *prov, const char *mod, const char *func, const char *name)
{
	struct en_probe *p = NULL;
	struct names n;
	uint64_t hash;

	if (!get_names(en, &n, prov, mod, func, name, true))
		return NULL;
	hash = name_hash(&n);
	if (en->reg.probe_hash_size != 0)
		p = *bucket_of(en, hash, &n);
	if (p != NULL)
		return p;
	if (!grow(en) || (p = calloc(1, sizeof(*p))) == NULL)
		return NULL;
	p->prov = n.prov;
	p->mod = n.mod;
	p->func = n.func;
	p->name = n.name;
	p->pv = pv;
	p->pvdata = pvdata;
	p->en = en;
	p->nargs = -1;
	/* at what the kernel fires there is a process at most */
	p->has = pv != NULL && pv->of_kernel ? ~prog_pbis_of_events() : UINT32_MAX;
	p->hash = hash;
	en->reg.probes[en->reg.nprobes++] = p;
	p->id = en->reg.nprobes;
	*free_bucket(en, hash) = p;
	return p;
}

struct en_probe *en_probe_find(
	struct en *en, const char *prov, const char *mod, const char *func, const char *name)
{
	struct names n;

	if (en->reg.probe_hash_size == 0 || !get_names(en, &n, prov, mod, func, name, false))
		return NULL;
	return *bucket_of(en, name_hash(&n), &n);
}

unsigned en_nprobes(struct en *en)
{
	return en->reg.nprobes;
}

/* ---- matching ------------------------------------------------------------------------- */

static bool matches_module(const struct en_probe *p, const char *glob)
{
	if (en_glob(glob, p->mod->text))
		return true;
	for (const char *a = p->mod_aliases; a != NULL && *a != '\0'; a += strlen(a) + 1)
		if (en_glob(glob, a))
			return true;
	return false;
}

static bool matches(const struct en_probe *p, const struct d_pdesc *d)
{
	if (p->en->opts->replay && p->pv != NULL && !p->pv->replays)
		return false;
	if (d->id != 0)
		return p->id == d->id;
	return en_glob(d->name, p->name->text) &&
	       (en_glob(d->func, p->func->text) ||
		       (p->func_alias != NULL && en_glob(d->func, p->func_alias))) &&
	       matches_module(p, d->mod) && en_glob(d->prov, p->prov->text);
}

int en_probe_match(
	struct en *en, const struct d_pdesc *desc, en_probe_cb cb, void *arg, struct et_error *e)
{
	for (unsigned i = 0; i < en->providers.n && desc->id == 0; i++)
		if (et_providers[i]->provide != NULL &&
			(et_providers[i]->replays || !en->opts->replay) &&
			et_providers[i]->provide(en, en->providers.data[i], desc, e) < 0)
			return -1;
	return en_probe_match_from(en, 0, desc, cb, arg);
}

int en_probe_match_from(
	struct en *en, unsigned first, const struct d_pdesc *desc, en_probe_cb cb, void *arg)
{
	int n = 0;

	for (unsigned i = first; i < en->reg.nprobes; i++) {
		struct en_probe *p = en->reg.probes[i];

		if (!matches(p, desc))
			continue;
		n++;
		if (cb != NULL)
			cb(arg, p);
	}
	return n;
}

/* ---- for the compiler ----------------------------------------------------------------- */

struct info_cb {
	void (*cb)(void *arg, const struct d_probeinfo *p);
	void *arg;
};

static void give_info(void *arg, struct en_probe *p)
{
	const struct info_cb *to = arg;
	struct d_probeinfo info = {
		.id = p->id,
		.prov = p->prov->text,
		.mod = p->mod->text,
		.func = p->func->text,
		.name = p->name->text,
		.nargs = p->nargs,
		.argtypes = p->argtypes,
		.xargtypes = p->xargtypes,
		.argmap = p->argmap,
		.pbis = p->has,
	};

	if (to->cb != NULL)
		to->cb(to->arg, &info);
}

static int match_info(void *data, const struct d_pdesc *desc,
	void (*cb)(void *arg, const struct d_probeinfo *p), void *arg, struct et_error *e)
{
	struct info_cb to = {cb, arg};

	return en_probe_match(data, desc, give_info, &to, e);
}

/* Names for suggestions. Nothing is made on demand for it: kinds stand for such probes. */
static void names_of(
	void *data, const char *prov, void (*cb)(void *arg, const char *name), void *arg)
{
	const struct en *en = data;
	const struct provider *last = NULL;

	for (unsigned i = 0; i < en->reg.nprobes; i++) {
		const struct en_probe *p = en->reg.probes[i];
		const char *name;

		if (!en_glob(prov, p->prov->text))
			continue;
		cb(arg, p->name->text);
		if (p->pv == last || p->pv->kind == NULL)
			continue;
		last = p->pv;
		for (unsigned k = 0; (name = last->kind(k)) != NULL; k++)
			cb(arg, name);
	}
}

/* Of probes that are not there: by their names, if the provider may be erlang. */
static uint32_t has_by_name(void *data, const struct d_pdesc *desc)
{
	uint32_t pbis, all = 0;
	const char *name;

	(void)data;
	if (strncmp(desc->prov, "erlang", 6) != 0)
		return UINT32_MAX;
	for (unsigned i = 0; (name = prog_erlang_probe(i, &pbis)) != NULL; i++)
		if (en_glob(desc->name, name))
			all |= pbis;
	return all != 0 ? all : UINT32_MAX;
}

static void why_none(void *data, const struct d_pdesc *desc, char *buf, size_t size)
{
	en_why_none(data, desc, buf, size);
}

void en_registry(struct en *en, struct d_registry *reg)
{
	reg->match = match_info;
	reg->names = names_of;
	reg->has = has_by_name;
	reg->why = why_none;
	reg->data = en;
}
