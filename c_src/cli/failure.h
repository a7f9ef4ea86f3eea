/* SPDX-License-Identifier: Apache-2.0 */
/* What has failed, and how it is told. */
#ifndef CLI_FAILURE_H
#define CLI_FAILURE_H

#include <stdbool.h>

#include "erltrace.h"
#include "error.h"

struct cli;

struct cli_failing {
	bool errtags;
	const char *said; /* the file that a message names anyway, or NULL */
	bool one_line;	  /* the script is one line: no need to say which */
};

/* What failed, then the error; on a terminal with a caret. Returns CLI_ERROR. */
int cli_fail(struct cli *c, const struct et_error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool cli_option_on(erltrace_t *h, const char *name);

#endif
