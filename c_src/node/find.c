/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding nodes: the names that epmd knows, and the cookie. epmd's NAMES request is a length, the
 * letter n; the answer is its port in four bytes, then a line a node until the connection ends.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EPMD_PORT = 4369, EPMD_MS = 5000, EPMD_MAX = 1 << 20 };

static int epmd_port(void)
{
	const char *s = getenv("ERL_EPMD_PORT");
	int port = s != NULL ? atoi(s) : 0;

	return port > 0 && port < 65536 ? port : EPMD_PORT;
}

/* Is it this machine? Compared by name, so that no name service is asked. */
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
		return et_err(e, "ET_HOST", "cannot find the host %s: %s", host, gai_strerror(rc));
	*addr = ((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr;
	freeaddrinfo(found);
	return 0;
}

static int epmd_connect(const char *host, struct et_error *e)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)epmd_port())};
	struct timeval tv = {.tv_sec = EPMD_MS / 1000};
	int fd;

	if (nd_address(host, &sa.sin_addr, e) < 0)
		return -1;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return et_err(e, "ET_SOCKET", "cannot make a socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)); /* holds for connect() too */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	et_err(e, "ET_EPMD",
		"no epmd answers on port %d of %s (%s): is a node with a name (erl -sname NAME) "
		"running there?",
		epmd_port(), is_local(host) ? "this machine" : host, strerror(errno));
	close(fd);
	return -1;
}

static time_t seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* All that comes until the end; NULL: nothing, too much or too slowly. The caller frees it. */
static char *read_all(int fd, size_t *len)
{
	size_t size = 0, room = 4096;
	char *buf = malloc(room);
	time_t until = seconds() + EPMD_MS / 1000;
	ssize_t n;

	while (buf != NULL) {
		if (seconds() > until) {
			free(buf);
			return NULL;
		}
		n = read(fd, buf + size, room - size - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		size += (size_t)n;
		if (room - size < 2) {
			char *more = room < EPMD_MAX ? realloc(buf, room *= 2) : NULL;

			if (more == NULL) {
				free(buf);
				return NULL;
			}
			buf = more;
		}
	}
	if (buf != NULL)
		buf[size] = '\0';
	*len = size;
	return buf;
}

/* epmd takes any name, and says anything; in text, JSON and messages they stand as they are. */
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
	struct nd_name one, *v;

	if (sscanf(line, "name %255s at port %d", one.name, &one.port) != 2 ||
		!nd_is_name(one.name) || one.port <= 0 || one.port > 65535)
		return 0;
	v = realloc(names->v, (size_t)(names->n + 1) * sizeof(*v));
	if (v == NULL)
		return -1;
	names->v = v;
	v[names->n++] = one;
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
		return et_err(e, "ET_EPMD", "what answers on port %d is not epmd", epmd_port());
	}
	for (line = strtok_r(answer + 4, "\n", &save); line != NULL && rc == 0;
		line = strtok_r(NULL, "\n", &save))
		rc = add_name(names, line);
	free(answer);
	return rc == 0 ? 0 : et_err(e, "ET_NOMEM", "out of memory");
}

void nd_names_free(struct nd_names *names)
{
	free(names->v);
	memset(names, 0, sizeof(*names));
}

/* ---- the cookie ------------------------------------------------------------------------ */

/* As erl: a cookie that others can read is none. */
int nd_read_cookie(int fd, struct nd_cookie *c, struct et_error *e)
{
	struct stat st = {.st_mode = 0};
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st) < 0)
		return et_err(e, "ET_COOKIE",
			"cannot read the cookie file %s: %s: --cookie-file names another; as root, "
			"-p PID finds a node with its cookie",
			c->file, strerror(errno));
	if ((st.st_mode & 077) != 0)
		return et_err(e, "ET_COOKIE",
			"the cookie file %s can be read by others: chmod 600 it, and change the "
			"cookie",
			c->file);
	c->owner = st.st_uid;
	while (n > 0 && len < sizeof(c->text) - 1) {
		n = read(fd, c->text + len, sizeof(c->text) - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	while (len > 0 && strchr(" \t\r\n", c->text[len - 1]) != NULL)
		len--;
	c->text[len] = '\0';
	if (len == 0 || strlen(c->text) != len)
		return et_err(e, "ET_COOKIE", "the cookie file %s contains no cookie", c->file);
	return 0;
}

static int read_cookie_file(struct nd_cookie *c, struct et_error *e)
{
	int fd = open(c->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int rc = nd_read_cookie(fd, c, e);

	if (fd >= 0)
		close(fd);
	return rc;
}

int nd_cookie(const char *file, struct nd_cookie *cookie, struct et_error *e)
{
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");

	memset(cookie, 0, sizeof(*cookie));
	if (file == NULL)
		file = getenv("ERL_COOKIE_FILE");
	if (file != NULL) {
		snprintf(cookie->file, sizeof(cookie->file), "%s", file);
		return read_cookie_file(cookie, e);
	}
	if (home == NULL)
		return et_err(
			e, "ET_COOKIE", "no $HOME to find .erlang.cookie in: use --cookie-file");
	snprintf(cookie->file, sizeof(cookie->file), "%s/.erlang.cookie", home);
	if (access(cookie->file, F_OK) < 0) {
		char other[ND_PATH];

		snprintf(other, sizeof(other), "%s%s/erlang/.erlang.cookie",
			config != NULL ? config : home, config != NULL ? "" : "/.config");
		if (access(other, F_OK) == 0)
			memcpy(cookie->file, other, sizeof(other));
	}
	return read_cookie_file(cookie, e);
}
