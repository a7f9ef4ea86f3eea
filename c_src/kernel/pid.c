/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider pid<N>: entry and return of the functions of a process, its program and libraries,
 * by their symbols, and instructions inside of them by their offsets, in hexadecimal. Probes are
 * made when a description asks for them. arg0 to arg9 of an entry are the function's first
 * arguments; arg1 of a return is what it gives.
 */
#include <stdlib.h>
#include <string.h>

#include "late.h"

/* Where a probe is: two static functions of one name are one probe at two places. */
struct place {
	struct place *next;
	const struct k_module *mod;
	uint64_t offset;
	int pid;
	bool ret;
};

struct pid {
	struct k_process *procs;
	struct place **places; /* all, to be freed */
	unsigned nplaces;
};

extern const struct provider pid_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	(void)en;
	*data = calloc(1, sizeof(struct pid));
	return *data != NULL ? 0 : et_err(e, "ET_MEMORY", "out of memory");
}

/* ---- making probes -------------------------------------------------------------------- */

/*
 * Functions that find something else than a return address where the others have it, or keep it
 * to return once more: their return is not to be seen that way without harm to the process.
 */
static bool may_return(const char *func)
{
	static const char *const not[] = {"_start", "_dl_start_user", "_dl_runtime_resolve*",
		"__restore_rt", "__start_context", "*setjmp", "*getcontext", "*swapcontext",
		"*setcontext", "*longjmp", "*vfork", "*clone", "*clone3"};

	for (unsigned i = 0; i < sizeof(not) / sizeof(*not); i++)
		if (en_glob(not[i], func))
			return false;
	return true;
}

/*
 * Can the kernel execute the instruction elsewhere, as a probe there needs? It does not take
 * those with a lock or a segment prefix and those that only the kernel may use.
 */
static bool can_probe(const uint8_t *code, size_t n)
{
	static const uint8_t not[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
		0x3f, 0x60, 0x61, 0x62, 0x6c, 0x6d, 0x6e, 0x6f, 0x82, 0x9a, 0xcc, 0xcd, 0xce, 0xcf,
		0xd4, 0xd5, 0xd6, 0xe4, 0xe5, 0xe6, 0xe7, 0xea, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4,
		0xfa, 0xfb};

	for (; n > 0; code++, n--) {
		switch (*code) {
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0xf0: return false;
		case 0x64: case 0x65: case 0x66: case 0x67: case 0xf2: case 0xf3: continue;
		}
		if ((*code & 0xf0) != 0x40) /* what begins 0100 is a prefix too */
			break;
	}
	if (n > 1 && *code == 0x0f && code[1] == 0x0b)
		return false; /* ud2 */
	return n > 0 && memchr(not, *code, sizeof(not)) == NULL;
}

/* Of a name like 4f: how far inside the function; else UINT64_MAX. */
static uint64_t offset_of(const char *name)
{
	size_t len = name != NULL ? strlen(name) : 0;

	if (len == 0 || len > 8 || strspn(name, "0123456789abcdef") != len)
		return UINT64_MAX;
	return strtoull(name, NULL, 16);
}

/* Does an instruction begin there? */
static bool is_insn(const uint8_t *code, size_t n, uint64_t inside)
{
	uint64_t at = 0;
	size_t len;

	while (at < inside && (len = k_insn_len(code + at, n - at)) > 0)
		at += len;
	return at == inside;
}

static int add_place(struct pid *pv, struct en_probe *p, struct place at, struct et_error *e)
{
	struct place *first = p->pvdata, *l, **all;

	for (l = first; l != NULL; l = l->next)
		if (l->mod == at.mod && l->offset == at.offset)
			return 0;
	l = malloc(sizeof(*l));
	if (l != NULL && (pv->nplaces & (pv->nplaces - 1)) == 0) {
		all = realloc(
			pv->places, (pv->nplaces ? 2 * (size_t)pv->nplaces : 1) * sizeof(*all));
		if (all == NULL) {
			free(l);
			l = NULL;
		} else {
			pv->places = all;
		}
	}
	if (l == NULL)
		return et_err(e, "ET_MEMORY", "out of memory for the probes of process %d", at.pid);
	*l = at;
	l->next = first;
	p->pvdata = pv->places[pv->nplaces++] = l;
	return 0;
}

static int add_probe(struct en *en, struct pid *pv, const char *prov, struct place at,
	const char *func, const char *name, struct et_error *e)
{
	static const char *const types[] = {"uint64_t", "uint64_t"};
	struct en_probe *p = en_probe_add(en, &pid_provider, NULL, prov, at.mod->name, func, name);

	if (p == NULL)
		return et_err(e, "ET_MEMORY", "out of memory for the probes of process %d", at.pid);
	if (at.mod->main)
		p->mod_alias = "a.out";
	if (at.ret) {
		p->nargs = 2;
		p->argtypes = types;
	}
	return add_place(pv, p, at, e);
}

static int add_module(struct en *en, void *data, int pid, struct k_module *m,
	const struct d_pdesc *d, struct et_error *e)
{
	struct pid *pv = data;
	const struct elf *f = k_module_elf(m);
	bool entry = en_glob(d->name, "entry"), ret = en_glob(d->name, "return");
	uint64_t inside = offset_of(d->name);
	const uint8_t *code;
	size_t n;

	for (size_t i = 0; i < f->nsyms; i++) {
		const struct elf_sym *s = &f->syms[i];
		const char *func = f->strs + s->name;
		struct place at = {.mod = m, .pid = pid};

		if (!en_glob(d->func, func))
			continue;
		if (s->type == STT_GNU_IFUNC
				? !k_chosen(pv->procs, pid, m, s, &at.offset)
				: s->type != STT_FUNC || !elf_offset(f, s->value, true, &at.offset))
			continue;
		code = k_module_code(m, at.offset, &n);
		if (!can_probe(code, n))
			continue;
		if (entry && add_probe(en, pv, d->prov, at, func, "entry", e) < 0)
			return -1;
		at.ret = true;
		if (ret && may_return(func) &&
			add_probe(en, pv, d->prov, at, func, "return", e) < 0)
			return -1;
		at.ret = false;
		at.offset += inside;
		if (s->type == STT_FUNC && inside < s->size && inside < n &&
			is_insn(code, n, inside) && can_probe(code + inside, n - inside) &&
			add_probe(en, pv, d->prov, at, func, d->name, e) < 0)
			return -1;
	}
	return 0;
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	struct pid *pv = data;
	struct k_process *proc;
	size_t len;
	int pid = k_pid_of(d->prov, &len);

	if (!en->opts->inside && pid == 0 && d->prov != NULL && strncmp(d->prov, "pid", 3) == 0 &&
		(d->prov[3] == '\0' || strchr("*?[", d->prov[3]) != NULL))
		return et_err(e, "D_PDESC_INVAL",
			"probes of functions are of a process: pid1234, or pid$target with "
			"-p or -c");
	if (en->opts->inside || pid == 0 || len != 3 || strncmp(d->prov, "pid", 3) != 0)
		return 0;
	proc = k_process(&pv->procs, pid, e);
	if (proc == NULL)
		return -1;
	for (unsigned i = 0; i < proc->n; i++)
		if (k_module_matches(&proc->mods[i], d->mod) &&
			add_module(en, pv, pid, &proc->mods[i], d, e) < 0)
			return -1;
	return 0;
}

/* ---- tracing -------------------------------------------------------------------------- */

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	struct en_probe *shared = k_share_probe(en, p, e);

	(void)data;
	if (shared == NULL)
		return -1;
	for (const struct place *l = p->pvdata; l != NULL; l = l->next) {
		struct k_place at = {.entry = l->ret ? "k_uretprobe" : "k_uprobe",
			.ret = l->ret,
			.pid = l->pid,
			.offset = l->offset};

		en_process_add(en, l->pid);
		if (k_uprobe_add(en, l->mod->file, &at, shared, e) < 0)
			return -1;
	}
	return 0;
}

static bool wants_arena(struct en *en)
{
	return k_has_processes(en, K_PID);
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	return k_late_ready(en, K_PID, e) < 0 ? -1 : k_uprobe_load(en, data, e);
}

static int look(struct en *en, void *data, struct et_error *e)
{
	struct pid *pv = data;

	return k_late_look(en, &pid_provider, pv, &pv->procs, K_PID, add_module, e);
}

static bool news(struct en *en, void *data, char *buf, size_t size, bool *ended)
{
	(void)en;
	(void)ended;
	return k_modules_news(((struct pid *)data)->procs, buf, size);
}

static void fini(struct en *en, void *data)
{
	struct pid *pv = data;

	k_close(en);
	if (pv == NULL)
		return;
	for (unsigned i = 0; i < pv->nplaces; i++)
		free(pv->places[i]);
	free(pv->places);
	k_processes_free(pv->procs);
	free(pv);
}

const struct provider pid_provider = {
	.name = "pid",
	.init = init,
	.provide = provide,
	.enable = enable,
	.ready = ready,
	.start = k_uprobe_attach,
	.stop = k_stop,
	.news = news,
	.fini = fini,
	.arena = k_arena,
	.wants_arena = wants_arena,
	.look = look,
};
