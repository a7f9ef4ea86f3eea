#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.d: ports and their drivers: opened and closed, with the reason; commands and bytes sent to
 * them, by the port's name.
 *
 *	erltrace -N NODE -qs ports.d [for=SECONDS]
 *
 * Arguments: how many seconds to run (until ^C).
 * Cost: flags ports and 'receive' on ports; about 1 us for each operation on a port.
 * Sample:
 *	+ #Port<0.12>          cat                  by <0.312.0>
 *	- #Port<0.12>          cat                  normal
 *
 *	NAME                 WHAT              TIMES      BYTES
 *	cat                  close                 1
 *	cat                  command               5
 *	cat                  output                5       50 B
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

BEGIN { seconds = $1; }

erlang*:::port-open
{
	printf("+ %-20s %-20s by %s\n", copyinstr(arg2), copyinstr(arg1), copyinstr(arg0));
}

erlang*:::port-exit
{
	printf("- %-20s %-20s %s\n", copyinstr(arg1), copyinstr(arg2), copyinstr(arg3));
}

erlang*:::port-command { @n[copyinstr(arg2), copyinstr(arg3)] = count(); }
erlang*:::port-control { @n[copyinstr(arg2), "control"] = count(); }
erlang*:::port-connect { @n[copyinstr(arg2), "connect"] = count(); }

erlang*:::driver-output, erlang*:::driver-outputv
{
	@bytes_n[copyinstr(arg2), substr(probename, 7)] = count();
	@bytes[copyinstr(arg2), substr(probename, 7)] = sum(arg3);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%-20s %-12s %10s %10s\n", "NAME", "WHAT", "TIMES", "BYTES");
	printa("%-20s %-12s %@10d\n", @n);
	printa("%-20s %-12s %@10d %@10B\n", @bytes_n, @bytes);
	trunc(@n); trunc(@bytes_n); trunc(@bytes);
}
