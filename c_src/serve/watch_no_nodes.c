/* SPDX-License-Identifier: Apache-2.0 */
/* Where there is no libei to reach nodes with: instead of watch_nodes.c. */
#include "members.h"

#include <string.h>

#include "client/worker.h"

static int refuse(struct worker *w, void *arg)
{
	static const char why[] = "this erltrace was built without Erlang: it cannot reach nodes\n";

	(void)arg;
	worker_say(w, why, strlen(why));
	return 1;
}

struct worker *watch_nodes(const char *node, const char *cookie_file)
{
	(void)node, (void)cookie_file;
	return worker_start(refuse, NULL, NULL);
}
