/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node that is named by its process (-p): what is known of it from /proc spares its user to say
 * it. It may be in a container: then it has a network, files and process numbers of its own, and is
 * reached from inside its network.
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "proc_file.h"

enum { MAX_TEXT = 8 << 20 };

/* A file of /proc/PID, with its NULs; NULL: it cannot be read. */
static char *read_proc(pid_t pid, const char *file, size_t *len)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return file_read(path, MAX_TEXT, len);
}

/* A variable of the process's environment. */
static bool its_variable(pid_t pid, const char *name, char *to, size_t size)
{
	size_t len = 0, n = strlen(name);
	char *text = read_proc(pid, "environ", &len);
	bool found = false;

	for (char *p = text; p != NULL && p < text + len && !found; p += strlen(p) + 1)
		if (strncmp(p, name, n) == 0 && p[n] == '=') {
			snprintf(to, size, "%s", p + n + 1);
			found = true;
		}
	free(text);
	return found;
}

static bool same_network(pid_t pid)
{
	char path[64];
	struct stat own, its;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return stat("/proc/self/ns/net", &own) < 0 || stat(path, &its) < 0 ||
	       (own.st_dev == its.st_dev && own.st_ino == its.st_ino);
}

bool nd_may_enter(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return stat(path, &st) == 0;
}

int nd_enter(pid_t pid, struct et_error *e)
{
	char path[64], port[16];
	int fd, r;

	if (getenv("ERL_EPMD_PORT") == NULL &&
		its_variable(pid, "ERL_EPMD_PORT", port, sizeof(port)))
		setenv("ERL_EPMD_PORT", port, 1);
	if (same_network(pid))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);
	if (r < 0)
		et_err(e, ET_NODE,
			"process %d is in a container, and its network cannot be entered: %s "
			"(this needs root)",
			(int)pid, strerror(errno));
	if (fd >= 0)
		close(fd);
	return r;
}

int64_t nd_own_pid(pid_t pid)
{
	size_t len = 0;
	char *text = read_proc(pid, "status", &len), *line;
	int64_t own = pid;

	line = text != NULL ? strstr(text, "\nNSpid:") : NULL; /* outermost first */
	if (line != NULL) {
		line[1 + strcspn(line + 1, "\n")] = '\0';
		line = strrchr(line, '\t');
		own = line != NULL ? atoll(line) : pid;
	}
	free(text);
	return own;
}

/* Whom it runs as. */
static uid_t its_user(pid_t pid)
{
	size_t len = 0;
	char *text = read_proc(pid, "status", &len), *line;
	unsigned uid = 0;

	line = text != NULL ? strstr(text, "\nUid:") : NULL; /* real, effective ... */
	if (line == NULL || sscanf(line, "\nUid: %*u %u", &uid) != 1)
		uid = geteuid();
	free(text);
	return uid;
}

/* -setcookie, of the command line or of a release's vm.args, which ends up there too. */
static bool cookie_argument(pid_t pid, struct nd_cookie *c)
{
	size_t len = 0;
	char *text = read_proc(pid, "cmdline", &len);
	const char *last = "", *found = NULL;

	for (char *p = text; p != NULL && p < text + len; p += strlen(p) + 1) {
		if (strcmp(last, "-setcookie") == 0)
			found = p;
		last = p;
	}
	if (found != NULL && found[0] != '\0' && strlen(found) < sizeof(c->text)) {
		snprintf(c->text, sizeof(c->text), "%s", found);
		snprintf(c->file, sizeof(c->file), "its command line");
		c->owner = its_user(pid);
	}
	free(text);
	return c->text[0] != '\0';
}

static bool is_vm(pid_t pid)
{
	size_t len = 0;
	char *name = read_proc(pid, "comm", &len);
	bool is = name != NULL && strncmp(name, "beam", 4) == 0;

	free(name);
	return is;
}

bool nd_cookie_of(pid_t pid, struct nd_cookie *c)
{
	char home[ND_PATH / 2], path[ND_PATH];
	struct et_error e = {.tag = ""};
	int fd, rc;

	memset(c, 0, sizeof(*c));
	if (!is_vm(pid))
		return false;
	if (cookie_argument(pid, c))
		return true;
	if (!its_variable(pid, "HOME", home, sizeof(home)))
		return false;
	snprintf(path, sizeof(path), "%s/.erlang.cookie", home);
	snprintf(c->file, sizeof(c->file), "/proc/%d/root%s/.erlang.cookie", (int)pid, home);
	fd = fi_open_in(pid, path);
	rc = nd_read_cookie(fd, c, &e);
	if (fd >= 0)
		close(fd);
	return rc == 0;
}
