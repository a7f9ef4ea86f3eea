/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider pid<N>: entry and return of the functions of a process, in its program and
 * libraries, by their symbols; and single instructions inside a function, by their offsets in
 * hexadecimal. Several symbols at one address are one function, under its best-known name (elf.c).
 * Probes are created when a description asks for them. arg0 to arg9 of an entry are the function's
 * first arguments; arg1 of a return is its return value.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "kernel.h"
#include "sites.h"

struct pid {
	struct k_sites sites;
	unsigned noffsets; /* instructions among them */
};
enum { MAX_OFFSETS = 250000 };

extern const struct provider pid_provider;

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

/* Is it a name like 4f, or one that matches such? Then instructions are looked at. */
static bool names_offsets(const char *name)
{
	return name == NULL || name[strspn(name, "0123456789abcdef*?[]-^!")] == '\0';
}

/*
 * Where the return address is at an instruction of a function: as long as it has done nothing but
 * to save registers and to make room, and again where it returns. 0: not known, or by the frame
 * pointer.
 */
static uint32_t caller_at(const uint8_t *code, size_t n, uint64_t inside)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, sub[] = {0x48, 0x83, 0xec};
	uint64_t at = 0, words = 0;
	uint32_t how = K_CALLER_KNOWN;

	if (n <= inside)
		return 0;
	if (code[inside] == 0xc3 || (n - inside > 1 && code[inside + 1] == 0xc3 &&
					    (code[inside] == 0xf3 || code[inside] == 0xf2)))
		return K_CALLER_KNOWN;
	if (code[inside] == 0x55)
		how |= K_BEFORE_PUSH;
	if (n - inside > 4 && memcmp(code + inside, endbr, 4) == 0)
		how |= K_BEFORE_ENDBR;
	while (at < inside) {
		const uint8_t *p = code + at;

		if (n - at > 4 && memcmp(p, endbr, 4) == 0)
			at += 4;
		else if ((*p & 0xf8) == 0x50)
			words++, at++;
		else if (n - at > 1 && *p == 0x41 && (p[1] & 0xf8) == 0x50)
			words++, at += 2;
		else if (n - at > 3 && memcmp(p, sub, 3) == 0 && p[3] < 128 && p[3] % 8 == 0)
			words += p[3] / 8, at += 4;
		else
			return 0;
	}
	return at == inside && words <= K_CALLER_AT ? how | (uint32_t)words : 0;
}

/* What is asked for: probes of a module. */
struct request {
	struct en *en;
	struct pid *pv;
	struct k_module *m;
	const struct d_pdesc *d;
	struct et_error *e;
};

static int add_probe(
	const struct request *r, const struct k_site *at, const char *func, const char *name)
{
	static const char *const types[] = {"uint64_t", "uint64_t"};
	struct en_probe *p =
		en_probe_add(r->en, &pid_provider, NULL, r->d->prov, r->m->name, func, name);

	if (p == NULL)
		return et_err(
			r->e, ET_NOMEM, "out of memory for the probes of process %d", at->pid);
	p->mod_aliases = r->m->aliases;
	if (at->entry == ENTRY_uretprobe) {
		p->nargs = 2;
		p->argtypes = types;
	}
	return k_sites_add(&r->pv->sites, p, r->m, at, NULL, 0, r->e);
}

/* ---- functions ------------------------------------------------------------------------ */

struct function {
	uint64_t offset; /* in the file */
	const struct elf_sym *sym;
};

/* By address; of several names there, the best is the last. */
static int function_cmp(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->sym->rank != y->sym->rank)
		return x->sym->rank > y->sym->rank ? -1 : 1;
	return (x->sym > y->sym) - (x->sym < y->sym);
}

/* Those of a module whose names match, each once. The caller frees them. */
static struct function *find_functions(
	struct k_process *procs, struct k_module *m, const char *glob, size_t *n)
{
	const struct elf *f = k_module_elf(m);
	struct function *all = malloc((f->nsyms + 1) * sizeof(*all)), fn;
	size_t found = 0;

	for (size_t i = 0; all != NULL && i < f->nsyms; i++) {
		fn.sym = &f->syms[i];
		if (en_glob(glob, f->strs + fn.sym->name) &&
			(fn.sym->type == STT_GNU_IFUNC
					? k_chosen(procs, m->pid, m, fn.sym, &fn.offset)
					: fn.sym->type == STT_FUNC &&
						  elf_offset(f, fn.sym->value, true, &fn.offset)))
			all[found++] = fn;
	}
	if (found > 0)
		qsort(all, found, sizeof(*all), function_cmp);
	*n = 0;
	for (size_t i = 0; i < found; i++)
		if (i + 1 == found || all[i].offset != all[i + 1].offset)
			all[(*n)++] = all[i];
	return all;
}

/* The instructions of a function whose offsets match. */
static int add_offsets(const struct request *r, const char *func, uint64_t start,
	const uint8_t *code, size_t n)
{
	struct k_site at = {.entry = ENTRY_uprobe, .pid = r->m->pid};
	char name[20];
	size_t len;

	for (size_t inside = 0; inside < n; inside += len) {
		len = k_insn_len(code + inside, n - inside);
		if (len == 0)
			return 0; /* not known, nor what is behind it */
		snprintf(name, sizeof(name), "%zx", inside);
		if (!en_glob(r->d->name, name) || !can_probe(code + inside, n - inside))
			continue;
		if (++r->pv->noffsets > MAX_OFFSETS)
			return et_err(r->e, D_PROC_CREATEFAIL,
				"more than %d instructions match: name a function, or entry and "
				"return instead of any name",
				MAX_OFFSETS);
		at.offset = start + inside;
		at.caller = caller_at(code, n, inside);
		if (add_probe(r, &at, func, name) < 0)
			return -1;
	}
	return 0;
}

static int add_function(const struct request *r, uint64_t offset, const struct elf_sym *s)
{
	const char *func = r->m->elf.strs + s->name;
	size_t n;
	const uint8_t *code = k_module_code(r->m, offset, &n);
	struct k_site at = {.entry = ENTRY_uprobe, .pid = r->m->pid, .offset = offset};

	if (!can_probe(code, n))
		return 0;
	at.caller = caller_at(code, n, 0);
	if (en_glob(r->d->name, "entry") && add_probe(r, &at, func, "entry") < 0)
		return -1;
	at.entry = ENTRY_uretprobe;
	if (en_glob(r->d->name, "return") && may_return(func) &&
		add_probe(r, &at, func, "return") < 0)
		return -1;
	if (s->type != STT_FUNC || !names_offsets(r->d->name))
		return 0;
	return add_offsets(r, func, offset, code, n < s->size ? n : s->size);
}

static int add_module(struct en *en, void *data, struct k_module *m, const struct d_pdesc *d,
	struct et_error *e)
{
	struct request r = {.en = en, .pv = data, .m = m, .d = d, .e = e};
	size_t n;
	struct function *all = find_functions(r.pv->sites.procs, m, d->func, &n);
	int rc = all != NULL ? 0
			     : et_err(e, ET_NOMEM, "out of memory for the probes of process %d",
				       m->pid);

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = add_function(&r, all[i].offset, all[i].sym);
	free(all);
	return rc;
}

static int init(struct en *en, void **data, struct et_error *e)
{
	static const struct k_site_provider of = {.pv = &pid_provider,
		.add = add_module,
		.programs = K_ENTRY(ENTRY_uprobe) | K_ENTRY(ENTRY_uretprobe),
		.is_pid = true};

	(void)en;
	return k_sites_init(data, sizeof(struct pid), &of)
		       ? 0
		       : et_err(e, ET_NOMEM, "out of memory");
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	struct k_sites *s = data;
	struct k_process *proc;
	size_t len;
	int pid = k_pid_of(d->prov, &len);

	if (pid == 0 && d->prov != NULL && strncmp(d->prov, "pid", 3) == 0 &&
		(d->prov[3] == '\0' || strchr("*?[", d->prov[3]) != NULL ||
			strcmp(d->prov + 3, "0") == 0))
		return et_err(e, D_PDESC_INVAL,
			"function probes belong to a process: pid1234, or pid$target with "
			"-p or -c");
	if (pid == 0 || len != 3 || strncmp(d->prov, "pid", 3) != 0)
		return 0;
	proc = k_process(&s->procs, pid, e);
	return proc != NULL ? k_sites_provide(en, s, proc, d, e) : -1;
}

/* ---- tracing -------------------------------------------------------------------------- */

static bool wants_arena(struct en *en)
{
	return k_names_process(en, true);
}

static bool news(struct en *en, void *data, char *buf, size_t size, bool *ended)
{
	if (en->kernel != NULL && en->kernel->vms_cut) {
		en->kernel->vms_cut = false;
		snprintf(buf, size,
			"it takes too long to look at all Erlang VMs here: some have no Erlang "
			"stacks (-p names one)");
		return true;
	}
	if (en->kernel != NULL && en->kernel->vm_without_stacks != NULL) {
		snprintf(buf, size, "ustack() has no Erlang functions in process %" PRIu64 ": %s",
			(uint64_t)en->opts->target, en->kernel->vm_without_stacks);
		en->kernel->vm_without_stacks = NULL;
		return true;
	}
	return k_sites_news(en, data, buf, size, ended);
}

const struct provider pid_provider = {
	.name = "pid",
	.of_kernel = true,
	.confinable = true,
	.init = init,
	.provide = provide,
	.enable = k_sites_enable,
	.ready = k_sites_ready,
	.look = k_sites_look,
	.start = k_uprobe_attach,
	.stop = k_stop,
	.news = news,
	.fini = k_sites_fini,
	.arena = k_arena,
	.wants_arena = wants_arena,
};
