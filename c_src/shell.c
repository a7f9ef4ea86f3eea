/* SPDX-License-Identifier: Apache-2.0 */
#include "shell.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Thread_local int end_fd = -1;

int shell_start(pid_t *pid, const char *command, int out)
{
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none;
	int rc = posix_spawn_file_actions_init(&fa);

	if (rc != 0)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (rc == 0) {
		sigemptyset(&none);
		posix_spawnattr_setsigmask(&attr, &none);
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
		if (out >= 0)
			posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO);
		rc = posix_spawn(pid, "/bin/sh", &fa, &attr, argv, environ);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

void shell_end_by(int fd)
{
	end_fd = fd;
}

static bool reap(pid_t pid, int flags)
{
	pid_t rc;

	do
		rc = waitpid(pid, NULL, flags);
	while (rc < 0 && errno == EINTR);
	return rc != 0;
}

bool shell_ended(pid_t pid)
{
	struct pollfd end = {.fd = end_fd, .events = POLLIN};

	if (poll(&end, 1, 0) <= 0)
		return reap(pid, WNOHANG);
	kill(pid, SIGKILL);
	return reap(pid, 0);
}

void shell_await(pid_t pid)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	if (end_fd < 0)
		reap(pid, 0);
	else
		while (!shell_ended(pid))
			nanosleep(&pause, NULL);
}
