/* SPDX-License-Identifier: Apache-2.0 */
/* What the scripts use, as the parser reports it before they are compiled: script/script_scan.c. */
#ifndef CLI_SCRIPT_USES_H
#define CLI_SCRIPT_USES_H

#include <stdbool.h>

struct stack_agg; /* output/output.h */

/* Of all scripts together. */
struct cli_uses {
	bool erlang, kernel;  /* probes of nodes; of this machine */
	bool node_probes;     /* erlang probes that a node has itself */
	bool vm_probes;	      /* erlang probes that only the kernel has: functions of the VM */
	bool absent_probes;   /* erlang probes that do not exist here: the node says why */
	bool erlang_builtins; /* erlpid and the like, which threads of a node have at any probe */
	bool samples;	      /* profile-N */
	bool kernel_stacks;   /* stack() and the like */
	bool process_probes;  /* probes of a process, whose library may be loaded later */
	bool target_probes;   /* probes of $target */
	int erlang_pid;	      /* of erlang<N>, or 0 */
	bool aggregations;
	struct stack_agg *stack_aggs;
	int nstack_aggs;
	bool other_stack_agg; /* an aggregation by stack with another function */
	bool exit, ftruncate;
	bool follows, flowtrace; /* calls of follow(), of flowtrace() */
	bool keys; /* the probe state:::key */
	bool destructive;	  /* the option, as the user and the scripts set it */
	char **commands, **paths; /* formats of system() and of freopen() */
	int ncommands, npaths;
};

#endif
