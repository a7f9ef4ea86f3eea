/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider usdt: probes that programs and libraries carry themselves, as SystemTap notes.
 * provider<PID>:module:function:name, with - for each __ of the name. The kernel counts up the
 * semaphore of a probe that has one while it is traced. The note describes in text where the
 * arguments are; of that a table is made, which the kernel's half reads.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "kernel.h"
#include "sites.h"
#include "symbols/sdt_notes.h"
#include "usdt_arg.h"

enum { MAX_ARGS = 10 };

extern const struct provider usdt_provider;

/* ---- where arguments are -------------------------------------------------------------- */

/* Which word of the registers as the kernel has them: bpf/entries.c. */
static int reg_of(const char *name, size_t len)
{
	static const char *const regs[][4] = {{"r15", "r15d", "r15w", "r15b"},
		{"r14", "r14d", "r14w", "r14b"}, {"r13", "r13d", "r13w", "r13b"},
		{"r12", "r12d", "r12w", "r12b"}, {"rbp", "ebp", "bp", "bpl"},
		{"rbx", "ebx", "bx", "bl"}, {"r11", "r11d", "r11w", "r11b"},
		{"r10", "r10d", "r10w", "r10b"}, {"r9", "r9d", "r9w", "r9b"},
		{"r8", "r8d", "r8w", "r8b"}, {"rax", "eax", "ax", "al"}, {"rcx", "ecx", "cx", "cl"},
		{"rdx", "edx", "dx", "dl"}, {"rsi", "esi", "si", "sil"},
		{"rdi", "edi", "di", "dil"}, {"", "", "", ""}, {"rip", "eip", "", ""},
		{"", "", "", ""}, {"", "", "", ""}, {"rsp", "esp", "sp", "spl"}};

	for (int r = 0; r < (int)(sizeof(regs) / sizeof(*regs)); r++)
		for (int w = 0; w < 4; w++)
			if (len > 0 && strlen(regs[r][w]) == len &&
				memcmp(regs[r][w], name, len) == 0)
				return r;
	return -1;
}

/* "%reg" at *p; -1: none such. */
static int take_reg(const char **p)
{
	const char *name = *p + 1;
	size_t len = 0;

	if (**p != '%')
		return -1;
	while (isalnum((unsigned char)name[len]))
		len++;
	*p = name + len;
	return reg_of(name, len);
}

/* Numbers and names with + and - between them; names count from the probe's site. */
static bool take_sum(const char **p, struct elf *f, uint64_t pc, int64_t *sum, bool *named)
{
	const char *s = *p;
	char *end;
	size_t len;

	*sum = 0;
	*named = false;
	while (*s != '\0' && *s != '(' && *s != ' ') {
		const struct elf_sym *sym;

		if (isdigit((unsigned char)*s) ||
			((*s == '-' || *s == '+') && isdigit((unsigned char)s[1]))) {
			*sum += (int64_t)strtoull(s, &end, 0);
			s = end;
			continue;
		}
		s += *s == '+';
		len = strcspn(s, "+-( ");
		sym = elf_named(f, s, len);
		if (len == 0 || sym == NULL)
			return false;
		*sum += (int64_t)(sym->value - pc);
		*named = true;
		s += len;
	}
	*p = s;
	return true;
}

/* disp(base,index,scale), each of them left out or not; behind sizes and the @. */
static bool take_memory(const char *p, struct elf *f, uint64_t pc, struct k_usdt_arg *a)
{
	bool named;
	int base = -1, index = -1, scale = 1;

	if (!take_sum(&p, f, pc, &a->disp, &named))
		return false;
	if (*p == '(') {
		p++;
		if (*p == '%' && (base = take_reg(&p)) < 0)
			return false;
		if (*p == ',') {
			p++;
			if ((index = take_reg(&p)) < 0)
				return false;
		}
		if (*p == ',')
			scale = (int)strtol(p + 1, (char **)&p, 10);
		if (*p != ')' || (scale != 1 && scale != 2 && scale != 4 && scale != 8))
			return false;
	}
	if (named && base < 0)
		base = reg_of("rip", 3); /* where the site itself is in memory */
	a->kind = K_ARG_MEMORY;
	a->base = (uint8_t)(base + 1);
	a->index = (uint8_t)(index + 1);
	a->scale = (uint8_t)scale;
	return true;
}

/* "-4@%eax", "8@$17", "8@-16(%rbp,%rax,4)". false: of a kind that is not known. */
static bool take_arg(const char *p, struct elf *f, uint64_t pc, struct k_usdt_arg *a)
{
	char *end;
	long size = strtol(p, &end, 10);
	int reg;

	*a = (struct k_usdt_arg){0};
	if (end == p) {
		size = 8;
	} else if (*end != '@') {
		return false; /* floating point */
	} else {
		p = end + 1;
	}
	a->size = (int8_t)size;
	if (labs(size) != 1 && labs(size) != 2 && labs(size) != 4 && labs(size) != 8)
		return false;
	if (*p == '$') {
		a->kind = K_ARG_CONSTANT;
		a->disp = (int64_t)strtoull(p + 1, NULL, 0);
		return true;
	}
	if (*p != '%')
		return take_memory(p, f, pc, a);
	a->high = p[1] != '\0' && p[2] == 'h'; /* %ah: the second byte of %ax */
	if (a->high)
		reg = p[1] == 'a' ? reg_of("al", 2) : p[1] == 'b' ? reg_of("bl", 2)
			: p[1] == 'c' ? reg_of("cl", 2) : reg_of("dl", 2);
	else
		reg = take_reg(&p);
	a->kind = K_ARG_REGISTER;
	a->base = (uint8_t)(reg + 1);
	return reg >= 0;
}

static const char *type_of(const struct k_usdt_arg *a)
{
	switch (a->size) {
	case -1: return "int8_t";
	case 1: return "uint8_t";
	case -2: return "int16_t";
	case 2: return "uint16_t";
	case -4: return "int32_t";
	case 4: return "uint32_t";
	case -8: return "int64_t";
	default: return "uint64_t";
	}
}

/* How many there are; of those that cannot be had, kind is 0. */
static int take_args(const char *text, struct elf *f, uint64_t pc, struct k_usdt_arg *args)
{
	int n = 0;

	for (text += strspn(text, " "); *text != '\0' && n < MAX_ARGS; text += strspn(text, " ")) {
		if (!take_arg(text, f, pc, &args[n]))
			args[n].kind = K_ARG_NONE;
		n++;
		text += strcspn(text, " ");
	}
	return n;
}

/* ---- making probes -------------------------------------------------------------------- */

static int set_types(struct en_probe *p, const struct k_usdt_arg *args, int n)
{
	char **types = calloc((size_t)n + 1, sizeof(*types));

	for (int i = 0; types != NULL && i < n; i++)
		types[i] = strdup(type_of(&args[i]));
	p->nargs = types != NULL ? n : 0;
	p->argtypes = (const char *const *)types;
	p->own_types = types != NULL;
	return types != NULL ? 0 : -1;
}

struct request { /* for the probes of a module */
	struct en *en;
	struct k_sites *sites;
	struct k_module *m;
	const struct d_pdesc *d;
	struct et_error *e;
};

static int on_note(void *arg, const struct sdt_note *n)
{
	const struct request *r = arg;
	const struct elf *f = k_module_elf(r->m);
	const struct elf_sym *s = elf_symbol(f, n->pc);
	const char *func = s != NULL ? f->strs + s->name : "";
	struct k_site at = {.entry = ENTRY_usdt, .pid = r->m->pid};
	struct k_usdt_arg args[MAX_ARGS] = {0};
	char prov[128], name[256];
	struct en_probe *p;
	size_t len = 0;
	int nargs;

	for (const char *c = n->name; *c != '\0' && len < sizeof(name) - 1; c++) {
		name[len++] = c[0] == '_' && c[1] == '_' ? '-' : *c;
		c += c[0] == '_' && c[1] == '_';
	}
	name[len] = '\0';
	snprintf(prov, sizeof(prov), "%s%d", n->prov, at.pid);
	if (!en_glob(r->d->prov, prov) || !en_glob(r->d->func, func) ||
		!en_glob(r->d->name, name) || !elf_offset(f, n->pc, true, &at.offset) ||
		(n->semaphore != 0 && !elf_offset(f, n->semaphore, false, &at.ref_ctr)))
		return 0;
	nargs = take_args(n->args, &r->m->elf, n->pc, args);
	p = en_probe_add(r->en, &usdt_provider, NULL, prov, r->m->name, func, name);
	if (p == NULL || (p->pvdata == NULL && set_types(p, args, nargs) < 0))
		return et_err(
			r->e, ET_NOMEM, "out of memory for the probes of process %d", at.pid);
	p->mod_aliases = r->m->aliases;
	return k_sites_add(r->sites, p, r->m, &at, args, sizeof(args), r->e);
}

static int add_module(struct en *en, void *data, struct k_module *m, const struct d_pdesc *d,
	struct et_error *e)
{
	/* a node's erlang probes are the provider erlang's, whose library has notes too */
	bool ours = strncmp(m->name, "erltrace", 8) == 0;
	struct request r = {.en = en, .sites = data, .m = m, .d = d, .e = e};
	int fd = ours ? -1 : k_module_open(m), rc;

	if (fd < 0)
		return 0;
	rc = sdt_notes(fd, on_note, &r);
	close(fd);
	return rc;
}

static int init(struct en *en, void **data, struct et_error *e)
{
	static const struct k_site_provider of = {
		.pv = &usdt_provider, .add = add_module, .programs = K_ENTRY(ENTRY_usdt)};

	(void)en;
	return k_sites_init(data, sizeof(struct k_sites), &of)
		       ? 0
		       : et_err(e, ET_NOMEM, "out of memory");
}

static int provide_in(
	struct en *en, struct k_sites *s, int pid, const struct d_pdesc *d, struct et_error *e)
{
	struct et_error why = {0};
	struct k_process *proc = k_process(&s->procs, pid, &why);

	if (proc == NULL && et_err_is(&why, D_PROC_GRAB)) {
		*e = why;
		return -1;
	}
	/* where there is none, a provider of another kind may be called so */
	return proc != NULL ? k_sites_provide(en, s, proc, d, e) : 0;
}

/* provider<N>; a glob is of the processes of -p. */
static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	char **procs = en->opts->str[OPT_USDTPROC];
	size_t len;
	int pid = k_pid_of(d->prov, &len);

	if (d->prov == NULL || (len == 3 && strncmp(d->prov, "pid", 3) == 0))
		return 0;
	/* where erlang probes are the nodes' own, those of a VM take its name as the module */
	if (en->opts->set[OPT_ERLNODE] && strncmp(d->prov, "erlang", 6) == 0 &&
		(d->mod == NULL || d->mod[0] == '\0'))
		return 0;
	if (pid != 0)
		return len > 0 ? provide_in(en, data, pid, d, e) : 0;
	if (d->prov[strcspn(d->prov, "*?[")] == '\0')
		return 0;
	for (uint64_t i = 0; procs != NULL && i < en->opts->val[OPT_USDTPROC]; i++)
		if (provide_in(en, data, atoi(procs[i]), d, e) < 0)
			return -1;
	return 0;
}

const struct provider usdt_provider = {
	.name = "usdt",
	.of_kernel = true,
	.confinable = true,
	.init = init,
	.provide = provide,
	.enable = k_sites_enable,
	.ready = k_sites_ready,
	.look = k_sites_look,
	.start = k_uprobe_attach,
	.stop = k_stop,
	.news = k_sites_news,
	.fini = k_sites_fini,
	.arena = k_arena,
};
