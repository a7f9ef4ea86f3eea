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

#include "helper.h"
#include "rights.h"

/* Our parent may have died before we asked: then we have another one. */
static void die_with_parent(void)
{
	pid_t parent = getppid();

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent)
		exit(1);
}

/* false: there is no more. */
static bool read_all(void *to, size_t len)
{
	char *p = to;

	while (len > 0) {
		ssize_t n = read(STDIN_FILENO, p, len);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool write_all(const char *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, p, len);

		if (n < 0 && errno != EINTR)
			return false;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* What out holds, as one frame; it is empty then. */
static bool answer(struct co_buf *out)
{
	const size_t len = out->len;
	const char head[4] = {(char)(len >> 24), (char)(len >> 16), (char)(len >> 8), (char)len};
	bool good = !out->nomem && write_all(head, sizeof(head)) && write_all(out->p, len);

	out->len = 0;
	return good;
}

static bool hello(struct co_buf *out)
{
	sb_put8(out, HELPER_HELLO);
	sb_put16(out, HELPER_VERSION);
	return answer(out);
}

/* One order. */
static bool obey(struct helper *h, struct co_buf *out)
{
	uint8_t head[4], *order;
	size_t len;
	bool good;

	if (!read_all(head, sizeof(head)))
		return false;
	len = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
	if (len == 0 || len > HELPER_MAX_ORDER || (order = malloc(len)) == NULL)
		return false;
	good = read_all(order, len) && helper_order(h, order, len, out) == 0 && answer(out);
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
		return 2;
	}
	die_with_parent();
	signal(SIGPIPE, SIG_IGN);
	h = rights_are_plain() ? helper_new() : NULL;
	if (h == NULL || !hello(&out))
		return 1;
	for (;;) {
		ms = helper_tend(h, &out);
		if (out.len > 0 && !answer(&out))
			break;
		if (poll(&in, 1, ms) < 0 && errno != EINTR)
			break;
		if (in.revents != 0 && !obey(h, &out))
			break;
	}
	helper_free(h);
	cb_free(&out);
	return 0;
}
