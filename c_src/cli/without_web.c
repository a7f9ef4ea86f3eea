/* SPDX-License-Identifier: Apache-2.0 */
/* The command where the libraries of the live page's server are missing: instead of c_src/web. */
#include "cli.h"

int web_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	cli_say("this erltrace was built without the live page: install libwebsockets-dev, "
		"libjansson-dev and libcap-dev, and build it again");
	return CLI_USAGE;
}
