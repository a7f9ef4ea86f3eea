/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -C: the C preprocessor. The script is passed as a memory file that is cpp's standard input, so
 * only cpp's output has to be read here, and there can be no deadlock. The output is limited. A
 * line marker before the script gives its name in messages.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "d.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "array.h"

#define MAX_SECONDS  30
#define MAX_MESSAGES (64u << 10)

extern char **environ;

static const char *const predefined[] = {"-D__linux", "-D__unix", "-D__SVR4", "-D__SUNW_D=1",
	"-D__SUNW_D_64", "-D__SUNW_D_VERSION=0x02000000", "-D__Linux",
#ifdef __x86_64__
	"-D__amd64",
#endif
	"-U__GNUC__",
	/* used by system headers without requiring GNU C */
	"-D__signed__=signed", "-D__inline__=inline",
	"-D__extension__=", "-D__attribute__(x)=", NULL};

/* ---- arguments ------------------------------------------------------------------------ */

struct args {
	const char **v;
	size_t n, room;
};

static void arg(struct d_comp *c, struct args *a, const char *s)
{
	if (a->n + 1 >= a->room) {
		size_t room = a->room > 0 ? a->room * 2 : 64;
		const char **v = arena_alloc(c->arena, room * sizeof(*v));

		if (v == NULL)
			return;
		if (a->n > 0)
			memcpy(v, a->v, a->n * sizeof(*v));
		a->v = v;
		a->room = room;
	}
	a->v[a->n++] = s; /* NULL-terminated, as the arena is zeroed */
}

static void args_of(struct d_comp *c, struct args *a, enum et_opt opt, const char *prefix)
{
	for (uint64_t i = 0; i < c->opts->val[opt]; i++)
		arg(c, a, arena_printf(c->arena, "%s%s", prefix, c->opts->str[opt][i]));
}

static const char *last_of(struct d_comp *c, enum et_opt opt, const char *otherwise)
{
	uint64_t n = c->opts->val[opt];

	return n > 0 ? c->opts->str[opt][n - 1] : otherwise;
}

static void make_args(struct d_comp *c, struct args *a, const char *cpp, const char *file)
{
	const char *slash = strrchr(file, '/'), *stdc = last_of(c, OPT_STDC, "");

	arg(c, a, cpp);
	for (size_t i = 0; predefined[i] != NULL; i++)
		arg(c, a, predefined[i]);
	if (stdc[0] == 's')
		arg(c, a, "-U__STDC__");
	else if (stdc[0] != '\0')
		arg(c, a, stdc[0] == 'c' ? "-D__STDC__=1" : "-D__STDC__=0");
	args_of(c, a, OPT_DEFINE, "-D");
	args_of(c, a, OPT_UNDEF, "-U");
	/* #include "x" searches the directory of the script, which cpp does not know. */
	if (slash != NULL) {
		arg(c, a, "-iquote");
		arg(c, a,
			slash == file ? "/" : arena_strdup(c->arena, file, (size_t)(slash - file)));
	}
	args_of(c, a, OPT_INCDIR, "-I");
	if (c->opts->val[OPT_CPPHDRS])
		arg(c, a, "-H");
	args_of(c, a, OPT_CPPARGS, "");
	arg(c, a, "-");
}

/* ---- input ---------------------------------------------------------------------------- */

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* The name as a C string literal, for the marker. */
static const char *quoted(struct d_comp *c, const char *file)
{
	char *s = arena_alloc(c->arena, 2 * strlen(file) + 1), *w = s;

	if (s == NULL)
		return "";
	for (; *file != '\0'; file++) {
		if (*file == '"' || *file == '\\')
			*w++ = '\\';
		if (*file != '\n')
			*w++ = *file;
	}
	return s;
}

static int input(struct d_comp *c, const char *file, const char *text, size_t len)
{
	int fd = memfd_create("script", MFD_CLOEXEC), line = 1;
	const char *nl, *mark;

	if (fd < 0)
		return et_err(&c->error, ET_CPP, "cannot make a file for the preprocessor: %s",
			strerror(errno));
	/* cpp would reject the #! line. */
	if (len > 1 && text[0] == '#' && text[1] == '!') {
		nl = memchr(text, '\n', len);
		len -= nl != NULL ? (size_t)(nl + 1 - text) : len;
		text = nl != NULL ? nl + 1 : text;
		line = 2;
	}
	mark = arena_printf(c->arena, "# %d \"%s\"\n", line, quoted(c, file));
	if (mark == NULL || write_all(fd, mark, strlen(mark)) != 0 ||
		write_all(fd, text, len) != 0 || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return et_err(&c->error, ET_CPP, "cannot write for the preprocessor: %s",
			strerror(errno));
	}
	return fd;
}

/* ---- running -------------------------------------------------------------------------- */

struct capture {
	int fd;
	char *s;
	size_t len, room, max;
	bool full;
};

/* 0: more to come, 1: end of file, -1: out of memory. */
static int read_some(struct capture *p)
{
	ssize_t n;

	if (!ARRAY_RESERVE(p->s, p->room, p->len + 4096))
		return -1;
	n = read(p->fd, p->s + p->len, p->room - p->len - 1);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : 1;
	if (n == 0)
		return 1;
	if (p->len + (size_t)n > p->max) {
		p->full = true;
		return 0; /* keep reading, so that the writer does not block, but discard it */
	}
	p->len += (size_t)n;
	return 0;
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* Read both to the end. Returns 0, or -1: timeout, too much output, out of memory. */
static int drain(struct capture *out, struct capture *err)
{
	long long end = now_ms() + MAX_SECONDS * 1000LL, left;
	struct capture *both[2] = {out, err};
	int open = 2;

	while (open > 0) {
		struct pollfd fds[2] = {
			{.fd = out->fd, .events = POLLIN}, {.fd = err->fd, .events = POLLIN}};

		left = end - now_ms();
		if (left <= 0 || out->full)
			return -1;
		if (poll(fds, 2, (int)left) < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		for (int i = 0; i < 2; i++) {
			int rc = fds[i].fd >= 0 && fds[i].revents != 0 ? read_some(both[i]) : 0;

			if (rc < 0)
				return -1;
			if (rc > 0) {
				both[i]->fd = -1; /* ignored by poll() */
				open--;
			}
		}
	}
	return 0;
}

static int spawn(struct d_comp *c, struct args *a, int in, int out, int err, pid_t *pid)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none;
	int rc;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, in, 0);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_adddup2(&fa, err, 2);
	posix_spawnattr_init(&at);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawnp(pid, a->v[0], &fa, &at, (char *const *)a->v, environ);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	if (rc == 0)
		return 0;
	if (rc == ENOENT)
		return et_err(&c->error, ET_CPP,
			"cannot find the preprocessor '%s': install the package cpp, or name "
			"another "
			"with -x cpppath",
			a->v[0]);
	return et_err(
		&c->error, ET_CPP, "cannot run the preprocessor '%s': %s", a->v[0], strerror(rc));
}

/* ---- its errors ----------------------------------------------------------------------- */

/* Report the first line with an error and its position ("file:12:3: error: text"). */
static int complain(struct d_comp *c, const char *cpp, char *msg, const char *file)
{
	char *line, *save = NULL, *err, *p;

	for (line = strtok_r(msg, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		err = strstr(line, "error:");
		if (err == NULL)
			continue;
		err += strlen("error:");
		err += *err == ' ';
		et_err(&c->error, ET_CPP, "preprocessor: %s", err);
		p = strchr(line, ':');
		if (p != NULL && p < err) {
			snprintf(c->error.file, sizeof(c->error.file), "%.*s", (int)(p - line),
				line);
			c->error.line = (int)strtol(p + 1, &p, 10);
			c->error.column = *p == ':' ? (int)strtol(p + 1, NULL, 10) : 0;
		}
		return -1;
	}
	snprintf(c->error.file, sizeof(c->error.file), "%s", file);
	return et_err(&c->error, ET_CPP, "the preprocessor '%s' failed", cpp);
}

static int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0; /* somebody else reaps children: trust the output */
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int d_cpp(struct d_comp *c, const char *file, const char *text, size_t len, char **out,
	size_t *out_len)
{
	struct capture o = {.fd = -1, .max = D_MAX_SOURCE}, e = {.fd = -1, .max = MAX_MESSAGES};
	const char *cpp = last_of(c, OPT_CPPPATH, "cpp");
	int in, po[2] = {-1, -1}, pe[2] = {-1, -1}, rc = -1;
	struct args a = {0};
	pid_t pid;

	make_args(c, &a, cpp, file);
	in = input(c, file, text, len);
	if (in < 0)
		return -1;
	if (pipe2(po, O_CLOEXEC) != 0 || pipe2(pe, O_CLOEXEC) != 0) {
		et_err(&c->error, ET_CPP, "cannot make a pipe: %s", strerror(errno));
		goto out;
	}
	if (spawn(c, &a, in, po[1], pe[1], &pid) != 0)
		goto out;
	close_fd(&po[1]);
	close_fd(&pe[1]);
	o.fd = po[0];
	e.fd = pe[0];
	if (drain(&o, &e) != 0) {
		kill(pid, SIGKILL);
		reap(pid);
		if (o.full)
			et_err(&c->error, ET_CPP, "the preprocessed script is larger than %u MiB",
				D_MAX_SOURCE >> 20);
		else
			et_err(&c->error, ET_CPP, "the preprocessor took more than %d seconds",
				MAX_SECONDS);
		goto out;
	}
	if (e.s != NULL)
		e.s[e.len] = '\0';
	if (reap(pid) != 0) {
		complain(c, cpp, e.s != NULL ? e.s : (char *)"", file);
		goto out;
	}
	if (c->opts->val[OPT_CPPHDRS] && e.len > 0)
		fwrite(e.s, 1, e.len, c->trace != NULL ? c->trace : stderr);
	rc = 0;
out:
	close(in);
	for (int i = 0; i < 2; i++) {
		close_fd(&po[i]);
		close_fd(&pe[i]);
	}
	free(e.s);
	if (rc != 0) {
		free(o.s);
		return -1;
	}
	*out = o.s;
	*out_len = o.len;
	return 0;
}
