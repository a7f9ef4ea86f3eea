/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handle: options, probes and engine, compiler, consumer.
 *
 *   handle.c  open, options, compile, go, work, stop, close
 *   probes.c  listing probes; probes of the program's own
 *   names.c   errors as text; tables for help and manuals
 */
#ifndef API_HANDLE_H
#define API_HANDLE_H

#include "../../include/erltrace.h"
#include "../consume/consume.h"
#include "../d/d.h"
#include "../engine/engine.h"

struct erltrace {
	struct et_options opts;
	struct en *en;
	struct d_comp *comp;
	struct co *co;	       /* from go on */
	unsigned first_clause; /* of the last script */
	unsigned matches;
	char *tree; /* -xtree: of the last script */
	bool begun; /* the header has been printed */
	bool hold;  /* the end is held back: results of others are still to come */
	bool unread; /* the same: firings that somebody else counts are still to be read */
	bool done;  /* work() has given ERLTRACE_DONE */
	uint64_t next_switch, next_status, next_clean, next_look; /* ns, when they are due */
};

/* Copy an internal error out; returns -1. */
int api_error(erltrace_error_t *to, const struct et_error *from);

#endif
