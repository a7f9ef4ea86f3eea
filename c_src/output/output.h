/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command makes of results. An output is a form of them: one file with one struct sink, and
 * a line of the list outputs.def. From that line the command line, --help, bash completion and the
 * checks of the manual know it.
 *
 *   outputs.c       the list: options are chosen and checked, outputs opened, fed and closed
 *   output.c        where text goes: the standard output, -o, a server; EPIPE and ENOSPC
 *   result_files.c  files of results, written at the end; "-" is the standard output
 *   message.c       messages on stderr; error_limit.c: not too many errors of clauses; escape.c: texts
 *                   of others, for terminals
 *
 * Of what a script gathers, one output prints all as it comes:
 *
 *   text_output.c   as text, unless another does
 *   json_output.c   --json; live_ticks.c: --live
 *   server_calls.c  as calls of a server that runs the script
 *
 * Others take aggregations by stack (stacks.c), which by_stack.c collects:
 *
 *   folded.c, speedscope.c, pprof.c
 *
 * And others requests that are followed (flow_model.c), which requests.c collects of events that
 * flow_events.c reads:
 *
 *   follow.c (with flow_tree.c), flow_json.c (with slowest.c), perfetto.c, otlp_spans.c
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/unmatched.h"
#include "error_limit.h"
#include "erltrace.h"
#include "json/json.h"
#include "message.h"

struct flow;
struct output;
struct requests;
struct run_calls;
struct stacks;
struct worker;

/* ---- an output --------------------------------------------------------------------------- */

enum output_traits {
	OF_STACKS = 1,	  /* it takes aggregations by stack */
	OF_REQUESTS = 2,  /* ... requests that are followed */
	OF_ANY_SCRIPT = 4, /* ... also of a script that follows none */
	WITH_JSON = 8,	  /* its option is one of --json */
	OF_ALL_STACKS = 16, /* with OF_STACKS: it has room for more than one aggregation */
};

/* An output that may be chosen, in this run. */
struct chosen {
	bool is;
	const char *value; /* of its option */
	void *state;	   /* its own */
	FILE *f;	   /* of result_files.c: its file, */
	bool made;	   /* ... which was not there before */
};

/* What something has failed at. line: as a message; may_come: a description matches nothing yet. */
struct failure {
	const erltrace_error_t *err;
	const char *doing, *line;
	bool may_come;
};

struct sink {
	const char *option; /* --option; NULL: it is no choice of the command line */
	const char *value;  /* what that takes, with "=" or a space in front; NULL: nothing */
	const char *about;  /* its line of --help */
	unsigned traits;
	/*
	 * The option was given. *clause: one that it adds to the scripts, which then print nothing
	 * else; the caller frees it. -1: fine, otherwise what to exit with, and that is reported.
	 */
	int (*choose)(struct output *o, struct chosen *s, char **clause);
	void (*check)(struct output *o); /* all options are known */

	/* Of the one that prints; tick(), notice(), gone() and unmatched() may be NULL. */
	int (*handlers)(struct output *o, erltrace_handlers_t *h);
	/* What came since the last tick; *any: anything. > 0: there is more. */
	int (*tick)(struct output *o, const char *node, erltrace_t *from, int stream, bool *any);
	void (*failed)(struct output *o, const struct failure *f);
	void (*notice)(struct output *o, const char *text); /* for a server's page */
	/* One that is written, or error says why it is not. */
	void (*snapshot)(struct output *o, const erltrace_snapshot_t *s);
	void (*gone)(struct output *o, const char *node); /* one that was lost */
	void (*unmatched)(
		struct output *o, const char *node, struct client_unmatched *list, size_t n);

	/* Of the others: their state, zeroed, is there from open() to close(). */
	size_t state_size;
	int (*open)(struct output *o, struct chosen *s); /* CLI_OK, or the error is reported */
	void (*flow)(struct output *o, struct chosen *s, struct flow *f); /* a request is over */
	void (*look)(struct output *o, struct chosen *s, int64_t now_ms); /* what is due */
	/* All of it, at the end, to the file that its option names. False: out of memory. */
	bool (*write)(const struct output *o, const struct chosen *s, const char *title, FILE *f);
	int (*close)(struct output *o, struct chosen *s); /* CLI_OK, or what was lost is reported */
};

/* In the order of the list. */
enum {
#define OUTPUT(name) AT_##name,
#include "outputs.def"
	OUTPUTS
};
#define OUTPUT(name) extern const struct sink name##_output;
#include "outputs.def"

/* ---- the outputs of a run ----------------------------------------------------------------- */

/* An aggregation by stack with count() or sum(). */
struct stack_agg {
	char *name;
	uint64_t period; /* ns, if all its clauses are of one profile-N; otherwise 0 */
	bool wall;	 /* ... which is a profile-wall-N */
};

/* What is known of the scripts before they are compiled. */
struct output_scripts {
	const char *script, *node; /* the first of each; NULL: there is none */
	bool parsed;		   /* otherwise compiling them says why not */
	const struct stack_agg *stack_aggs;
	int nstack_aggs;
	bool other_stack_agg; /* an aggregation by stack with another function */
	bool follows, flowtrace; /* they call follow(), flowtrace() */
	erltrace_t *h;		 /* has the options */
};

struct output {
	struct co_json json_state; /* first: its handlers are given this */
	int (*json_drop)(void *arg, const erltrace_drop_t *d);
	/* what is asked for */
	const char *path; /* -o; NULL: the standard output */
	bool json;	  /* no text */
	int live_ms;	  /* --live; 0: not */
	struct chosen chosen[OUTPUTS];
	/* a server has these; NULL: it is the command, or takes lines */
	struct worker *worker;
	const struct run_calls *calls;
	/* as the scripts have it */
	bool quiet; /* after compiling */
	bool draws; /* a script prints control characters itself */
	bool droptags;
	bool gathers; /* the script has been started */
	bool foreign; /* ... in nodes: what it prints is escaped for terminals */
	/* output.c */
	FILE *f, *own; /* own: where f went before freopen(); NULL: there */
	bool terminal; /* f is one */
	bool printed;  /* something else than spaces */
	int write_error; /* errno of the first failed write; 0: none */
	/* of the file each */
	struct error_limit errors;
	struct stacks *stacks;	   /* NULL: none are wanted */
	struct requests *requests; /* likewise */
	int64_t next_stacks;	   /* ms */
	char title[256];
};

/* ---- outputs.c ---------------------------------------------------------------------------- */

const struct sink *output_at(unsigned i); /* NULL: there are no more */
int output_choose(struct output *o, unsigned i, const char *value, char **clause); /* as choose() */
/* All options are known: what does not go together? -1: fine. */
int output_check(struct output *o, bool lists);
/* "--a, --b or --c": outputs with any of these traits; traits 0: with a file. */
const char *output_names(char *buf, size_t size, unsigned traits, const char *before_last);
/* The option of the first that is chosen. */
const char *output_first(const struct output *o, unsigned traits);
const struct sink *output_printer(const struct output *o);
void output_snapshot(struct output *o, const erltrace_snapshot_t *s);
/*
 * Before the scripts are compiled; CLI_ERROR: one would stay empty, or cannot be opened. *clauses:
 * what is to be added to the scripts, or NULL.
 */
int output_open(struct output *o, const struct output_scripts *of, const char **clauses);
int output_handlers(struct output *o, erltrace_handlers_t *h);
/* As tick() above. stream: of a reader; OUTPUT_OWN: from is a handle of this process. */
int output_tick(struct output *o, const char *node, erltrace_t *from, int stream, bool *any);
enum { OUTPUT_OWN = -1 };
/* What is due by the clock: of requests, of aggregations by stack. */
void output_look(struct output *o, int64_t now_ms);
void output_collect(struct output *o, erltrace_t *from, int64_t now_ms);
void output_collect_last(struct output *o, erltrace_t *from);
int output_finish(struct output *o, int status); /* returns the status */

/* ---- output.c ----------------------------------------------------------------------------- */

int output_begin(struct output *o);
int output_end(struct output *o, int status); /* CLI_ERROR: something was not written */
void output_write(struct output *o, const char *text, size_t len);
void output_write_foreign(struct output *o, const char *text, size_t len); /* of a node */
void output_gathered(struct output *o, const char *text, size_t len); /* what the script prints */
void output_printf(struct output *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void output_flush(struct output *o);
/* A line about something that went wrong while the script ran, of a node or "". */
void output_error(struct output *o, const char *node, const char *text, size_t len);
int output_reopen(struct output *o, const char *path); /* freopen(); "": back. 0, or errno */
void output_truncate(struct output *o);
int output_fd(const struct output *o); /* where programs of a script write: a server has no file */
void output_look_at_stdout(struct output *o); /* it may be another file by now */
void output_tell_blank(struct output *o); /* on a terminal: that nothing was printed, and why */

#endif
