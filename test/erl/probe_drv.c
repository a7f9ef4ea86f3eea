/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver for the tests of the driver probes: it takes commands, controls and calls, and has
 * output left when it is closed (after control 1), so that it is flushed.
 */
#include <erl_driver.h>
#include <string.h>

static ErlDrvData start(ErlDrvPort port, char *command)
{
	(void)command;
	return (ErlDrvData)port;
}

static void outputv(ErlDrvData d, ErlIOVec *ev)
{
	(void)d, (void)ev;
}

static ErlDrvSSizeT control(
	ErlDrvData d, unsigned cmd, char *buf, ErlDrvSizeT len, char **out, ErlDrvSizeT size)
{
	(void)buf, (void)len, (void)out, (void)size;
	if (cmd == 1)
		driver_enq((ErlDrvPort)d, "left", 4);
	return 0;
}

static void flush(ErlDrvData d)
{
	driver_deq((ErlDrvPort)d, 4);
}

static ErlDrvSSizeT call(ErlDrvData d, unsigned cmd, char *buf, ErlDrvSizeT len, char **out,
	ErlDrvSizeT size, unsigned *flags)
{
	(void)d, (void)cmd, (void)flags;
	if (len <= size) {
		memcpy(*out, buf, len);
		return (ErlDrvSSizeT)len;
	}
	return (ErlDrvSSizeT)ERL_DRV_ERROR_BADARG;
}

static ErlDrvEntry entry = {
	.start = start,
	.outputv = outputv,
	.control = control,
	.flush = flush,
	.call = call,
	.driver_name = "probe_drv",
	.extended_marker = ERL_DRV_EXTENDED_MARKER,
	.major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
};

DRIVER_INIT(probe_drv)
{
	return &entry;
}
