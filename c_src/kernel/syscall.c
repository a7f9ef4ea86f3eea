/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider syscall: entry and return of each system call by its name. Two raw tracepoints see
 * all of them; a table in the arena says which fire. arg0 to arg5 of an entry are the call's
 * arguments; arg0 and arg1 of a return are its result, or -1 with errno set where it failed.
 */
#include <string.h>

#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "kernel.h"
#include "syscall.h"
#include "tracepoint.h"

static const struct {
	const char *name;
	unsigned nr;
} calls[] = {
#define SYSCALL(name, nr) {#name, nr},
#include "syscalls.inc" /* made from the system's headers */
#undef SYSCALL
};
enum { NCALLS = sizeof(calls) / sizeof(*calls) };

int k_syscall_number(const char *name)
{
	for (unsigned i = 0; i < NCALLS; i++)
		if (strcmp(calls[i].name, name) == 0 && calls[i].nr < K_SYSCALLS)
			return (int)calls[i].nr;
	return -1;
}

extern const struct provider syscall_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	static const char *const args[] = {
		"uint64_t", "uint64_t", "uint64_t", "uint64_t", "uint64_t", "uint64_t"};

	if (k_tracepoints_init(en, data, e) < 0)
		return -1;
	for (unsigned i = 0; i < 2 * NCALLS; i++) {
		struct en_probe *p = en_probe_add(en, &syscall_provider, (void *)(uintptr_t)i,
			"syscall", "vmlinux", calls[i / 2].name, i % 2 ? "return" : "entry");

		if (p == NULL)
			return et_err(e, ET_NOMEM, "out of memory for system calls");
		p->nargs = i % 2 ? 2 : 6;
		p->argtypes = args;
	}
	return 0;
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	unsigned i = (unsigned)(uintptr_t)p->pvdata;
	enum k_entry entry = i % 2 ? ENTRY_sys_exit : ENTRY_sys_enter;
	struct en_probe *shared = k_share_probe(en, p, entry, e);
	struct k_root *r;

	if (shared == NULL)
		return -1;
	r = en->kernel->root;
	(i % 2 ? r->sys_exit : r->sys_enter)[calls[i / 2].nr] = shared;
	k_tracepoints_want(data, entry);
	return 0;
}

const struct provider syscall_provider = {
	.name = "syscall",
	.of_kernel = true,
	.confinable = true,
	.init = init,
	.enable = enable,
	.ready = k_tracepoints_load,
	.start = k_tracepoints_attach,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
