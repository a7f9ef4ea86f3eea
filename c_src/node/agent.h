/* SPDX-License-Identifier: Apache-2.0 */
/* erltrace's agent in a node that does not have it. */
#ifndef NODE_AGENT_H
#define NODE_AGENT_H

#include "connection.h"

/* Loads the agent into the node, unless it has one, of its own or loaded by another command. It
 * stays until nd_agent_gone(), or until the connection ends. */
int nd_agent(struct nd *n, struct et_error *e);
/* It is not needed any more. If it was loaded by a command, and no other command needs it, it is
 * unloaded when this returns. */
void nd_agent_gone(struct nd *n);

#endif
