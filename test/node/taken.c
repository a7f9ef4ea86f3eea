/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes what a node has only a few of (taken.erl): a dirty CPU scheduler, as a NIF that computes
 * for ever does, and as a driver an async thread. Each lets go when somebody opens the FIFO that it
 * reads.
 */
#include <erl_driver.h>
#include <erl_nif.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for(const char *fifo)
{
	int fd = open(fifo, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
}

static ERL_NIF_TERM dirty_cpu(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char fifo[1024];

	(void)argc;
	if (enif_get_string(env, argv[0], fifo, sizeof(fifo), ERL_NIF_LATIN1) <= 0)
		return enif_make_badarg(env);
	wait_for(fifo);
	return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {{"dirty_cpu", 1, dirty_cpu, ERL_NIF_DIRTY_JOB_CPU_BOUND}};

ERL_NIF_INIT(taken, functions, NULL, NULL, NULL, NULL)

static void in_thread(void *fifo)
{
	wait_for(fifo);
}

static ErlDrvData start(ErlDrvPort port, char *command)
{
	(void)command;
	return (ErlDrvData)port;
}

static void output(ErlDrvData data, char *fifo, ErlDrvSizeT len)
{
	char *text = calloc(1, len + 1);

	memcpy(text, fifo, len);
	driver_async((ErlDrvPort)data, NULL, in_thread, text, free);
}

static ErlDrvEntry entry = {
	.start = start,
	.output = output,
	.driver_name = "taken",
	.extended_marker = ERL_DRV_EXTENDED_MARKER,
	.major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
};

DRIVER_INIT(taken)
{
	return &entry;
}
