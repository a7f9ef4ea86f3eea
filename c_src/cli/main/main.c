/* SPDX-License-Identifier: Apache-2.0 */
/* The program: one of its subcommands, or the scripts of the command line (execute.c). */
#include "cli/cli.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "cli/signals.h"
#include "cli/subcommands.h"
#include "execute.h"

/*
 * What was closed before we began is not to be a socket or a file of ours: what is printed would go
 * there. It is a place that nothing can be written to, as a closed one.
 */
static void hold_closed(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct cli c = {0};
	int status;

	hold_closed();
	if (argc > 1 && strcmp(argv[1], "web") == 0)
		return web_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "record") == 0)
		return record_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "test") == 0)
		return test_main(argc - 1, argv + 1);
	status = cli_args(&c, argc, argv);
	if (status == -1)
		status = cli_execute(&c);
	cli_free(&c);
	cli_end_by_signal();
	return status;
}
