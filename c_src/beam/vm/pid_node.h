/* SPDX-License-Identifier: Apache-2.0 */
/* The node of a pid or reference of another node (pid_node.c, probe path). text: its %T. */
#ifndef BEAM_PID_NODE_H
#define BEAM_PID_NODE_H

#include <erl_nif.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

ERL_NIF_TERM beam_node_atom(const char *text); /* 0: of this node, or not known */
bool beam_is_remote(const char *text);
void beam_pid_node_check(ErlNifEnv *env);

#pragma GCC visibility pop
#endif
