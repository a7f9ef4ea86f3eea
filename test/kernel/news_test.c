/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run in a node says, as its reader passes it on: lines of its own, and none of a script's,
 * whatever bytes these have. (A NUL once kept it in a loop.)
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/nodes.h"
#include "checks.h"

int main(void)
{
	static const char said[] = "a script's\n\0\0\n\nerltrace: one\nno line\0erltrace: two\nerltrace: ";
	struct k_armed a = {.pid = 1}; /* only looked at for being there */
	bool ended = false;
	char buf[128] = "";
	int fds[2];

	alarm(60);
	if (pipe(fds) < 0 || write(fds[1], said, sizeof(said) - 1) != sizeof(said) - 1)
		return 1;
	a.out = fds[0];
	ok(k_nodes_news(&a, buf, sizeof(buf), &ended) && strcmp(buf, "in the node: one") == 0,
		"the first", buf);
	ok(k_nodes_news(&a, buf, sizeof(buf), &ended) && strcmp(buf, "in the node: two") == 0,
		"the second, behind a NUL", buf);
	ok(!k_nodes_news(&a, buf, sizeof(buf), &ended) && !ended, "the third is half a line", buf);
	if (write(fds[1], "three\n\0", 7) != 7)
		return 1;
	close(fds[1]);
	ok(k_nodes_news(&a, buf, sizeof(buf), &ended) && strcmp(buf, "in the node: three") == 0,
		"the third", buf);
	ok(k_nodes_news(&a, buf, sizeof(buf), &ended) && ended, "its end", buf);
	ok(!k_nodes_news(&a, buf, sizeof(buf), &ended), "once", buf);
	return finish();
}
