/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of the provider erlang, from the table erlang_probes.def. Those from BP_FUNCTIONS on
 * exist once for each function that a script names, the others once in a node.
 *
 */
#ifndef BEAM_ERL_PROBES_H
#define BEAM_ERL_PROBES_H

#pragma GCC visibility push(hidden)

enum beam_probe {
#define PROBE(ID, ...) BP_##ID,
#include "erlang_probes.def"
	BP_COUNT_
};
#define BP_FUNCTIONS  BP_FUNCTION_ENTRY /* from here on: once for each function */
#define BP_NFUNCTIONS (BP_COUNT_ - BP_FUNCTIONS)
#define BP_CALLS      BP_ETS_ENTRY /* from here on: of certain functions only (call_probes.c) */
#define BP_NUSER      951 /* user_trace-n0..n950 */

/* Their arguments: ARG(), ARG_BIT(), STRINGS() of erlang_probes.h. */
#define PROBE(ID, name, route, ...) PROBE_ENUM(ID, __VA_ARGS__)
#include "erlang_probes.def"

/* Arguments that go together: the depth of a call, and whether it is a tail call; a token. */
#define BEAM_DEPTH_ARGS	    (ARG_BIT(FUNCTION_ENTRY, depth) | ARG_BIT(FUNCTION_ENTRY, tail))
#define BEAM_TOKEN_ARGS(ID) (ARG_BIT(ID, label) | ARG_BIT(ID, previous) | ARG_BIT(ID, current))

/* An argument is computed if a clause of the probe p reads it. */
#define BEAM_MAKE_ARG(p, arg, ID, name, value)                                                     \
	do {                                                                                       \
		if ((p)->argmask & ARG_BIT(ID, name))                                              \
			(arg)[ARG(ID, name)] = (value);                                            \
	} while (0)

/* For code that fires both probes: the argument is the same one. */
#define BEAM_SAME_ARG(ID, other, name)                                                             \
	_Static_assert(ARG(ID, name) == ARG(other, name), "the same argument of both")

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
	ROUTE_BUSY_PORT,    /* the system monitor's messages: erltrace_sysmon */
	ROUTE_BUSY_DIST_PORT,
	ROUTE_LONG_GC,
	ROUTE_LONG_SCHEDULE,
	ROUTE_LARGE_HEAP,
	ROUTE_LONG_QUEUE,
	ROUTE_NODES,	    /* net_kernel's messages: erltrace_sysmon */
	ROUTE_FLOW,	    /* the sequential system tracer: erltrace_flows */
	ROUTE_USER,	    /* calls of our own NIF, and of dyntrace's */
	ROUTE_LOCAL,	    /* call, pattern [local] */
	ROUTE_GLOBAL,	    /* call, pattern [global] */
	ROUTE_RETURN,	    /* call, pattern [local], and return_to */
	ROUTE_EXCEPTION,    /* call, pattern [local] with exception_trace, and return_to */
	ROUTE_NONE,	    /* cannot be given here */
};

/* Why a probe cannot be given here. */
enum beam_reason {
	ABSENT_UPROBE, /* a function of the VM gives it, to the kernel engine */
	ABSENT_GONE,   /* no VM has it any more */
	ABSENT_ALIKE,  /* its events look like those of another probe */
	ABSENT_HIDDEN, /* nothing shows it */
};

struct beam_probedef {
	const char *name;
	enum beam_route route;
	enum beam_reason reason; /* ROUTE_NONE */
	const char *why;	 /* the same for people */
	int nargs;
	const char *const *argtypes;
};
extern const struct beam_probedef beam_probedefs[BP_COUNT_];

#pragma GCC visibility pop
#endif
