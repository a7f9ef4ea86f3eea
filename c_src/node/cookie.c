/* SPDX-License-Identifier: Apache-2.0 */
/* The cookie, read as erl reads it. */
#include "cookie.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As erl, refuses a file that others can read. */
int nd_read_cookie(int fd, struct nd_cookie *c, struct et_error *e)
{
	struct stat st = {.st_mode = 0};
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st) < 0)
		return et_err(e, ET_COOKIE,
			"cannot read the cookie file %s: %s: --cookie-file names another; as root, "
			"erltrace -p PID finds a node with its cookie",
			c->file, strerror(errno));
	if ((st.st_mode & 077) != 0)
		return et_err(e, ET_COOKIE,
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
		return et_err(e, ET_COOKIE, "the cookie file %s contains no cookie", c->file);
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
			e, ET_COOKIE, "no $HOME to find .erlang.cookie in: use --cookie-file");
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
