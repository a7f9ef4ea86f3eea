/* SPDX-License-Identifier: Apache-2.0 */
/* Where there is no libei to reach nodes with: instead of list_nodes.c. */
#include "web.h"

#include <string.h>

#include "client/worker.h"
#include "node_names.h"

static int refuse(struct worker *w, void *arg)
{
	static const char why[] = "this erltrace was built without Erlang: it cannot reach nodes\n";

	(void)arg;
	worker_say(w, why, strlen(why));
	return 1;
}

struct worker *web_ask_nodes(const struct web_opts *o)
{
	(void)o;
	return worker_start(refuse, NULL, NULL);
}
