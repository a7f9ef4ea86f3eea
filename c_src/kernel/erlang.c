/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider erlang<N> in the kernel, of the node whose VM is process N.
 *
 * Probes that tracing inside the node cannot give are uprobes on functions of the VM (a table below:
 * OTP up to 28, whose program has its functions' names); their arguments are made of its registers.
 * All others fire inside the node, by a run of the command that has a script of usdt() there, and
 * get here by the USDT probes of the library in the node: so a script may have them beside system
 * calls. Which nodes: option erlnode, by -N and -p.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "modules.h"
#include "nodes.h"

extern const struct provider kernel_erlang_provider;

#define TYPES(...) ((const char *const[]){__VA_ARGS__})
static const struct def {
	const char *name;
	bool absent; /* inside the node */
	int nargs;
	const char *const *types;
} defs[] = {
#define PROBE(ID, name, route, nargs, ...) {name, false, nargs, TYPES(__VA_ARGS__)},
#define ABSENT(ID, name, why, nargs, ...)  {name, true, nargs, TYPES(__VA_ARGS__)},
#include "../beam/probes.def"
};
enum { NDEFS = sizeof(defs) / sizeof(*defs) };

/* Functions of the VM. */
static const struct vm_fn {
	const char *probe, *symbol; /* a glob: C++ */
	enum k_erlang_kind kind;
	const char *note;
} vm_fns[] = {
	{"message-receive", "_Z*beam_jit_remove_message*", K_MESSAGE_RECEIVE,
		"the size and the token (arg1, arg3 to arg5) are 0"},
	{"copy-struct", "copy_struct_x", K_COPY_STRUCT, NULL},
	{"copy-object", "copy_object_x", K_COPY_OBJECT, "the size (arg1) is 0"},
	{"process-exit_signal", "erts_proc_sig_send_exit", K_EXIT_SIGNAL,
		"signals by exit/2, not those of links; the reason (arg2) is empty"},
	{"port-not_busy", "set_busy_port", K_PORT_NOT_BUSY, NULL},
};
enum { NVM = sizeof(vm_fns) / sizeof(*vm_fns) };

struct place { /* of a probe: pvdata; fn NULL: it fires inside the node */
	const struct vm_fn *fn;
	const char *file;
	uint64_t offset;
	int pid;
	struct k_erlang how;
	char *alias;
	struct place *next; /* all */
};

struct erlang {
	struct k_process *procs;
	struct place *places;
	char **asked; /* descriptions that the nodes were asked for */
	unsigned nasked;
	struct en_probe **inside; /* shared, of events inside nodes */
	unsigned ninside;
	struct k_armed armed;
};

static int init(struct en *en, void **data, struct et_error *e)
{
	(void)en;
	*data = calloc(1, sizeof(struct erlang));
	return *data != NULL ? 0 : et_err(e, "ET_MEMORY", "out of memory");
}

static const struct def *def_of(const char *name)
{
	for (unsigned i = 0; i < NDEFS; i++)
		if (strcmp(defs[i].name, name) == 0)
			return &defs[i];
	return NULL;
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
	if (p != NULL && d != NULL) {
		p->nargs = d->nargs;
		p->argtypes = d->types;
	}
	return p;
}

/* ---- the VM --------------------------------------------------------------------------- */

/*
 * Where a process has the length of its message queue: the function that takes a message off
 * counts it down ("subq $1, offset(register)"), and nothing else.
 */
static uint32_t find_queue_len(const struct k_module *m, uint64_t offset)
{
	int fd = open(m->file, O_RDONLY | O_CLOEXEC);
	unsigned char *code = fd >= 0 ? elf_bytes(fd, offset, 512, 512) : NULL;
	uint32_t at = 0;

	for (unsigned i = 0; code != NULL && i + 8 < 512 && at == 0; i++)
		if ((code[i] & 0xfe) == 0x48 && code[i + 1] == 0x83 && code[i + 2] >> 3 == 0x15 &&
			(code[i + 2] & 7) != 4 && code[i + 7] == 1)
			memcpy(&at, code + i + 3, sizeof(at));
	free(code);
	if (fd >= 0)
		close(fd);
	return at < 4096 ? at : 0;
}

/* How pids are numbered: by the release of the run-time system, and how many there may be (+P). */
static void numbering(int pid, const struct k_module *m, struct k_erlang *how)
{
	const char *erts = strstr(m->path, "/erts-");
	int major = erts != NULL ? atoi(erts + 6) : 0;
	unsigned long limit = major >= 15 ? 1048576 : 262144;
	char name[64], line[4096];
	ssize_t n = 0;
	int fd;

	how->bits = major < 14 ? 15 : 28;
	snprintf(name, sizeof(name), "/proc/%d/cmdline", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	line[n > 0 ? n : 0] = '\0';
	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(line + i) + 1)
		if (strncmp(line + i, "-P", 2) == 0 || strncmp(line + i, "+P", 2) == 0)
			limit = strtoul(line[i + 2] != '\0' ? line + i + 2 : line + i + 3, NULL, 10);
	for (how->places = 10; how->places < 27 && 1UL << how->places < limit; how->places++)
		;
	if (major < 14)
		how->places = 0;
}

static int add_vm(struct en *en, struct erlang *s, int pid, const struct d_pdesc *d,
	struct et_error *e)
{
	struct k_process *proc;
	struct k_module *m = NULL;
	const struct elf *f;
	char prov[32];

	snprintf(prov, sizeof(prov), "erlang%d", pid);
	if (!en_glob(d->prov, prov))
		return 0;
	proc = k_process(&s->procs, pid, e);
	if (proc == NULL)
		return -1;
	for (unsigned i = 0; i < proc->n; i++)
		if (proc->mods[i].main)
			m = &proc->mods[i];
	f = m != NULL ? k_module_elf(m) : NULL;
	for (size_t i = 0; f != NULL && i < f->nsyms; i++)
		for (unsigned k = 0; k < NVM; k++) {
			struct place at = {.fn = &vm_fns[k], .file = m->file, .pid = pid};
			struct en_probe *p;

			if (f->syms[i].type != STT_FUNC || !en_glob(d->name, vm_fns[k].probe) ||
				!en_glob(vm_fns[k].symbol, f->strs + f->syms[i].name) ||
				!elf_offset(f, f->syms[i].value, true, &at.offset))
				continue;
			numbering(pid, m, &at.how);
			at.how.kind = vm_fns[k].kind;
			if (at.how.kind == K_MESSAGE_RECEIVE)
				at.how.queue_len = find_queue_len(m, at.offset);
			p = add(en, s, &at, prov, "", "", vm_fns[k].probe);
			if (p == NULL)
				return et_err(e, "ET_MEMORY", "out of memory");
			p->note = vm_fns[k].note;
		}
	return 0;
}

/* ---- which nodes ---------------------------------------------------------------------- */

static bool is_vm(int pid)
{
	char name[64], exe[4096];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", pid);
	n = readlink(name, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	return strstr(exe, "/beam.smp") != NULL;
}

struct listing {
	struct en *en;
	struct erlang *s;
	const struct d_pdesc *d;
	struct et_error *e;
	bool vm; /* its process is all that is wanted */
	int last;
};

static int on_listed(void *arg, const char *prov, const char *mod, const char *func, const char *name)
{
	struct listing *l = arg;
	struct place at = {0};
	const char *arity = strrchr(func, '/');
	const struct def *d = def_of(name);
	struct en_probe *p;
	size_t len;
	int pid = k_pid_of(prov, &len);

	if (l->vm) {
		if (pid != l->last && add_vm(l->en, l->s, pid, l->d, l->e) < 0)
			return -1;
		l->last = pid;
		return 0;
	}
	if (d != NULL && d->absent)
		return 0;
	at.pid = pid;
	if (arity != NULL)
		at.alias = strndup(func, (size_t)(arity - func));
	p = add(l->en, l->s, &at, prov, mod, func, name);
	if (p == NULL)
		return et_err(l->e, "ET_MEMORY", "out of memory for the probes of a node");
	if (p->func_alias == NULL)
		p->func_alias = ((struct place *)p->pvdata)->alias;
	return 0;
}

static int provide_vm(struct en *en, struct erlang *s, const struct d_pdesc *d, struct et_error *e)
{
	struct listing l = {.en = en, .s = s, .d = d, .e = e, .vm = true};
	const struct et_options *o = en->opts;
	struct dirent *f;
	DIR *dir;
	int rc = 0;

	for (uint64_t i = 0; i < o->val[OPT_ERLNODE]; i++) {
		int pid = atoi(o->str[OPT_ERLNODE][i]);

		if (pid == 0) /* names: which processes are they? */
			return k_nodes_list(o, "erlang*:::process-spawn", on_listed, &l, e);
		if (add_vm(en, s, pid, d, e) < 0)
			return -1;
	}
	if (o->val[OPT_ERLNODE] > 0 || (dir = opendir("/proc")) == NULL)
		return 0;
	while (rc == 0 && (f = readdir(dir)) != NULL)
		if (isdigit((unsigned char)f->d_name[0]) && is_vm(atoi(f->d_name)))
			rc = add_vm(en, s, atoi(f->d_name), d, e);
	closedir(dir);
	return rc;
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
	bool vm = false, inside = false;
	char *desc;

	/* nobody's nodes are looked at unless the command says which */
	if (en->opts->inside || !en->opts->set[OPT_ERLNODE] || d->id != 0 ||
		strncmp(d->prov, "erlang", 6) != 0)
		return 0;
	for (unsigned i = 0; i < NVM; i++)
		vm |= en_glob(d->name, vm_fns[i].probe);
	for (unsigned i = 0; i < NDEFS; i++)
		inside |= !defs[i].absent && en_glob(d->name, defs[i].name);
	inside |= en_glob(d->name, "user_trace-n0"); /* there are many */
	if (vm && d->mod[0] == '\0' && d->func[0] == '\0' && provide_vm(en, data, d, e) < 0)
		return -1;
	if (!inside)
		return 0;
	if (asprintf(&desc, "%s:%s:%s:%s", d->prov, d->mod, d->func, d->name) < 0)
		return et_err(e, "ET_MEMORY", "out of memory");
	return is_asked(data, desc) ? 0 : k_nodes_list(en->opts, desc, on_listed, &l, e);
}

/* ---- tracing -------------------------------------------------------------------------- */

static int enable_vm(struct en *en, struct en_probe *p, struct en_probe *shared, struct et_error *e)
{
	const struct place *l = p->pvdata;
	struct k_place at = {.entry = "k_erlang", .pid = l->pid, .offset = l->offset};
	struct k_erlang *how = en_alloc(en, sizeof(*how));

	if (how == NULL)
		return et_err(e, "ET_MEMORY", "out of memory for probes of the kernel");
	*how = l->how;
	shared->pvdata = how;
	return k_uprobe_add(en, l->file, &at, shared, e);
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	struct en_probe *shared = k_share_probe(en, p, e), **more;
	const struct place *l = p->pvdata;
	struct erlang *s = data;

	if (shared == NULL)
		return -1;
	if (l->fn != NULL)
		return enable_vm(en, p, shared, e);
	more = realloc(s->inside, (s->ninside + 1) * sizeof(*more));
	if (more == NULL)
		return et_err(e, "ET_MEMORY", "out of memory for the probes of a node");
	s->inside = more;
	s->inside[s->ninside++] = shared;
	return 0;
}

/* The probes by their hashes, as events bring them. */
static int make_table(struct en *en, const struct erlang *s, struct et_error *e)
{
	struct k_root *r = en->kernel->root;
	uint64_t size = 64;

	while (size < 4 * (uint64_t)s->ninside)
		size *= 2;
	r->erlang = en_alloc(en, size * sizeof(*r->erlang));
	if (r->erlang == NULL)
		return et_err(e, "ET_MEMORY", "out of memory for the probes of a node");
	r->erlang_mask = size - 1;
	for (unsigned i = 0; i < s->ninside; i++) {
		uint64_t at = s->inside[i]->hash & r->erlang_mask;

		while (r->erlang[at] != NULL)
			at = (at + 1) & r->erlang_mask;
		r->erlang[at] = s->inside[i];
	}
	return 0;
}

/* What runs inside the nodes. Each probe is named once, so that it fires once. */
static char *node_script(const struct erlang *s)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	for (unsigned i = 0; i < s->ninside; i++) {
		const struct en_probe *p = s->inside[i];

		fprintf(f, "%s%s:%s:%s:%s", i > 0 ? ",\n" : "", p->prov->text, p->mod->text,
			p->func->text, p->name->text);
	}
	fputs("\n{ usdt(); }\n", f);
	return fclose(f) == 0 ? text : NULL;
}

struct attaching {
	struct en *en;
	const struct erlang *s;
	const char *file;
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

static int on_note(void *arg, const char *name, uint64_t offset, uint64_t semaphore)
{
	struct attaching *a = arg;
	struct k_place at = {
		.entry = "k_erlang_usdt", .pid = a->pid, .offset = offset, .ref_ctr = semaphore};
	size_t len;

	for (unsigned i = 0; i < a->s->ninside; i++) {
		struct en_probe *p = a->s->inside[i];

		if (!same_name(name, p->name->text) || k_pid_of(p->prov->text, &len) != a->pid)
			continue;
		a->n++;
		return k_uprobe_add(a->en, a->file, &at, p, a->e);
	}
	return 0;
}

static int add_notes(struct en *en, struct erlang *s, int pid, struct et_error *e)
{
	struct attaching a = {.en = en, .s = s, .pid = pid, .e = e};
	struct k_process *fresh = NULL, *proc = k_process(&fresh, pid, e);

	if (proc == NULL)
		return -1;
	/* one that was brought there before may be mapped still: only the one that runs counts */
	for (unsigned i = 0; i < proc->n; i++) {
		if (strncmp(proc->mods[i].name, "erltrace", 8) != 0)
			continue;
		a.file = proc->mods[i].file;
		if (k_notes(a.file, "erlang", on_note, &a) < 0) {
			k_processes_free(fresh);
			return -1;
		}
	}
	k_processes_free(fresh);
	return a.n > 0 ? 0
		       : et_err(e, "ET_NODE",
				 "the library in the node of process %d has no USDT probes: it is of "
				 "another version of erltrace, or of another machine",
				 pid);
}

static int arm(struct en *en, struct erlang *s, struct et_error *e)
{
	char *script = node_script(s);
	size_t len;
	int rc;

	if (script == NULL)
		return et_err(e, "ET_MEMORY", "out of memory");
	rc = k_nodes_arm(en->opts, script, &s->armed, e);
	free(script);
	for (unsigned i = 0; rc == 0 && i < s->ninside; i++) {
		int pid = k_pid_of(s->inside[i]->prov->text, &len);
		unsigned k = 0;

		while (k < i && k_pid_of(s->inside[k]->prov->text, &len) != pid)
			k++;
		if (k == i)
			rc = add_notes(en, s, pid, e);
	}
	return rc;
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	struct erlang *s = data;

	if (s->ninside > 0 && (make_table(en, s, e) < 0 || arm(en, s, e) < 0))
		return -1;
	return k_uprobe_load(en, NULL, e);
}

static void stop(struct en *en, void *data)
{
	struct erlang *s = data;

	k_detach(en);
	k_nodes_disarm(&s->armed);
}

static void fini(struct en *en, void *data)
{
	struct erlang *s = data;
	struct place *l;

	k_close(en);
	if (s == NULL)
		return;
	k_nodes_disarm(&s->armed);
	while ((l = s->places) != NULL) {
		s->places = l->next;
		free(l->alias);
		free(l);
	}
	for (unsigned i = 0; i < s->nasked; i++)
		free(s->asked[i]);
	free(s->asked);
	free(s->inside);
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
};
