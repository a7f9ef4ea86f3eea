/* SPDX-License-Identifier: Apache-2.0 */
/* What epmd says (c_src/node/epmd.c), and an epmd that says nothing to a thread that is to end. */
#include "node/cancel.c"
#include "node/epmd.c"

#include <pthread.h>
#include <sys/eventfd.h>

#include "checks.h"

/* The port is epmd's from now on. */
static int listener(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char port[16];

	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, 4) < 0 ||
		getsockname(fd, (struct sockaddr *)&sa, &size) < 0)
		abort();
	snprintf(port, sizeof(port), "%d", ntohs(sa.sin_port));
	setenv("ERL_EPMD_PORT", port, 1);
	return fd;
}

static void *answer(void *arg)
{
	static const char text[] = "\0\0\21\21name demo at port 1234\nname other at port 5\n";
	int fd = accept(*(int *)arg, NULL, NULL);
	char request[3];

	if (recv(fd, request, sizeof(request), MSG_WAITALL) != sizeof(request))
		abort();
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		if (send(fd, text + i, 1, 0) != 1)
			abort();
	close(fd);
	return NULL;
}

static void names(void)
{
	struct et_error e = {.tag = ""};
	struct nd_names n;
	int fd = listener();
	pthread_t thread;

	pthread_create(&thread, NULL, answer, &fd);
	CHECK(nd_names(NULL, &n, &e) == 0);
	CHECK(n.n == 2 && strcmp(n.v[0].name, "demo") == 0 && n.v[1].port == 5);
	pthread_join(thread, NULL);
	nd_names_free(&n);
	close(fd);
	CHECK(nd_names(NULL, &n, &e) < 0);
}

/* It accepts, and says nothing: who is to end does not wait for it. */
static void silent(void)
{
	struct et_error e = {.tag = ""};
	struct nd_names n;
	int fd = listener(), cancel = eventfd(1, EFD_CLOEXEC);
	int64_t began = nd_now_ms();

	nd_cancel_by(cancel);
	CHECK(nd_names(NULL, &n, &e) < 0);
	CHECK(nd_now_ms() - began < EPMD_MS);
	nd_cancel_by(-1);
	close(cancel);
	close(fd);
}

int main(void)
{
	names();
	silent();
	return finish();
}
