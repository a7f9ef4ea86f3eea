/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uprobes: sites in programs and libraries where a probe fires. Providers add them when their
 * probes are enabled; all are attached when tracing begins. The sites of one file are one
 * uprobe_multi link. On a kernel that does not know those (before Linux 6.6) each site is a perf
 * event with a link of its own.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "array.h"
#include "bpf_call.h"
#include "engine/probe.h"
#include "engine/state.h"
#include "kernel.h"
#include "program.h"
#include "uprobe.h"

enum { UPROBE_RETURN = 1 };

/* The part of union bpf_attr for such a link. */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctrs, cookies;
	uint32_t count, how, pid;
	uint32_t pad[16];
};

struct k_uprobe {
	char *path;
	struct k_site at;
	uint64_t cookie;
};

int k_uprobe_add(struct en *en, const char *path, const struct k_site *at, struct en_probe *shared,
	struct et_error *e)
{
	struct kernel *k = en->kernel;
	struct k_uprobe u = {.path = strdup(path), .at = *at};

	if (u.path == NULL || !ARRAY_ROOM(k->uprobes, k->nuprobes)) {
		free(u.path);
		return et_err(e, ET_NOMEM, "out of memory for probes of programs");
	}
	if (k_cookie(en, shared, &u.cookie, e) < 0) {
		free(u.path);
		return -1;
	}
	k->uprobes[k->nuprobes++] = u;
	return 0;
}

/* ---- programs ------------------------------------------------------------------------- */

/* A program that does nothing, to try what the kernel takes. */
static int try_program(unsigned attach, unsigned flags)
{
	static const struct ebpf_insn nothing[] = {
		{.code = EBPF_MOV64_IMM, .dst = R0}, {.code = EBPF_EXIT}};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type = attach,
		.prog_flags = flags,
		.license = (uint64_t)(uintptr_t) "GPL",
		.insns = (uint64_t)(uintptr_t)nothing,
		.insn_cnt = sizeof(nothing) / sizeof(*nothing)};

	return k_bpf(BPF_PROG_LOAD, &attr);
}

/* Where links of many sites are known, that a folder has none is another error. */
static void try_links(struct kernel *k)
{
	int fd = try_program(K_UPROBE_MULTI, 0), why, sleeps;
	uint64_t offset = 0;
	struct multi_attr attr = {.prog_fd = (uint32_t)fd,
		.attach_type = K_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t) "/",
		.offsets = (uint64_t)(uintptr_t)&offset,
		.count = 1};

	if (k->tried)
		return;
	k->tried = true;
	syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	why = errno;
	if (fd >= 0)
		close(fd);
	k->one_by_one = fd < 0 || why != EBADF;
	if (!k->one_by_one)
		return;
	sleeps = try_program(0, BPF_F_SLEEPABLE);
	k->never_sleeps = sleeps < 0;
	if (sleeps >= 0)
		close(sleeps);
}

/* One for each entry; sites that come later use it too. */
int k_uprobe_load(struct en *en, void *data, struct et_error *e)
{
	struct kernel *k = en->kernel;

	(void)data;
	if (k != NULL && k->nuprobes > 0)
		try_links(k);
	for (unsigned i = 0; k != NULL && i < k->nuprobes; i++) {
		enum k_entry entry = k->uprobes[i].at.entry;

		if (k->uloaded >> entry & 1)
			continue;
		k->uprog[entry] = k_load(en, entry, NULL, e);
		if (k->uprog[entry] < 0)
			return -1;
		k->uloaded |= K_ENTRY(entry);
	}
	return 0;
}

/* ---- links ---------------------------------------------------------------------------- */

static bool is_return(const struct k_uprobe *u)
{
	return k_programs[u->at.entry].flags & K_RETURN;
}

/*
 * Those of one link side by side, entries first: calls go on between two links, and the kernel
 * tells of a return only if it was there for the entry. So what has entered unseen does not return.
 */
static int link_cmp(const void *a, const void *b)
{
	const struct k_uprobe *x = a, *y = b;
	int c = is_return(x) - is_return(y);

	if (c == 0)
		c = strcmp(x->path, y->path);
	if (c == 0)
		c = (x->at.pid > y->at.pid) - (x->at.pid < y->at.pid);
	if (c == 0)
		c = (int)x->at.entry - (int)y->at.entry;
	return c;
}

static int not_attached(const struct k_uprobe *u, struct et_error *e)
{
	int error = errno;

	if (error == ESRCH)
		return et_err(e, D_PROC_GRAB, "process %d has ended", u->at.pid);
	if (error == EPERM || error == EACCES)
		return et_err(e, ET_PERMISSION, "probes of programs need %s: %s was refused (%s)",
			k_privileges(), u->path, strerror(error));
	return et_err(
		e, ET_KERNEL, "the kernel refused probes in %s: %s", u->path, strerror(error));
}

/* The number that the kernel has given to events of this kind. */
static uint32_t event_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	unsigned type = 0;

	if (f != NULL && fscanf(f, "%u", &type) != 1)
		type = 0;
	if (f != NULL)
		fclose(f);
	return type;
}

enum { REF_CTR_SHIFT = 32 }; /* where an event has the offset of the counter */

static int attach_one(struct en *en, const struct k_uprobe *u, uint32_t type, struct et_error *e)
{
	struct perf_event_attr event = {.type = type,
		.size = sizeof(event),
		.config = (is_return(u) ? 1 : 0) | u->at.ref_ctr << REF_CTR_SHIFT,
		.config1 = (uint64_t)(uintptr_t)u->path,
		.config2 = u->at.offset};
	int pid = u->at.pid > 0 ? u->at.pid : -1, link = -1,
	    fd = (int)syscall(
		    SYS_perf_event_open, &event, pid, pid > 0 ? -1 : 0, -1, PERF_FLAG_FD_CLOEXEC);
	union bpf_attr attr = {
		.link_create = {.prog_fd = (uint32_t)en->kernel->uprog[u->at.entry],
			.target_fd = (uint32_t)fd,
			.attach_type = BPF_PERF_EVENT,
			.perf_event = {
				.bpf_cookie = u->cookie | (uint64_t)u->at.caller << K_SITE_SHIFT}}};

	if (fd >= 0)
		link = k_bpf(BPF_LINK_CREATE, &attr);
	if (link < 0 && errno == EMFILE)
		et_err(e, ET_KERNEL,
			"too many probes of programs: before Linux 6.6 each is an open file, and "
			"this process may have %ld of them (ulimit -n)",
			sysconf(_SC_OPEN_MAX));
	else if (link < 0)
		not_attached(u, e);
	else
		k_keep(en->kernel, link);
	if (fd >= 0) /* the link has it */
		close(fd);
	return link < 0 ? -1 : 0;
}

static int attach_each(struct en *en, const struct k_uprobe *u, unsigned n, struct et_error *e)
{
	uint32_t type = event_type();

	if (type == 0)
		return et_err(e, ET_KERNEL,
			"probes of programs need uprobes (CONFIG_UPROBE_EVENTS), which this kernel "
			"does not have, or /sys, which is not mounted here");
	for (unsigned i = 0; i < n; i++)
		if (attach_one(en, &u[i], type, e) < 0)
			return -1;
	return 0;
}

static int attach(struct en *en, const struct k_uprobe *u, unsigned n, struct et_error *e)
{
	uint64_t *words = calloc(3 * (size_t)n, sizeof(*words));
	struct multi_attr attr = {.prog_fd = (uint32_t)en->kernel->uprog[u->at.entry],
		.attach_type = K_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)u->path,
		.count = n,
		.how = is_return(u) ? UPROBE_RETURN : 0,
		.pid = (uint32_t)u->at.pid};
	bool counted = false;
	int fd;

	if (words == NULL)
		return et_err(e, ET_NOMEM, "out of memory for probes of programs");
	for (unsigned i = 0; i < n; i++) {
		words[i] = u[i].at.offset;
		words[n + i] = u[i].cookie | (uint64_t)u[i].at.caller << K_SITE_SHIFT;
		words[2 * n + i] = u[i].at.ref_ctr;
		counted |= u[i].at.ref_ctr != 0;
	}
	attr.offsets = (uint64_t)(uintptr_t)words;
	attr.cookies = (uint64_t)(uintptr_t)(words + n);
	attr.ref_ctrs = counted ? (uint64_t)(uintptr_t)(words + 2 * (size_t)n) : 0;
	fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	free(words);
	if (fd < 0)
		return not_attached(u, e);
	k_keep(en->kernel, fd);
	return 0;
}

int k_uprobe_attach(struct en *en, void *data, struct et_error *e)
{
	struct kernel *k = en->kernel;
	unsigned i, n;

	(void)data;
	if (k == NULL || k->nuprobes == 0)
		return 0;
	qsort(k->uprobes, k->nuprobes, sizeof(*k->uprobes), link_cmp);
	for (i = 0; i < k->nuprobes; i += n) {
		for (n = 1; i + n < k->nuprobes; n++)
			if (link_cmp(&k->uprobes[i], &k->uprobes[i + n]) != 0)
				break;
		if ((k->one_by_one ? attach_each : attach)(en, &k->uprobes[i], n, e) < 0)
			return -1;
	}
	k_uprobe_free(k);
	return 0;
}

void k_uprobe_free(struct kernel *k)
{
	for (unsigned i = 0; i < k->nuprobes; i++)
		free(k->uprobes[i].path);
	free(k->uprobes);
	k->uprobes = NULL;
	k->nuprobes = 0;
}
