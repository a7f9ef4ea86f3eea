/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the helper: it reads orders from its input and answers on its output until the input
 * ends, which it does with the node, whatever ends that. In case nobody reads what it writes, or it
 * is stopped meanwhile, the kernel kills it when its parent dies. All that it has in the kernel are
 * descriptors, and goes with it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "helper_frames.h"
#include "helper.h"
#include "rights.h"

/* Our parent may have died before we asked: then we have another one. */
static void die_with_parent(void)
{
	pid_t parent = getppid();

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent)
		exit(HELPER_GONE);
}

static bool hello(struct co_buf *out)
{
	sb_put8(out, HELPER_HELLO);
	sb_put16(out, HELPER_VERSION);
	return frame_write(out);
}

/* One order. */
static bool obey(struct helper *h, struct co_buf *out)
{
	size_t len = 0;
	uint8_t *order = frame_order(&len);
	bool good = order != NULL && helper_order(h, order, len, out) == 0 && frame_write(out);

	free(order);
	return good;
}

int main(int argc, char **argv)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	struct co_buf out = {0};
	struct helper *h;
	int ms;

	(void)argv;
	if (argc > 1 || isatty(STDIN_FILENO)) {
		fprintf(stderr, "erltrace-kernel: a node starts this, for scripts with probes of "
				"the kernel "
				"(erltrace:compile/2); the command is erltrace\n");
		return HELPER_USAGE;
	}
	die_with_parent();
	signal(SIGPIPE, SIG_IGN);
	if (!rights_are_plain())
		return HELPER_SET_ID;
	h = helper_new();
	if (h == NULL || !hello(&out))
		return HELPER_GONE;
	for (;;) {
		ms = helper_tend(h, &out);
		if (out.len > 0 && !frame_write(&out))
			break;
		if (poll(&in, 1, frame_waits() ? 0 : ms) < 0 && errno != EINTR)
			break;
		if ((frame_waits() || in.revents != 0) && !obey(h, &out))
			break;
	}
	helper_free(h);
	cb_free(&out);
	return 0;
}
