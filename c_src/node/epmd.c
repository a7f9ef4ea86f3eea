/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that epmd knows. Its NAMES request is a length and the letter n; the answer is its port
 * in four bytes, then a line for each node until the connection ends.
 */
#include "epmd.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "cancel.h"

enum { EPMD_PORT = 4369, EPMD_MS = 5000, EPMD_MAX = 1 << 20 };

static int epmd_port(void)
{
	const char *s = getenv("ERL_EPMD_PORT");
	int port = s != NULL ? atoi(s) : 0;

	return port > 0 && port < 65536 ? port : EPMD_PORT;
}

/* Is it this machine? Compared by name, without a lookup. */
static bool is_local(const char *host)
{
	char own[256] = "";
	size_t len;

	if (host == NULL || strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0)
		return true;
	if (gethostname(own, sizeof(own) - 1) < 0)
		return false;
	len = strcspn(own, ".");
	return strcmp(host, own) == 0 || (strlen(host) == len && strncmp(host, own, len) == 0);
}

int nd_address(const char *host, struct in_addr *addr, struct et_error *e)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
	int rc;

	addr->s_addr = htonl(INADDR_LOOPBACK);
	if (is_local(host))
		return 0;
	rc = getaddrinfo(host, NULL, &hints, &found);
	if (rc != 0)
		return et_err(e, ET_HOST, "cannot find the host %s: %s", host, gai_strerror(rc));
	*addr = ((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr;
	freeaddrinfo(found);
	return 0;
}

static int connect_in_time(int fd, const struct sockaddr_in *sa)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0)
		return 0;
	if (errno != EINPROGRESS && errno != EINTR)
		return errno;
	error = nd_await(fd, POLLOUT, nd_now_ms() + EPMD_MS);
	if (error == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	return error;
}

static int epmd_connect(const char *host, struct et_error *e)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)epmd_port())};
	int fd, error;

	if (nd_address(host, &sa.sin_addr, e) < 0)
		return -1;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return et_err(e, ET_SOCKET, "cannot make a socket: %s", strerror(errno));
	error = connect_in_time(fd, &sa);
	if (error == 0)
		return fd;
	et_err(e, ET_EPMD,
		"no epmd answers on port %d of %s (%s): is a node with a name (erl -sname NAME) "
		"running there?",
		epmd_port(), is_local(host) ? "this machine" : host, strerror(error));
	close(fd);
	return -1;
}

/* All that comes until the end; NULL: nothing, too much or too slowly. The caller frees it. */
static char *read_all(int fd, size_t *len)
{
	int64_t until = nd_now_ms() + EPMD_MS;
	size_t size = 0, room = 0;
	char *buf = NULL;
	ssize_t n;

	while (nd_now_ms() <= until && room <= EPMD_MAX && ARRAY_RESERVE(buf, room, size + 2)) {
		bool ready = nd_await(fd, POLLIN, nd_now_ms() + EPMD_MS) == 0;

		n = ready ? read(fd, buf + size, room - size - 1) : -1;
		if (ready && n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0) {
			buf[size] = '\0';
			*len = size;
			return buf;
		}
		size += (size_t)n;
	}
	free(buf);
	return NULL;
}

/* epmd registers any name; names go into text, JSON and messages as they are. */
bool nd_is_name(const char *name)
{
	if (name[0] == '\0')
		return false;
	for (; *name != '\0'; name++)
		if (*name <= ' ' || *name > '~' || strchr("\"\\'<>&", *name) != NULL)
			return false;
	return true;
}

static int add_name(struct nd_names *names, const char *line)
{
	struct nd_name one;

	if (sscanf(line, "name %255s at port %d", one.name, &one.port) != 2 ||
		!nd_is_name(one.name) || one.port <= 0 || one.port > 65535)
		return 0;
	if (!ARRAY_ROOM(names->v, (size_t)names->n))
		return -1;
	names->v[names->n++] = one;
	return 0;
}

int nd_names(const char *host, struct nd_names *names, struct et_error *e)
{
	static const char request[] = {0, 1, 'n'};
	char *answer = NULL, *line, *save;
	size_t len = 0;
	int fd = epmd_connect(host, e), rc = 0;

	memset(names, 0, sizeof(*names));
	if (fd < 0)
		return -1;
	if (write(fd, request, sizeof(request)) == (ssize_t)sizeof(request))
		answer = read_all(fd, &len);
	close(fd);
	if (answer == NULL || len < 4) {
		free(answer);
		return et_err(e, ET_EPMD, "what answers on port %d is not epmd", epmd_port());
	}
	for (line = strtok_r(answer + 4, "\n", &save); line != NULL && rc == 0;
		line = strtok_r(NULL, "\n", &save))
		rc = add_name(names, line);
	free(answer);
	return rc == 0 ? 0 : et_err(e, ET_NOMEM, "out of memory");
}

void nd_names_free(struct nd_names *names)
{
	free(names->v);
	memset(names, 0, sizeof(*names));
}
