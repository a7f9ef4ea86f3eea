/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command where the libraries of the two servers are missing: instead of c_src/web and
 * c_src/serve.
 */
#include "cli.h"
#include "poster.h"

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

struct poster *poster_open(const char *option, const char *url, const char *suffix,
	void (*say)(const char *fmt, ...) __attribute__((format(printf, 1, 2))))
{
	(void)url, (void)suffix;
	say("%s: this erltrace was built without a client of HTTP: install libwebsockets-dev, "
	    "libjansson-dev and libcap-dev, and build it again",
		option);
	return NULL;
}

bool poster_put(struct poster *p, char *body)
{
	(void)p, (void)body;
	return false;
}

uint64_t poster_close(struct poster *p, int ms)
{
	(void)p, (void)ms;
	return 0;
}
