/* SPDX-License-Identifier: Apache-2.0 */
/* SIGPROF has a handler that is not ours; with TAKE_ALL all real-time signals have, too. */
#include <signal.h>
#include <stdlib.h>

static void handler(int sig)
{
	(void)sig;
}

__attribute__((constructor)) static void take(void)
{
	signal(SIGPROF, handler);
	for (int sig = SIGRTMIN; getenv("TAKE_ALL") != NULL && sig <= SIGRTMAX; sig++)
		signal(sig, handler);
}
