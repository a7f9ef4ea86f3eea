/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command where the libraries of the two servers are missing: instead of c_src/web and
 * c_src/serve.
 */
#include "output/message.h"
#include "subcommands.h"

int web_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	cli_say("this erltrace was built without the live page: install libwebsockets-dev, "
		"libjansson-dev and libcap-dev, and build it again");
	return CLI_USAGE;
}

int serve_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	cli_say("this erltrace was built without the server of metrics: install libwebsockets-dev, "
		"libjansson-dev and libcap-dev, and build it again");
	return CLI_USAGE;
}
