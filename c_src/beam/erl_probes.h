/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of the provider erlang, from the table probes.def. Those from BP_FUNCTIONS on exist
 * once for each function that a script names, the others once in a node.
 */
#ifndef BEAM_ERL_PROBES_H
#define BEAM_ERL_PROBES_H

#pragma GCC visibility push(hidden)

enum beam_probe {
#define PROBE(ID, name, route, nargs, ...) BP_##ID,
#include "probes.def"
	BP_COUNT_
};
#define BP_FUNCTIONS  BP_FUNCTION_ENTRY /* from here on: once for each function */
#define BP_NFUNCTIONS (BP_COUNT_ - BP_FUNCTIONS)
#define BP_NUSER      951 /* user_trace-n0..n950 */

/* How a probe's events come about; what is armed for it. */
enum beam_route {
	ROUTE_PROCS,	    /* trace flag procs */
	ROUTE_SEND,	    /* send */
	ROUTE_RECEIVE,	    /* 'receive' */
	ROUTE_RUNNING,	    /* running_procs */
	ROUTE_GC,	    /* garbage_collection */
	ROUTE_PORTS,	    /* ports, on ports */
	ROUTE_PORT_RECEIVE, /* 'receive', on ports */
	ROUTE_PORT_RUNNING, /* running_ports */
	ROUTE_DRIVERS,	    /* calls of erl_ddll:try_load and try_unload */
	ROUTE_BUSY_PORT,    /* the system monitor's messages: erltrace_monitor */
	ROUTE_BUSY_DIST_PORT,
	ROUTE_NODES,	    /* net_kernel's messages: erltrace_monitor */
	ROUTE_USER,	    /* calls of our own NIF, and of dyntrace's */
	ROUTE_LOCAL,	    /* call, pattern [local] */
	ROUTE_GLOBAL,	    /* call, pattern [global] */
	ROUTE_RETURN,	    /* call, pattern [local], and return_to */
	ROUTE_NONE,	    /* cannot be given here: why says what would */
};

struct beam_probedef {
	const char *name;
	enum beam_route route;
	const char *why; /* ROUTE_NONE */
	int nargs;
	const char *const *argtypes;
};
extern const struct beam_probedef beam_probedefs[BP_COUNT_];

#pragma GCC visibility pop
#endif
