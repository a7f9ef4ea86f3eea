/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program and the libraries of a process: the files that it has mapped executable, from
 * /proc/PID/maps. They are opened through /proc/PID, so that a process in a container, or one whose
 * files were replaced since it started, shows what it really runs.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "proc_file.h"
#include "engine/provider.h"
#include "modules.h"

#define DELETED " (deleted)"
#define MAX_CODE (256u << 20) /* of a module */
enum { MAX_MODULES = 4096 };

int k_pid_of(const char *prov, size_t *len)
{
	size_t n = prov != NULL ? strlen(prov) : 0, at = n;
	long pid;

	while (at > 0 && isdigit((unsigned char)prov[at - 1]))
		at--;
	*len = at;
	if (at == n || n - at > 10)
		return 0;
	pid = strtol(prov + at, NULL, 10);
	return pid > 0 && pid <= INT_MAX ? (int)pid : 0;
}

bool k_module_matches(const struct k_module *m, const char *glob)
{
	if (en_glob(glob, m->name))
		return true;
	for (const char *a = m->aliases; *a != '\0'; a += strlen(a) + 1)
		if (en_glob(glob, a))
			return true;
	return false;
}

static bool is_there(const struct k_process *p, const char *path)
{
	for (unsigned i = 0; i < p->n; i++)
		if (strcmp(p->mods[i].path, path) == 0)
			return true;
	return false;
}

/* What it may be called besides: the program a.out, libc.so.6 libc and libc.so. */
static char *aliases_of(const char *name, bool main)
{
	const char *so = strstr(name, ".so");
	size_t len = so != NULL ? (size_t)(so - name) : 0;
	char *all = calloc(1, sizeof("a.out") + 2 * (len + sizeof(".so")) + 1), *to = all;

	if (all == NULL)
		return NULL;
	if (main)
		to += sprintf(to, "a.out") + 1;
	if (len > 0 && (so[3] == '\0' || so[3] == '.')) {
		to += sprintf(to, "%.*s", (int)len, name) + 1;
		if (so[3] == '.')
			sprintf(to, "%.*s.so", (int)len, name);
	}
	return all;
}

/* By its name where that is still the file; else by the mapping, which takes root. */
static char *file_of(int pid, const char *path, const char *range, bool *by_name)
{
	size_t len = strlen(path), cut = strlen(DELETED);
	char *file = NULL;

	if (len < cut || strcmp(path + len - cut, DELETED) != 0) {
		if (asprintf(&file, "/proc/%d/root%s", pid, path) < 0)
			return NULL;
		*by_name = access(file, R_OK) == 0;
		if (*by_name)
			return file;
		free(file);
	}
	return asprintf(&file, "/proc/%d/map_files/%s", pid, range) < 0 ? NULL : file;
}

/* A line of maps: "start-end perms offset device inode path"; inode 0: memory, by any name. */
static bool add_module(struct k_process *p, const char *line, const char *exe)
{
	char range[64], perms[8];
	const char *path = strchr(line, '/');
	struct k_module *mods;
	uint64_t offset, inode, start = 0, end = 0;
	bool by_name = false;

	if (path == NULL ||
		sscanf(line, "%63s %7s %" SCNx64 " %*s %" SCNu64, range, perms, &offset, &inode) !=
			4 ||
		inode == 0 || strchr(perms, 'x') == NULL || is_there(p, path))
		return true;
	if (p->n >= MAX_MODULES) {
		p->cut = true;
		return true;
	}
	sscanf(range, "%" SCNx64 "-%" SCNx64, &start, &end);
	if (!ARRAY_ROOM(p->mods, p->n))
		return false;
	mods = &p->mods[p->n];
	*mods = (struct k_module){.file = file_of(p->pid, path, range, &by_name),
		.path = strdup(path),
		.pid = p->pid,
		.start = start,
		.end = end,
		.offset = offset};
	if (mods->file == NULL || mods->path == NULL) {
		free(mods->file);
		free(mods->path);
		return false;
	}
	mods->by_name = by_name;
	mods->main = strcmp(path, exe) == 0;
	if (strlen(path) > strlen(DELETED) &&
		strcmp(path + strlen(path) - strlen(DELETED), DELETED) == 0)
		mods->path[strlen(path) - strlen(DELETED)] = '\0';
	mods->name = strrchr(mods->path, '/') + 1;
	mods->aliases = aliases_of(mods->name, mods->main);
	p->n++;
	return mods->aliases != NULL;
}

static int not_read(int pid, struct et_error *e)
{
	int error = errno;

	if (error == ENOENT || error == ESRCH || (kill(pid, 0) < 0 && errno == ESRCH))
		return et_err(e, D_PROC_BADPID, "there is no process %d", pid);
	if (error == EACCES || error == EPERM)
		return et_err(e, D_PROC_GRAB,
			"process %d belongs to another user: only that user and root can read "
			"what it has mapped",
			pid);
	return et_err(e, D_PROC_GRAB, "process %d: /proc/%d/maps cannot be read: %s", pid, pid,
		strerror(error));
}

static int read_modules(struct k_process *p, struct et_error *e)
{
	char name[64], exe[4096] = "", *line = NULL;
	size_t room = 0;
	bool ok = true;
	ssize_t n;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/exe", p->pid);
	n = readlink(name, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	snprintf(name, sizeof(name), "/proc/%d/maps", p->pid);
	f = fopen(name, "re");
	if (f == NULL)
		return not_read(p->pid, e);
	errno = 0;
	while (ok && (n = getline(&line, &room, f)) > 0) {
		line[n - 1] = '\0';
		ok = add_module(p, line, exe);
	}
	free(line);
	n = ferror(f) ? not_read(p->pid, e) : 0;
	if (n == 0 && ok && p->n == 0)
		n = et_err(e, D_PROC_BADPID,
			"process %d has no program: it has ended, or is a kernel thread", p->pid);
	fclose(f);
	return ok ? (int)n
		  : et_err(e, ET_NOMEM, "out of memory for the files of process %d", p->pid);
}

struct k_process *k_process(struct k_process **list, int pid, struct et_error *e)
{
	struct k_process *p;

	for (p = *list; p != NULL; p = p->next)
		if (p->pid == pid)
			return p;
	p = calloc(1, sizeof(*p));
	if (p == NULL) {
		et_err(e, ET_NOMEM, "out of memory for process %d", pid);
		return NULL;
	}
	p->pid = pid;
	if (read_modules(p, e) < 0) {
		k_processes_free(p);
		return NULL;
	}
	p->next = *list;
	*list = p;
	return p;
}

static void free_module(struct k_module *m)
{
	free(m->file);
	free(m->path);
	free(m->aliases);
	for (unsigned k = 0; m->code != NULL && k < m->elf.nload; k++)
		free(m->code[k]);
	free(m->code);
	free(m->slots);
	elf_free(&m->elf);
}

void k_processes_free(struct k_process *list)
{
	struct k_process *p;

	while ((p = list) != NULL) {
		list = p->next;
		for (unsigned i = 0; i < p->n; i++)
			free_module(&p->mods[i]);
		free(p->mods);
		free(p);
	}
}

/* Probes point to the modules that are there: what is new stands by itself. */
struct k_process *k_process_more(struct k_process **list, int pid)
{
	struct k_process *now = NULL, **last;
	struct et_error e = {0};
	unsigned n = 0;

	k_process(&now, pid, &e);
	et_err_clear(&e);
	for (unsigned i = 0; now != NULL && i < now->n; i++) {
		bool known = false;

		for (const struct k_process *p = *list; p != NULL; p = p->next)
			known |= p->pid == pid && is_there(p, now->mods[i].path);
		if (known)
			free_module(&now->mods[i]);
		else
			now->mods[n++] = now->mods[i];
	}
	if (now == NULL)
		return NULL;
	now->n = n;
	if (n == 0) {
		k_processes_free(now);
		return NULL;
	}
	for (last = list; *last != NULL; last = &(*last)->next)
		;
	*last = now;
	return now;
}

bool k_modules_news(struct k_process *list, char *buf, size_t size)
{
	for (struct k_process *p = list; p != NULL; p = p->next) {
		if (p->cut)
			snprintf(buf, size,
				"process %d has more than %d files of code: some have no probes",
				p->pid, MAX_MODULES);
		if (p->cut) {
			p->cut = false;
			return true;
		}
		for (unsigned i = 0; i < p->n; i++)
			if (p->mods[i].elf.cut) {
				p->mods[i].elf.cut = false;
				snprintf(buf, size,
					"the symbol table of %.200s is too large: some functions "
					"have no probes",
					p->mods[i].path);
				return true;
			}
	}
	return false;
}

int k_module_open(const struct k_module *m)
{
	return m->by_name ? fi_open_in(m->pid, m->path) : fi_open(m->file);
}

const struct elf *k_module_elf(struct k_module *m)
{
	int fd;

	if (m->read)
		return &m->elf;
	m->read = true;
	fd = k_module_open(m);
	if (fd < 0)
		return &m->elf;
	elf_read(&m->elf, fd);
	elf_read_debug(&m->elf, fd, m->pid, m->path);
	close(fd);
	return &m->elf;
}

static void read_code(struct k_module *m)
{
	int fd = k_module_open(m);
	uint64_t room = MAX_CODE;

	m->code = calloc(m->elf.nload + 1, sizeof(*m->code));
	for (unsigned i = 0; fd >= 0 && m->code != NULL && i < m->elf.nload; i++) {
		const Elf64_Phdr *l = &m->elf.load[i];

		if (l->p_flags & PF_X)
			m->code[i] = elf_bytes(fd, l->p_offset, l->p_filesz, room);
		if (m->code[i] != NULL)
			room -= l->p_filesz;
		m->elf.cut |= (l->p_flags & PF_X) && l->p_filesz > room && m->code[i] == NULL;
	}
	if (fd >= 0)
		close(fd);
}

const uint8_t *k_module_code(struct k_module *m, uint64_t offset, size_t *n)
{
	if (m->code == NULL)
		read_code(m);
	*n = 0;
	for (unsigned i = 0; m->code != NULL && i < m->elf.nload; i++) {
		const Elf64_Phdr *l = &m->elf.load[i];

		if (m->code[i] != NULL && offset >= l->p_offset &&
			offset - l->p_offset < l->p_filesz) {
			*n = l->p_filesz - (offset - l->p_offset);
			return m->code[i] + (offset - l->p_offset);
		}
	}
	return NULL;
}
