/* SPDX-License-Identifier: Apache-2.0 */
/* Where there is no libei to reach nodes with: instead of watch_nodes.c. */
#include "members.h"

#include <stdio.h>

int watch_nodes(const char *node, const char *cookie_file)
{
	(void)node, (void)cookie_file;
	fputs("this erltrace was built without Erlang: it cannot reach nodes\n", stderr);
	return 1;
}
