/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider syscall: entry and return of each system call by its name, by the kernel's raw
 * tracepoints for all of them, of which a table in the arena chooses. arg0 to arg5 of an entry are
 * the call's arguments; arg0 and arg1 of a return are what it gives, -1 where it failed, and errno
 * says why.
 */
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "load.h"

static const struct {
	const char *name;
	unsigned nr;
} calls[] = {
#define SYSCALL(name, nr) {#name, nr},
#include "syscalls.inc" /* made from the system's headers */
#undef SYSCALL
};
enum { NCALLS = sizeof(calls) / sizeof(*calls) };

struct sys {
	bool enters, exits;
	int enter_fd, exit_fd;
};

extern const struct provider syscall_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	static const char *const args[] = {
		"uint64_t", "uint64_t", "uint64_t", "uint64_t", "uint64_t", "uint64_t"};

	*data = calloc(1, sizeof(struct sys));
	if (*data == NULL)
		return et_err(e, "ET_MEMORY", "out of memory");
	for (unsigned i = 0; i < 2 * NCALLS && !en->opts->inside; i++) {
		struct en_probe *p = en_probe_add(en, &syscall_provider, (void *)(uintptr_t)i,
			"syscall", "vmlinux", calls[i / 2].name, i % 2 ? "return" : "entry");

		if (p == NULL)
			return et_err(e, "ET_MEMORY", "out of memory for system calls");
		p->nargs = i % 2 ? 2 : 6;
		p->argtypes = args;
	}
	return 0;
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	unsigned i = (unsigned)(uintptr_t)p->pvdata;
	struct en_probe *shared = k_share_probe(en, p, e);
	struct sys *s = data;

	if (shared == NULL)
		return -1;
	if (i % 2) {
		en->kernel->root->sys_exit[calls[i / 2].nr] = shared;
		s->exits = true;
	} else {
		en->kernel->root->sys_enter[calls[i / 2].nr] = shared;
		s->enters = true;
	}
	return 0;
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	struct sys *s = data;

	if (s->enters &&
		(s->enter_fd = k_load(en, "k_sys_enter", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, e)) < 0)
		return -1;
	if (s->exits &&
		(s->exit_fd = k_load(en, "k_sys_exit", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, e)) < 0)
		return -1;
	return 0;
}

/* Returns first: a call that is under way may return, one that has entered unseen must not. */
static int start(struct en *en, void *data, struct et_error *e)
{
	struct sys *s = data;

	if (s->exits && k_attach_raw(en, s->exit_fd, "sys_exit", e) < 0)
		return -1;
	return s->enters ? k_attach_raw(en, s->enter_fd, "sys_enter", e) : 0;
}

const struct provider syscall_provider = {
	.name = "syscall",
	.init = init,
	.enable = enable,
	.ready = ready,
	.start = start,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
