/* SPDX-License-Identifier: Apache-2.0 */
#include "shell.h"

#include <signal.h>
#include <spawn.h>
#include <unistd.h>

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
