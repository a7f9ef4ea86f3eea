/* SPDX-License-Identifier: Apache-2.0 */
/* Where there is no libei to reach nodes with: instead of list_nodes.c. */
#include "web.h"
#include "node_names.h"

int web_list_nodes(const struct web_opts *o)
{
	(void)o;
	web_say("this erltrace was built without Erlang: it cannot reach nodes");
	return 1;
}
