/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of programs without frame pointers: which processes have what code where, for bpf/walk.c,
 * and the tables of that (unwind_tables.c). When tracing begins we look at the processes that the
 * script names or, if it names none, at all that there are. Meanwhile the kernel's half notes a
 * process that it does not know, or that has code it does not know, and we look at it: at once, and
 * more and more seldom if there is nothing new, up to once a second. Where there is no table,
 * stacks go by frame pointers.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "engine/clock.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/region.h"
#include "engine/state.h"
#include "kernel.h"
#include "modules.h"
#include "proc_file.h"
#include "prog/prog.h"
#include "unwind_tables.h"

extern const struct provider unwind_provider;

#define LONGEST 500000000ULL /* ns that we look at processes which nobody has named */
#define SOONEST 5000000ULL   /* ns between two looks at a process */
#define SELDOM	1000000000ULL
enum { MOST_MAPPINGS = 4096, SIZES = 13 }; /* of a process; powers of two up to that */
enum { PAGE = 4096 };
#define GONE UINT32_MAX /* instead of a pid: there was one here */

struct spare { /* a list of mappings that is not used any more */
	struct spare *next;
};
struct k_unwinder {
	struct k_unwind *shared;
	struct k_unwind_tables tables;
	struct spare *free[SIZES];
	/* given back since the last look: a walk may still use them */
	struct spare *given[SIZES];
	uint64_t reused_at, forgot_at;
	struct {
		uint64_t at, wait; /* not before; if there is nothing new, so long after */
	} next[K_UNWIND_SLOTS];	   /* look, of the process in the slot */
	bool told;
};

/* ---- lists of mappings ------------------------------------------------------------------ */

static unsigned power_of(uint64_t n)
{
	unsigned power = 0;

	while (1ULL << power < n)
		power++;
	return power;
}

static struct k_mappings *new_list(struct k_unwinder *u, uint64_t n)
{
	unsigned power = power_of(n);
	struct spare *s = u->free[power];

	if (s != NULL) {
		u->free[power] = s->next;
		return (struct k_mappings *)(void *)s;
	}
	return k_pool_alloc(
		&u->tables, sizeof(struct k_mappings) + (sizeof(struct k_mapping) << power));
}

static void give_back(struct k_unwinder *u, uint64_t list)
{
	struct spare *s = (struct spare *)(uintptr_t)list;
	unsigned power;

	if (s == NULL)
		return;
	power = power_of(((struct k_mappings *)(void *)s)->n);
	s->next = u->given[power];
	u->given[power] = s;
}

/* Nobody walks by them any more: a walk takes far less than a second. */
static void reuse(struct k_unwinder *u)
{
	for (unsigned i = 0; i < SIZES; i++)
		while (u->given[i] != NULL) {
			struct spare *s = u->given[i];

			u->given[i] = s->next;
			s->next = u->free[i];
			u->free[i] = s;
		}
}

/* ---- what a process has mapped ---------------------------------------------------------- */

struct found {
	struct k_mapping *all;
	unsigned n;
};

/* What an offset of the file is in its table. */
static uint64_t base_of(const struct k_unwind_file *f, uint64_t offset)
{
	for (unsigned i = 0; i < f->elf.nload; i++) {
		const Elf64_Phdr *l = &f->elf.load[i];

		if ((l->p_flags & PF_X) && offset >= (l->p_offset & -(uint64_t)PAGE) &&
			offset < l->p_offset + l->p_filesz)
			return offset - l->p_offset + l->p_vaddr - f->base;
	}
	return UINT64_MAX / 2; /* in no table */
}

/*
 * A file by its name, below the root of the process or (a chroot) below ours; or, if that is
 * another one now, by the mapping, which takes root.
 */
static int open_mapped(int pid, const char *path, const char *range, uint64_t inode)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), cut = sizeof(deleted) - 1;
	bool is_deleted = len >= cut && strcmp(path + len - cut, deleted) == 0;
	int fd = is_deleted ? -1 : fi_open_in(pid, path);
	char name[128];
	struct stat st;

	if (fd >= 0)
		return fd;
	if (!is_deleted && (fd = fi_open(path)) >= 0) {
		if (fstat(fd, &st) == 0 && st.st_ino == inode)
			return fd;
		close(fd);
	}
	snprintf(name, sizeof(name), "/proc/%d/map_files/%s", pid, range);
	return fi_open(name);
}

static const struct k_unwind_file *file_of(struct k_unwinder *u, int pid, const char *path,
	const char *range, uint64_t inode, size_t size)
{
	const struct k_unwind_file *f = NULL;
	int fd;

	if (strcmp(path, "[vdso]") == 0)
		return k_unwind_vdso(&u->tables, size);
	if (inode == 0 || path[0] != '/')
		return NULL;
	fd = open_mapped(pid, path, range, inode);
	if (fd >= 0) {
		f = k_unwind_file(&u->tables, fd);
		close(fd);
	}
	return f;
}

/* A line of maps: "start-end perms offset device inode path". Code without a table is merged. */
static bool add_mapping(struct k_unwinder *u, struct found *to, int pid, char *line)
{
	struct k_mapping m = {0}, *last = to->n > 0 ? &to->all[to->n - 1] : NULL;
	const struct k_unwind_file *f;
	char range[64], perms[8];
	uint64_t offset, inode;
	int path = 0;

	if (sscanf(line, "%63s %7s %" SCNx64 " %*s %" SCNu64 " %n", range, perms, &offset, &inode,
		    &path) != 4 ||
		strchr(perms, 'x') == NULL ||
		sscanf(range, "%" SCNx64 "-%" SCNx64, &m.start, &m.end) != 2)
		return true;
	f = file_of(u, pid, path > 0 ? line + path : "", range, inode, m.end - m.start);
	if (f != NULL && f->table != NULL) {
		m.table = (uint64_t)(uintptr_t)f->table;
		m.base = base_of(f, offset);
	}
	if (last != NULL && last->end == m.start && last->table == 0 && m.table == 0) {
		last->end = m.end;
		return true;
	}
	if (to->n == MOST_MAPPINGS || !ARRAY_ROOM(to->all, to->n))
		return false;
	to->all[to->n++] = m;
	return true;
}

static void read_mappings(struct k_unwinder *u, struct found *to, int pid)
{
	char name[64], *line = NULL;
	size_t room = 0;
	ssize_t n;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	while (f != NULL && (n = getline(&line, &room, f)) > 0) {
		line[n - 1] = '\0';
		if (!add_mapping(u, to, pid, line))
			break;
	}
	free(line);
	if (f != NULL)
		fclose(f);
}

/* ---- processes -------------------------------------------------------------------------- */

static struct k_walked *slot_of(struct k_unwinder *u, uint32_t pid)
{
	uint64_t at = k_walked_slot(pid);
	struct k_walked *spare = NULL;

	for (unsigned i = 0; i < K_UNWIND_TRIES; i++, at = (at + 1) % K_UNWIND_SLOTS) {
		struct k_walked *p = &u->shared->process[at];

		if (p->pid == pid)
			return p;
		if (spare == NULL && (p->pid == 0 || p->pid == GONE))
			spare = p;
		if (p->pid == 0)
			break;
	}
	return spare;
}

static void forget(struct k_unwinder *u, struct k_walked *p)
{
	uint64_t list = p->mappings;

	atomic_store((_Atomic(uint32_t) *)&p->pid, GONE);
	p->mappings = p->mm = 0;
	give_back(u, list);
}

static bool is_gone(int pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static void forget_ended(struct k_unwinder *u)
{
	uint64_t now = en_now();

	if (now - u->forgot_at < SELDOM)
		return;
	u->forgot_at = now;
	for (unsigned i = 0; i < K_UNWIND_SLOTS; i++) {
		struct k_walked *p = &u->shared->process[i];

		if (p->pid != 0 && p->pid != GONE && is_gone((int)p->pid))
			forget(u, p);
	}
}

static bool is_vm(const struct k_root *r, uint32_t pid)
{
	for (unsigned i = 0; r->vm_stacks != NULL && i < K_VM_SLOTS; i++)
		if (r->vm_stacks[i].pid == pid)
			return true;
	return false;
}

static bool is_known(const struct k_walked *p, uint32_t pid, const struct found *f)
{
	const struct k_mappings *m = (const struct k_mappings *)(uintptr_t)p->mappings;

	return p->pid == pid && m != NULL && m->n == f->n &&
	       (f->n == 0 || memcmp(m->of, f->all, f->n * sizeof(*f->all)) == 0);
}

static void look_later(struct k_unwinder *u, const struct k_walked *p, bool news)
{
	size_t slot = (size_t)(p - u->shared->process);
	uint64_t wait = news ? SOONEST : 2 * u->next[slot].wait;

	u->next[slot].wait = wait < SELDOM ? wait : SELDOM;
	u->next[slot].at = en_now() + u->next[slot].wait;
}

/* The kernel's half sees all of the new list or all of the old one. */
static void set_mappings(struct en *en, uint32_t pid, const struct found *f)
{
	struct k_unwinder *u = en->kernel->unwinder;
	struct k_walked *p = slot_of(u, pid);
	struct k_mappings *list;
	uint64_t old;

	if (p == NULL) {
		forget_ended(u);
		p = slot_of(u, pid);
	}
	if (p == NULL)
		return;
	if (is_known(p, pid, f)) {
		p->mm = 0; /* it may be another process */
		look_later(u, p, false);
		return;
	}
	list = new_list(u, f->n);
	if (list == NULL)
		return;
	list->n = f->n;
	if (f->n > 0)
		memcpy(list->of, f->all, f->n * sizeof(*f->all));
	old = p->mappings;
	p->is_vm = is_vm(en->kernel->root, pid);
	p->mm = 0;
	atomic_store((_Atomic(uint64_t) *)&p->mappings, (uint64_t)(uintptr_t)list);
	atomic_store((_Atomic(uint32_t) *)&p->pid, pid);
	give_back(u, old);
	look_later(u, p, true);
}

static void look_at(struct en *en, int pid)
{
	struct found found = {0};

	if (pid <= 0)
		return;
	read_mappings(en->kernel->unwinder, &found, pid);
	if (found.n > 0 || !is_gone(pid)) /* none: it is not ours to see, now */
		set_mappings(en, (uint32_t)pid, &found);
	free(found.all);
}

/* ---- when tracing begins ---------------------------------------------------------------- */

static bool is_wanted(const struct en *en)
{
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		if (en->prog->clauses[i]->uses.ustack)
			return true;
	return false;
}

/* The processes that descriptions name, and the VMs that are known. false: there are none. */
static bool look_at_named(struct en *en)
{
	const struct k_root *r = en->kernel->root;
	bool any = en->opts->target > 0;
	size_t len;

	look_at(en, (int)en->opts->target);
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		for (const struct d_pdesc *d = en->prog->clauses[i]->descs; d != NULL;
			d = d->next) {
			int pid = k_pid_of(d->prov, &len);

			look_at(en, pid);
			any |= pid > 0;
		}
	for (unsigned i = 0; r->vm_stacks != NULL && i < K_VM_SLOTS; i++)
		look_at(en, (int)r->vm_stacks[i].pid);
	return any || r->only_vms;
}

static void look_at_all(struct en *en)
{
	uint64_t end = en_now() + LONGEST;
	DIR *d = opendir("/proc");

	for (const struct dirent *de; d != NULL && (de = readdir(d)) != NULL && en_now() < end;)
		look_at(en, atoi(de->d_name));
	if (d != NULL)
		closedir(d);
}

int k_unwind_find(struct en *en, struct et_error *e)
{
	struct kernel *k = en->kernel;
	struct k_unwinder *u;

	if (!is_wanted(en))
		return 0;
	u = k->unwinder = calloc(1, sizeof(*u));
	if (u != NULL && k_tables_init(en, &u->tables))
		u->shared = en_alloc(en, sizeof(*u->shared));
	if (u == NULL || u->shared == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the stacks of programs");
	u->shared->rules = (uint64_t)(uintptr_t)u->tables.rules;
	if (!look_at_named(en))
		look_at_all(en);
	k->root->unwind = u->shared;
	return 0;
}

void k_unwind_free(struct k_unwinder *u)
{
	if (u == NULL)
		return;
	k_tables_free(&u->tables);
	free(u);
}

/* ---- while tracing ---------------------------------------------------------------------- */

/* The processes that the kernel's half has noted. */
static void attend(struct en *en, void *data)
{
	struct k_unwinder *u = en->kernel != NULL ? en->kernel->unwinder : NULL;
	uint64_t now = en_now();

	(void)data;
	if (u == NULL || u->shared == NULL)
		return;
	if (now - u->reused_at > SELDOM) {
		u->reused_at = now;
		reuse(u);
	}
	for (unsigned i = 0; i < K_MISSED; i++) {
		_Atomic(uint32_t) *missed = (_Atomic(uint32_t) *)&u->shared->missed[i];
		uint32_t pid = atomic_load(missed);
		const struct k_walked *p = pid != 0 ? slot_of(u, pid) : NULL;

		if (pid == 0 ||
			(p != NULL && p->pid == pid && now < u->next[p - u->shared->process].at))
			continue;
		atomic_store(missed, 0);
		look_at(en, (int)pid);
	}
}

static bool news(struct en *en, void *data, char *buf, size_t size, bool *ended)
{
	struct k_unwinder *u = en->kernel != NULL ? en->kernel->unwinder : NULL;

	(void)data;
	(void)ended;
	if (u == NULL || !u->tables.cut || u->told)
		return false;
	u->told = true;
	snprintf(buf, size,
		"ustack() does not know how to walk the stacks of all programs: there is room for "
		"%zu MB of tables, and some files have none",
		u->tables.size >> 20);
	return true;
}

const struct provider unwind_provider = {.name = "unwind", .attend = attend, .news = news};
