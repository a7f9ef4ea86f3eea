/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handle: options, probes and engine, compiler, consumer.
 *
 *   handle.c  open, options, compile, go, work, stop, close
 *   probes.c  listing probes; probes of the program's own
 *   tables.c  errors as text; tables for help and manuals
 *   scanner.c what a script uses, before it is compiled
 *   replaying.c  events from a file; recorder.c: a script that records what another reads
 *   streaming.c  results as a stream, written and read
 *   snapshot.c snapshots of bufpolicy=ring, from the wish to the file
 *   in_node.c what the side inside a node needs besides
 */
#ifndef API_HANDLE_H
#define API_HANDLE_H

#include "erltrace.h"
#include "consume/consume.h"
#include "d/d.h"
#include "engine/engine.h"
#include "snapshot.h"

struct api_scan;

struct erltrace {
	struct et_options opts;
	struct en *en;
	struct d_comp *comp;
	struct co *co;	       /* from go on */
	unsigned first_clause; /* of the last script */
	unsigned matches;
	char *tree; /* -xtree: of the last script */
	struct api_scan *scan; /* what scans share, or NULL */
	erltrace_bridge_t bridge; /* en->bridge, or all NULL */
	char *script; /* the file of the first script, or NULL */
	struct api_snapshot snap;
	bool begun; /* the header has been printed */
	bool unread; /* the end is held back: firings that somebody else counts are still to be read */
	bool done;  /* work() has given ERLTRACE_DONE */
	/* work, or NULL: as usual */
	int (*replay)(erltrace_t *h, const erltrace_handlers_t *handlers);
	uint64_t next_switch, next_status, next_clean, next_look; /* ns, when they are due */
	uint64_t worked, cleaned; /* ns, when all was read, and cleaned up, the last time */
	uint64_t fired; /* en_fired() before that */
	struct sw *writer; /* results leave as a stream; NULL: they do not */
	struct sr *reader; /* they come as streams, and there is no engine; NULL: there is one */
};

/* Both return -1. The caller's error, which may be NULL, is touched by a failure alone. */
int api_error(erltrace_error_t *err, const struct et_error *e);
int api_fail(erltrace_error_t *err, enum et_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool api_ended(const erltrace_t *h); /* the next work() is the last one */
unsigned api_flags(const erltrace_compile_opts_t *o); /* D_C_* */
/* $0 is the script's name, $1.. its arguments. NULL: out of memory. The caller frees. */
const char **api_argv(const erltrace_compile_opts_t *o);
int api_upkeep(erltrace_t *h, uint64_t now, erltrace_error_t *err); /* what is due: clean, look */
int api_reader_begun(erltrace_t *h, erltrace_error_t *err);
int api_read(erltrace_t *h, const erltrace_handlers_t *handlers, erltrace_error_t *err); /* work() */
erltrace_status_t api_reader_status(const erltrace_t *h, int *exit_code);
/* erltrace_changes(), of one of so many streams */
int api_changes(erltrace_t *h, unsigned stream, unsigned nstreams, const erltrace_tick_t *tick,
	const erltrace_change_handlers_t *to);
void api_scan_free(struct api_scan *s);
/* The user has set it: scripts that are scanned from now on are read so. s may be NULL. */
void api_scan_setopt(struct api_scan *s, const char *name, const char *value);

#endif
