/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liberltrace: run D scripts in a program, read what they gather.
 *
 *	erltrace_t *h = erltrace_open(&err);
 *	erltrace_compile(h, "tick-1s { @[\"ticks\"] = count(); }", NULL, &err);
 *	erltrace_go(h, &err);
 *	while (erltrace_work(h, &handlers, &err) == ERLTRACE_OK)
 *		erltrace_sleep(h);
 *	erltrace_close(h);
 *
 * Threads: only one thread at a time may use a handle (take a lock of your own, or use it in one
 * thread); different handles are independent. erltrace_fire() and erltrace_enabled() are the
 * exception: any thread may call them at any time between go and close.
 *
 * Errors: functions that can fail return a negative number (or NULL), and fill *err if err is not
 * NULL. The library never prints and never exits.
 *
 * Ownership: strings and structs passed to callbacks are valid during the call. What a function
 * returns belongs to the handle, unless it says otherwise.
 */
#ifndef ERLTRACE_H
#define ERLTRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ERLTRACE_VERSION "0.1.0"

typedef struct erltrace erltrace_t;
typedef struct erltrace_probe erltrace_probe_t;
typedef struct erltrace_string erltrace_string_t;

typedef struct et_error {
	char tag[32];	  /* "D_SYNTAX", "ET_OPTION": erltrace_error_tag(); empty: no error */
	char file[256];	  /* empty: a string, or no file concerned */
	int line, column; /* from 1; 0: no position */
	char text[1024];  /* one sentence, no newline, no prefix */
	char source[256]; /* the source line, tabs kept, or empty */
} erltrace_error_t;

/* One line (with caret != 0 also the source line and a caret under it); returns its length. */
int erltrace_error_format(const erltrace_error_t *err, int caret, char *buf, size_t size);

/* ---- life cycle ----------------------------------------------------------------------- */

erltrace_t *erltrace_open(erltrace_error_t *err);
void erltrace_close(erltrace_t *h); /* stops first if needed, without END; NULL is fine */

/* An option of -x; value NULL: the option without a value. */
int erltrace_setopt(erltrace_t *h, const char *name, const char *value, erltrace_error_t *err);
int erltrace_getopt(erltrace_t *h, const char *name, char *buf, size_t size,
	erltrace_error_t *err);
/* $target. */
void erltrace_set_target(erltrace_t *h, int64_t pid);

typedef struct {
	size_t size;	   /* sizeof(erltrace_compile_opts_t) */
	const char *file;  /* name for messages; also $0 */
	int argc;	   /* script arguments $1... */
	const char *const *argv;
	int zero_matches;  /* accept descriptions that match no probe */
	int default_action; /* a description without a body gets the default action */
	int preprocess;	   /* run cpp on it; < 0: cpp has been run, whatever the option cpp says */
	int empty;	   /* accept an empty script */
	/* how many to append to each description: 3 for -P, 2 for -m, 1 for -f */
	int colons;
} erltrace_compile_opts_t;

/* Compile a script and add it to those that go starts. Several scripts share their variables. */
int erltrace_compile(erltrace_t *h, const char *text, const erltrace_compile_opts_t *opts,
	erltrace_error_t *err);
int erltrace_compile_n(erltrace_t *h, const char *text, size_t len,
	const erltrace_compile_opts_t *opts, erltrace_error_t *err);
int erltrace_compile_file(erltrace_t *h, const char *path, const erltrace_compile_opts_t *opts,
	erltrace_error_t *err);

/* A script file as the preprocessor leaves it, to be compiled elsewhere. The caller frees it. */
char *erltrace_preprocess(erltrace_t *h, const char *path, erltrace_error_t *err);

/* What is in a script. Strings are valid during the call. */
typedef enum {
	ERLTRACE_SCAN_PROBE,	/* a description: its parts ("": any; globs), text, end, behind */
	ERLTRACE_SCAN_VARIABLE, /* a built-in variable: name; once per scan */
	ERLTRACE_SCAN_FUNCTION, /* a call of a subroutine or action: name, text, destructive */
	ERLTRACE_SCAN_AGGREGATION, /* name, without @; text: its function, where it is assigned;
				      by_stack */
	ERLTRACE_SCAN_OPTION,	   /* #pragma D option: name; text: the value that it has now */
} erltrace_scan_kind_t;

typedef struct erltrace_scan_item {
	erltrace_scan_kind_t kind;
	const char *provider, *module, *function; /* of a description */
	const char *name;			  /* of a description: its last part */
	uint32_t id;	  /* of a description by number: the number, and the parts are "" */
	const char *text; /* a description as written, with its colons; of a call that has one, its
			     constant format; of an aggregation, its function; or NULL */
	size_t end;	  /* of a description: its end as an offset in the script, */
	size_t behind;	  /* and the end of all descriptions of its clause */
	int destructive;  /* a call that is refused without -w */
	int line, column;
	int kernel; /* a description whose provider traces the kernel or other programs */
	int by_stack; /* an aggregation that has a stack as a key */
} erltrace_scan_item_t;

typedef void erltrace_scan_cb(void *arg, const erltrace_scan_item_t *item);
/*
 * Say what is in a script, as the compiler's parser reads it, with macros, pragmas and D libraries.
 * The script is not compiled, no probe is looked up, no program is run, no file is written, and the
 * handle and its options do not change. Scripts that are scanned one after the other share
 * declarations and options, like those that are compiled; so set options first. Scan a script for
 * the preprocessor as erltrace_preprocess() returns it. A syntax error is the one that compiling
 * reports, unless that finds another error first; what was reported before it is valid.
 */
int erltrace_scan(erltrace_t *h, const char *text, size_t len, const erltrace_compile_opts_t *opts,
	erltrace_scan_cb *cb, void *arg, erltrace_error_t *err);

typedef struct {
	size_t size;	   /* set by the caller */
	unsigned clauses;  /* in all scripts compiled so far */
	unsigned matches;  /* probes matched by the last script */
	unsigned aggregations, variables, instructions;
	char stability[64]; /* the least of what the last script uses: "Stable/Stable/Common" */
} erltrace_info_t;
int erltrace_info(erltrace_t *h, erltrace_info_t *info);
/* The last script's bytecode with source lines, as text for -S. The caller frees it. */
char *erltrace_disassemble(erltrace_t *h);
/* Option tree: the checked syntax trees of the last script, or NULL. The caller frees it. */
char *erltrace_tree(erltrace_t *h);

int erltrace_go(erltrace_t *h, erltrace_error_t *err);
int erltrace_stop(erltrace_t *h, erltrace_error_t *err);

/* ---- probes --------------------------------------------------------------------------- */

typedef struct {
	uint32_t id;
	const char *provider, *module, *function, *name;
	int nargs; /* typed arguments; -1: not known */
	const char *const *argtypes;
	int absent;	  /* it is known, but cannot be enabled here: note says why */
	const char *note; /* what is special about it, or NULL */
} erltrace_probe_info_t;

typedef int erltrace_probe_cb(void *arg, const erltrace_probe_info_t *p);
/*
 * The probes that a description ("profile:::", "tick-1s", NULL: all) names; returns how many. If
 * there are none, *err may say why.
 */
int erltrace_probes(erltrace_t *h, const char *desc, erltrace_probe_cb *cb, void *arg,
	erltrace_error_t *err);
/* The probes that the clauses of the last script name, clause by clause; returns how many. */
int erltrace_script_probes(erltrace_t *h, erltrace_probe_cb *cb, void *arg, erltrace_error_t *err);

/*
 * A probe of the program's own. Add it before you compile a script that names it. argtypes: nargs C
 * types ("int", "char *", or "string" for arguments passed as erltrace_string_t), or NULL.
 */
erltrace_probe_t *erltrace_probe_add(erltrace_t *h, const char *provider, const char *module,
	const char *function, const char *name, int nargs, const char *const *argtypes,
	erltrace_error_t *err);
/* Strings to fire with: create them once. As keys of aggregations they are not copied. */
erltrace_string_t *erltrace_string_new(const char *text);
void erltrace_string_free(erltrace_string_t *s);
/* Is it enabled? Which arguments do scripts read (bit n: argn)? Cheap, from any thread. */
int erltrace_enabled(const erltrace_probe_t *p);
unsigned erltrace_wanted(const erltrace_probe_t *p);
/* An argument that is a string. */
uint64_t erltrace_string_arg(const erltrace_string_t *s);
/*
 * Fire it. args: n values (at most 10); bit i of strings: args[i] is an erltrace_string_arg().
 * self_key: to whom self-> variables belong; 0: to the calling thread. Any thread may call this; it
 * takes no lock, allocates nothing and makes no system call.
 */
void erltrace_fire(erltrace_probe_t *p, const uint64_t *args, unsigned n, unsigned strings,
	uint64_t self_key);

/* ---- Erlang nodes --------------------------------------------------------------------- */

/*
 * A script with probes of the kernel and of Erlang nodes runs in the kernel. Probes that a node
 * provides itself fire inside the node: somebody has to connect to it, list its probes, and run a
 * script there that passes its events on. That is a bridge. The library has none of its own: it
 * opens no connections and starts no programs. Without a bridge such a script is an error, ET_NODE.
 * The option erlnode names the nodes. (The command's bridge is c_src/cli/bridge.c.)
 *
 * Threads: a bridge is called by the thread that uses the handle, inside calls of the library. Of
 * that handle it may call erltrace_getopt() only. Ownership: what it is given is valid during the
 * call. Errors: list and arm return 0, or a negative number and fill *err. A function that is NULL
 * is not called; without list or arm, scripts that need them are errors.
 *
 */
typedef struct {
	int pid;	  /* of the node's VM, as this machine numbers it */
	const char *text; /* D, for the erltrace in that node */
} erltrace_node_script_t;

typedef struct {
	size_t size;		    /* set by the library */
	const char *const *nodes;   /* names, numbers of processes, or "*"; the last is NULL */
	const char *const *options; /* for the scripts, "watchdog=30"; the last is NULL */
	const erltrace_node_script_t *scripts;
	unsigned nscripts;
} erltrace_arming_t;

typedef struct erltrace_bridge {
	size_t size; /* sizeof(erltrace_bridge_t) */
	/*
	 * Called by compile and erltrace_probes(): the probes that nodes provide themselves and
	 * that match a description ("erlang*:lists:seq:function-entry"). cb is given the provider
	 * ("erlang" and the number of the process), module, function and name, none of them NULL.
	 * If it returns anything but 0, list ends and returns that.
	 *
	 */
	int (*list)(void *arg, const char *const *nodes, const char *desc, erltrace_probe_cb *cb,
		void *cb_arg, erltrace_error_t *err);
	/*
	 * By go: run each script in its node. Returns when all of them trace; if it fails, none
	 * does.
	 */
	int (*arm)(void *arg, const erltrace_arming_t *a, erltrace_error_t *err);
	/*
	 * By work, about once a second (statusrate) and a last time after disarm: messages about
	 * the nodes, a line at a time. 1: one is in buf; 0: there is none now; -1: there will be no
	 * more, the scripts have ended by themselves. That ends the script in the kernel too.
	 *
	 */
	int (*news)(void *arg, char *buf, size_t size);
	/*
	 * By stop, work, close, and by a go that fails later; once for each arm that succeeded.
	 * When it returns nothing is armed in nodes that still answer.
	 *
	 */
	void (*disarm)(void *arg);
} erltrace_bridge_t;

/*
 * Before compile; after go it changes nothing. The struct is copied; arg lives as long as the
 * handle. NULL: none.
 *
 */
void erltrace_set_bridge(erltrace_t *h, const erltrace_bridge_t *bridge, void *arg);

/*
 * The fields of a record of Erlang, in order, NULL after the last, for patterns such as "#order{id
 * = Id}" and erlfield(). Before compile; the texts are copied. A record that is set again has the
 * new fields in scripts that are compiled from then on.
 *
 */
int erltrace_set_record(
	erltrace_t *h, const char *name, const char *const *fields, erltrace_error_t *err);

/* ---- events from a file --------------------------------------------------------------- */

/*
 * Events come from a file (doc/events.md), not from this machine: no node, no kernel and no
 * privileges are needed, and the results are the same each time. Before compile, once. Options,
 * arguments and the name of the script that the file has are for the caller: erltrace_events(). Of
 * the script, what cannot be replayed, or is not in the file, is an error of go, ET_REPLAY. path
 * NULL: there are no events; probes of nodes can be named all the same, for erltrace_recorder().
 *
 */
int erltrace_replay(erltrace_t *h, const char *path, erltrace_error_t *err);

/* What the first line of the file says; NULL: it does not say it. Valid as long as the handle. */
typedef struct {
	size_t size;	    /* set by the caller */
	const char *script; /* relative to the folder of the file */
	unsigned nargs, noptions;
	const char *const *args;
	const char *const *options; /* "aggsortrev=1" */
	uint64_t drops;		    /* events that were lost while it was recorded */
	uint64_t events;
} erltrace_events_t;
int erltrace_events(erltrace_t *h, erltrace_events_t *events);

/*
 * A script, D, that records what the compiled ones read of their events: each of them is a printf()
 * whose first value names the others, which follow in that order: "arg0 erlpid erlarg1 ->mailbox
 * stack". The caller frees it. The handle is one of erltrace_replay(h, NULL). seconds: how long; 0:
 * until it is stopped. What cannot be recorded is an error, ET_REPLAY. (erltrace record makes a
 * file of it.)
 *
 */
char *erltrace_recorder(erltrace_t *h, unsigned seconds, erltrace_error_t *err);

/* ---- results -------------------------------------------------------------------------- */

typedef enum {
	ERLTRACE_INT,	 /* i: as its type says, see is_signed */
	ERLTRACE_STRING, /* bytes, len (may contain any bytes) */
	ERLTRACE_FLOAT,	 /* f */
	ERLTRACE_BYTES,	 /* bytes, len */
	ERLTRACE_STACK,	 /* frames, nframes; text: one frame per line */
	ERLTRACE_SYMBOL, /* i: address; bytes, len: its text */
} erltrace_kind_t;

typedef struct {
	erltrace_kind_t kind;
	int is_signed;
	int64_t i;
	double f;
	const void *bytes;
	size_t len;
	const uint64_t *frames;
	unsigned nframes;
	int is_kernel; /* a stack of the kernel, not of a program */
} erltrace_value_t;

typedef struct {
	erltrace_probe_info_t probe;
	uint32_t epid;
	unsigned cpu;
	uint64_t timestamp;	/* ns, monotonic */
	uint64_t walltimestamp; /* ns since 1970 */
	int flow;		/* -F: 1 entry, -1 return, 0 neither */
	const char *node;	/* of several streams: where; NULL otherwise */
} erltrace_event_t;

typedef struct {
	const char *action;	       /* "trace", "printf", "exit" ... */
	const erltrace_value_t *values;
	unsigned nvalues;
	const char *text;	       /* as printed; may be empty */
	size_t len;
} erltrace_record_t;

typedef struct {
	const char *kind;    /* "DTRACEDROP_PRINCIPAL" without its prefix: "PRINCIPAL" ... */
	int cpu;	     /* -1: of no thread */
	uint64_t drops;	     /* since the last report */
	uint64_t total;
	const char *message; /* as DTrace words it */
	const char *node;    /* of several streams: where, if that is known; NULL otherwise */
} erltrace_drop_t;

typedef struct {
	erltrace_event_t event; /* which probe */
	const char *fault;	/* "invalid address" */
	uint64_t address;
	unsigned pc;
	const char *file;	/* the clause */
	int line;
	const char *message;	/* as DTrace words it */
} erltrace_fault_t;

/*
 * A snapshot: what a script with bufpolicy=ring had recorded when it called snapshot() or alert(),
 * or when erltrace_take_snapshot() was called. Option snapshotdir says where it is written.
 *
 */
typedef struct {
	const char *why;
	const char *alert;	/* its name, if an alert() wanted the snapshot; or NULL */
	const char *form;	/* "text", "json", "timeline" */
	uint64_t walltimestamp; /* when it was taken */
	uint64_t events;
	uint64_t overwritten;	/* events before them, which are lost */
	const char *file;	/* it is there now; NULL: not yet, or snapshotdir is "-" */
	const char *bytes;	/* snapshotdir is "-": the next part of it; NULL: that was all */
	size_t len;
	unsigned part;		/* its number, from 0 */
	const char *error;	/* it is not written, for this reason; or NULL */
} erltrace_snapshot_t;

/*
 * Option seen: the script has ended and has printed no row. rounds: of the provider state, of which
 * `whole` were over all there is; the last of them saw `seen` things, or, if there was none, so many
 * were seen of `there`.
 */
typedef struct {
	const char *text; /* "nothing to show: 0 events of gc_minor-start in 5.0 s" */
	double seconds;
	unsigned nodes;
	uint64_t events;
	const char *things; /* "processes"; NULL: the script does not use the provider state */
	uint64_t rounds, whole, seen, there;
} erltrace_nothing_t;

struct erltrace_agg;

typedef struct {
	size_t size; /* sizeof(erltrace_handlers_t) */
	void *arg;
	/* Each may be NULL. One that does not return 0 ends erltrace_work() at once. */
	int (*text)(void *arg, const char *text, size_t len); /* the output as dtrace prints it */
	int (*event)(void *arg, const erltrace_event_t *ev);  /* a probe fired; records follow */
	int (*record)(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec);
	int (*drop)(void *arg, const erltrace_drop_t *d);
	int (*fault)(void *arg, const erltrace_fault_t *f);
	/* printa() and the end: each key instead of its text; see erltrace_agg_t below. */
	int (*aggregation)(void *arg, const struct erltrace_agg *agg);
	/* A child of system() writes next: flush what text() got. */
	int (*flush)(void *arg);
	/* ftruncate(): truncate the file that text() writes. */
	int (*truncate)(void *arg);
	/* != 0: text() writes to a terminal; control characters in traced values become \xNN. */
	int terminal;
	/*
	 * For a caller that does system() and freopen() ("": back) itself; NULL: the library does.
	 */
	int (*system)(void *arg, const char *command);
	int (*reopen)(void *arg, const char *path);
	/*
	 * flowtrace(), instead of record(): such an action prints nothing, nor does a clause of
	 * only these.
	 */
	int (*flow)(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec);
	/* A snapshot was written, or a part of one, or could not be. */
	int (*snapshot)(void *arg, const erltrace_snapshot_t *s);
	/* Instead of the line of text. */
	int (*nothing)(void *arg, const erltrace_nothing_t *n);
} erltrace_handlers_t;

#define ERLTRACE_OK   0 /* work(): go on */
#define ERLTRACE_DONE 1 /* work(): the script has ended (exit(), fill, stop), and all is read */

/*
 * Read and print what there is. After exit(), a full fill buffer or erltrace_stop() it runs END,
 * prints aggregations that have not been printed, and returns ERLTRACE_DONE.
 */
int erltrace_work(erltrace_t *h, const erltrace_handlers_t *handlers, erltrace_error_t *err);
/* Wait until the next call of work is due (by the rates), a record is there, or a signal comes. */
void erltrace_sleep(erltrace_t *h);

/*
 * Take a snapshot now and write it, while tracing goes on; handlers as those of erltrace_work(), of
 * which only snapshot is called. The limit snapshotrate is for what scripts ask for, not for this.
 */
int erltrace_take_snapshot(erltrace_t *h, const char *why, const erltrace_handlers_t *handlers,
	erltrace_error_t *err);

/* ---- streams -------------------------------------------------------------------------- */

/*
 * Results of scripts that run elsewhere, as streams of bytes (doc/stream.md). A reader is a handle
 * without an engine: it compiles and traces nothing. It is fed, and erltrace_work() hands on what
 * has come; so do the calls for aggregations. The options are those that the script runs with.
 * Several streams of the same script are one result: records in order of time, aggregations added
 * up. NULL: out of memory, or too many streams.
 */
erltrace_t *erltrace_reader(unsigned streams, erltrace_error_t *err);
/*
 * What a stream may have done where it is read, by its handlers or without: "system" and "freopen"
 * with this format, as erltrace_scan() reports it; "ftruncate" (format NULL). Nothing else is
 * permitted: a stream of a program that does more is refused, ET_DESTRUCTIVE. Before the first feed.
 */
int erltrace_permit(
	erltrace_t *h, const char *action, const char *format, erltrace_error_t *err);
/* What the node of a stream is called here, instead of what it calls itself. Before its first bytes. */
int erltrace_feed_name(erltrace_t *h, unsigned stream, const char *node, erltrace_error_t *err);
/*
 * The next bytes of a stream, which are numbered from 0 on. -1: it is no stream, one of another
 * script, or wants what is not permitted; nothing more of it is read.
 */
int erltrace_feed(
	erltrace_t *h, unsigned stream, const void *bytes, size_t len, erltrace_error_t *err);
/*
 * As erltrace_changes() and erltrace_tick(), of one stream; node: what the lines call it. If nothing
 * has come of the stream since the last call, they return 0 and pass nothing: an idle node still
 * sends the time.
 */
struct erltrace_change_handlers;
int erltrace_stream_changes(erltrace_t *h, unsigned stream,
	const struct erltrace_change_handlers *to, erltrace_error_t *err);
int erltrace_stream_tick(erltrace_t *h, unsigned stream, const char *node,
	int (*text)(void *arg, const char *s, size_t len), void *arg, erltrace_error_t *err);
/* ns since aggregations of a stream came; UINT64_MAX: none have. */
uint64_t erltrace_stream_age(erltrace_t *h, unsigned stream);
/*
 * Records of a stream wait so long for those of others that may be older; what comes later is late,
 * not lost. A stream that hangs holds nobody up, until its next bytes: neither do they wait for it, nor
 * does it alone have what all print (ticks). The caller says it of one that was silent for so long.
 */
#define ERLTRACE_FEED_WAIT_MS 2000
void erltrace_feed_hangs(erltrace_t *h, unsigned stream);
/* Nothing more of it comes. When all have ended erltrace_work() prints what is left. */
void erltrace_feed_end(erltrace_t *h, unsigned stream);

typedef enum {
	ERLTRACE_IDLE,	  /* not started */
	ERLTRACE_RUNNING,
	ERLTRACE_EXITED,  /* the script called exit() */
	ERLTRACE_FILLED,
	ERLTRACE_STOPPED,
} erltrace_status_t;
erltrace_status_t erltrace_status(erltrace_t *h, int *exit_code);

/* ---- aggregations --------------------------------------------------------------------- */

typedef struct {
	int64_t lo, hi; /* from lo up to but not including hi; INT64_MIN, INT64_MAX: no bound */
	int64_t count;
} erltrace_bucket_t;

typedef struct {
	double percent; /* 99.9 */
	int64_t value;	/* normalized; at most 1/64 of it off: doc/d.md */
} erltrace_percentile_t;

typedef struct erltrace_agg {
	const char *name;     /* without @ */
	const char *function; /* "count", "quantize" ... */
	const erltrace_value_t *keys;
	unsigned nkeys;
	int64_t value;	      /* count, sum, min, max; normalized */
	double avg;	      /* avg; stddev: the deviation */
	const erltrace_bucket_t *buckets; /* distributions: the non-empty buckets, ascending */
	unsigned nbuckets;
	uint64_t normal;      /* divisor of normalize(); 1: none */
	int is_signed;	      /* of value */
	/* percentile: in the script's order; the buckets are of values as they came */
	const erltrace_percentile_t *percentiles;
	unsigned npercentiles;
	int64_t sum;	/* avg: of all values, not normalized */
	uint64_t count; /* avg, stddev: of how many values it is */
} erltrace_agg_t;

typedef int erltrace_agg_cb(void *arg, const erltrace_agg_t *agg);
/* Merge what the threads have gathered; walk and the next printa see it. */
int erltrace_snapshot(erltrace_t *h, erltrace_error_t *err);
/* Every key of every aggregation (name NULL) or of one, sorted as the options say. */
int erltrace_walk(erltrace_t *h, const char *name, erltrace_agg_cb *cb, void *arg,
	erltrace_error_t *err);
/* The same in no particular order, which is faster if there are many keys. */
int erltrace_each(erltrace_t *h, const char *name, erltrace_agg_cb *cb, void *arg,
	erltrace_error_t *err);

/* #pragma D metric, of an aggregation. */
typedef struct {
	const char *name, *help, *unit;	  /* NULL: the script does not say */
	const char *const *labels; /* of the keys, the first ones if there are fewer */
	unsigned nlabels;
} erltrace_metric_t;

/* An aggregation of a script, before it has any key. */
typedef struct {
	const char *name;     /* without @ */
	const char *function; /* "count", "quantize" ... */
	const int64_t *params; /* lquantize: base, limit, step; llquantize: factor, low, high, steps */
	unsigned nparams;
	const double *percents; /* percentile: 99.9 */
	unsigned npercents;
	unsigned nkeys;
	const erltrace_metric_t *metric; /* or NULL */
} erltrace_shape_t;

typedef struct {
	uint64_t time;	/* ms since 1970 */
	uint64_t fired; /* events so far */
	double cost;	/* percent of the schedulers' busy time; < 0: not known */
} erltrace_tick_t;

/* Each may be NULL. */
typedef struct erltrace_change_handlers {
	size_t size; /* sizeof(erltrace_change_handlers_t) */
	void *arg;
	/* The aggregations of the script: once, before all else. */
	int (*shapes)(void *arg, const erltrace_shape_t *shapes, unsigned n);
	int (*tick)(void *arg, const erltrace_tick_t *tick); /* each time, before its keys */
	/* A key and what it gathered, not normalized; in no particular order. */
	int (*change)(void *arg, const erltrace_agg_t *agg);
} erltrace_change_handlers_t;

/*
 * What the aggregations gathered since the last call. The first call must come before the first
 * erltrace_work(). A handler that does not return 0 ends the call; what is left comes with the next
 * one. clear(), trunc() and the results are not affected. Returns 0, what the handler returned, or
 * -1: an error. A handle uses this, erltrace_tick() or erltrace_stacks().
 */
int erltrace_changes(
	erltrace_t *h, const erltrace_change_handlers_t *to, erltrace_error_t *err);
/*
 * The same, passed to text as a line of JSON (doc/json.md, tick); the first call passes a line with
 * the shapes before it. 0; 1: a line has no room for all that there is, which the next call passes;
 * -1: an error.
 */
int erltrace_tick(erltrace_t *h, const char *node,
	int (*text)(void *arg, const char *s, size_t len), void *arg, erltrace_error_t *err);
/*
 * What the aggregations gathered since the last call whose keys have a stack and whose function is
 * count() or sum(): each key, not normalized, in no particular order. If cb does not return 0, the
 * rest comes with the next call; returns what cb returned. The first call must come before the
 * first erltrace_work(). clear(), trunc() and the results are not affected. A handle uses either
 * this or erltrace_tick().
 *
 */
int erltrace_stacks(erltrace_t *h, erltrace_agg_cb *cb, void *arg, erltrace_error_t *err);
/* Reset the values, keep the keys. name NULL: of all. */
int erltrace_clear(erltrace_t *h, const char *name, erltrace_error_t *err);
/* Remove the keys too. */
int erltrace_trunc(erltrace_t *h, const char *name, erltrace_error_t *err);

/* ---- names ---------------------------------------------------------------------------- */

const char *erltrace_version(void);
/* Tables for help, completion and manuals: i from 0 until NULL. */
const char *erltrace_option_name(unsigned i, const char **help);
const char *erltrace_error_tag(unsigned i, const char **meaning);

#ifdef __cplusplus
}
#endif
#endif
