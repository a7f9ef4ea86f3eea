#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atoms.d: new atoms: which, who creates them, and where. The VM never frees atoms, and a node with too
 * many of them crashes.
 *
 *	erltrace -N NODE -qs atoms.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many processes and stacks to show (10).
 * Cost: calls of list_to_atom/1 and binary_to_atom/2, and their results, are traced (flag call): 0.75 us
 * each if the atom exists, as measured, with -x calls=fast 0.15 us; a stack for each new atom.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Atoms created in other ways (binary_to_term, other nodes, loading of code) are only counted.
 * Sample:
 *	NUMBER     PROCESS                      ATOM
 *	10032      demo_store                   item_4711
 *
 *	PROCESS                             NEW
 *	demo_store                            1
 *
 *	made at:
 *	              erlang:binary_to_atom/2
 *	              demo_store:handle_call/3 (demo_store.erl:40)
 *	              gen_server:try_handle_call/4 (gen_server.erl:1149)
 *	                1
 *
 *	others, made otherwise: 0
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev

inline int most = $2 ? $2 : 10;
int64_t others;

BEGIN { seconds = $1; shown = 0; printf("%-10s %-28s %s\n", "NUMBER", "PROCESS", "ATOM"); }

erlang*:::atom-new
{
	@by[erlproc] = count();
	@at[ustack(4)] = count();
	others = arg3;
}

erlang*:::atom-new /shown++ < 20/ { printf("%-10d %-28s %s\n", arg2, erlproc, args[1]); }

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@by, most);
	printf("\n%-28s %10s\n", "PROCESS", "NEW");
	printa("%-28s %@10d\n", @by);
	trunc(@at, most);
	printf("\nmade at:");
	printa(@at);
	printf("\nothers, made otherwise: %d\n", others);
	trunc(@by); trunc(@at);
}
