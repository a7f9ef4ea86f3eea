/* SPDX-License-Identifier: Apache-2.0 */
/* poster.h where libwebsockets is missing: nothing can be posted. */
#include "poster.h"

#include <stddef.h>

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
