/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BEGIN and END in the kernel: a provider of the test build of the command (build/test/bin), in
 * which golden tests run on the kernel engine (test/kernel/kernel_golden.sh). The thread that would
 * have fired them runs the program by the system call that the kernel has for that (BPF_PROG_RUN).
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel/bpf_call.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "kernel/kernel.h"
#include "kernel/program.h"

extern const struct provider begin_end_provider;

static int prog = -1; /* of the one engine that a test has */

static bool wants_arena(struct en *en)
{
	(void)en;
	return true;
}

/* A system call runs the program. */
static int run(const uint64_t *ctx, unsigned n, struct et_error *e)
{
	union bpf_attr attr = {.test = {.prog_fd = (uint32_t)prog,
				       .ctx_in = (uint64_t)(uintptr_t)ctx,
				       .ctx_size_in = 8 * n}};

	return k_bpf(BPF_PROG_TEST_RUN, &attr) < 0 ? k_refused(e, "a run of a BPF program") : 0;
}

static void fire(struct en *en, unsigned phase)
{
	uint64_t ctx[1] = {phase == PHASE_END};
	struct et_error e = {0};

	(void)en;
	if (run(ctx, 1, &e) < 0)
		fprintf(stderr, "erltrace: %s\n", e.text);
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	static const char *const names[2] = {"BEGIN", "END"};
	struct en_probe *shared[2] = {NULL, NULL};
	int fd;

	(void)data;
	for (unsigned i = 0; i < 2; i++) {
		struct en_probe *p = en_probe_find(en, "dtrace", "", "", names[i]);

		if (p != NULL && en_enabled(p) &&
			(shared[i] = k_share_probe(en, p, ENTRY_begin_end, e)) == NULL)
			return -1;
	}
	if (shared[0] == NULL && shared[1] == NULL)
		return 0;
	en->kernel->root->begin_end[0] = shared[0];
	en->kernel->root->begin_end[1] = shared[1];
	fd = k_load(en, ENTRY_begin_end, NULL, e);
	if (fd < 0)
		return -1;
	prog = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* END comes when the others are off */
	en->shared.fire = fire;
	return 0;
}

static void fini(struct en *en, void *data)
{
	(void)data;
	if (en->shared.fire != NULL) {
		close(prog);
		prog = -1;
	}
	k_close(en);
}

const struct provider begin_end_provider = {
	.name = "begin_end",
	.ready = ready,
	.fini = fini,
	.arena = k_arena,
	.wants_arena = wants_arena,
};
