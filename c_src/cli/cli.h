/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The erltrace command: dtrace(1)'s options and behaviour on top of liberltrace.
 *
 *   main.c            the program; execute.c: handle, scripts, then run or list
 *   args.c            the command line -> struct cli; usage, help; request.h: what is asked for
 *   message.c         messages on stderr
 *   output.c          where results go: stdout or -o, text or JSON; EPIPE and ENOSPC
 *   escape.c          text of others, escaped for terminals
 *   script.c          scripts (-n -s -P -m -f -i) compiled, and what they matched
 *   script_scan.c     scripts read, and what they use; format_match.c: texts that a format can make
 *   script_library.c  scripts that come with erltrace, by name; script_args.c: arguments by name
 *   placement.c       where scripts run: inside nodes, in the kernel, or in this process
 *   vm_usdt.c         Erlang VMs that have USDT probes
 *   run.c             go, work, sleep; signals; the end
 *   list.c            -l
 *   child.c           -c and -p; entry_stop.c: a command stopped at its first instruction
 *   node_start.c      -N: a request to the client of nodes (../client); node_run.c: what comes back;
 *   node_stream.c     ... what they gather, as streams; node_keys.c: keys pressed in the terminal;
 *   node_command.c    ... the node that the command of -c becomes
 *   server_run.c      a script that a server runs
 *   snapshots.c       snapshots of bufpolicy=ring
 *   stack_files.c     --folded, --speedscope, --pprof; stacks.h: stacks and the formats
 *   flow_files.c      --follow, --perfetto, --otlp, --flows; flow_model.h: requests and the formats
 *   replay/           events in files: "erltrace record" and "erltrace test"
 *   server_run.c      a script that a server runs; server_calls.c: its results
 *   bridge.c          nodes of a script that runs in the kernel
 *   without_nodes.c, without_web.c  instead of these, where libei or the page's libraries are missing
 *
 * "erltrace web" and "erltrace serve" are other programs in the same file: ../web, ../serve.
 *
 * Of the library it uses include/erltrace.h, the JSON writer (json/json.h) and the reader of
 * symbols (symbols/elf.h); of nodes ../node. This header has the state of the command, which all
 * its files share.
 *
 */
#ifndef CLI_H
#define CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "child.h"
#include "json/json.h"
#include "erltrace.h"
#include "message.h"
#include "script.h"
#include "script_scan.h"
#include "flow_files.h"
#include "stack_files.h"

enum { CLI_OK = 0, CLI_ERROR = 1, CLI_USAGE = 2 };
enum cli_mode { MODE_RUN, MODE_LIST, MODE_VERSION, MODE_HELP, MODE_SCRIPTS };

/* An option for the handle, and how the command line spelled it. */
struct cli_setting {
	char flag; /* 'x', 'b' ... */
	char *name;
	const char *value; /* or NULL */
};

/* A file of stacks. */
struct cli_stack_file {
	const char *path; /* "-": the standard output; NULL: none */
	FILE *f;	  /* while it is open */
	bool made;	  /* there was none before */
};

#define CLI_ERRORS 64 /* kinds of errors that are told apart */

struct worker;
struct run_calls;

struct cli {
	char **argv; /* how it was called */
	struct worker *worker; /* the thread of a server that this is; NULL: it is the command */
	struct run_calls *calls; /* of that server; NULL: it takes lines */
	enum cli_mode mode;
	bool awaits_node;	/* a script of the kernel: the command of -c becomes a node */
	bool either;	    /* -l: the process of -p is a VM, which may be a node */
	bool unreached;	    /* ... it is no node that we can reach */
	bool in_kernel;	    /* the script runs there */
	bool compile_only;  /* -e */
	bool preprocess;    /* -C */
	bool show_code;	    /* -S */
	bool zero_matches;  /* -Z */
	bool json;	    /* --json: no text; with calls, no lines either */
	int live_ms;	    /* --live; 0: not */
	int verbose;	    /* -v */
	const char *output; /* -o */
	struct cli_setting *settings;
	struct cli_script *scripts;
	struct cli_process *procs;
	const char **args; /* $1... */
	int nplain;	   /* of these, in front of "--": they may have names */
	char **texts;	   /* that were made for these (request.h) */
	int nsettings, nscripts, nprocs, nargs, ntexts;
	const char **headers; /* -I FILE.hrl: records are defined there */
	int nheaders;
	const char **nodes; /* -N */
	int nnodes;
	bool cluster;		 /* --cluster: and those that they are connected with */
	const char *cookie_file; /* or NULL */

	struct cli_stack_file stack_files[STACK_FORMATS];
	struct stacks *stacks; /* for these; NULL: none are wanted */
	bool gathers;	       /* the script has been started */

	struct cli_flow_options flow_options;
	struct cli_flows *flows; /* requests that are followed; NULL: none are wanted */

	erltrace_t *h;
	struct cli_bridge *bridge; /* or NULL */
	bool quiet; /* after compiling: scripts can set it too */
	bool draws; /* a script prints control characters itself */
	struct cli_uses uses;
	bool errtags, droptags;
	const char *said; /* the file that a message names anyway, or NULL */
	bool one_line;	  /* the script is one line: no need to say which */
	FILE *out, *own_out; /* own_out: where out went before freopen(); NULL: there */
	bool terminal;	     /* out is one */
	struct co_json json_state;
	bool printed;	  /* something else than spaces */
	int write_error;  /* errno of the first failed write; 0: none */
	unsigned matches; /* probes, over all scripts */
	struct { /* -l, summed up: probes of the module that is listed (list.c) */
		char provider[64], module[256];
		unsigned n;
	} summed;
	struct { /* a rate limit on messages of faults: output.c */
		uint64_t second, left, more, told; /* when more were told */
		struct {
			uint64_t hash; /* of its text */
			uint64_t n;
		} same[CLI_ERRORS];
	} errors;
};

/* ../web/web_main.c; where its libraries are missing, without_web.c */
int web_main(int argc, char **argv);
/* ../serve/serve_main.c, or the same */
int serve_main(int argc, char **argv);

#endif
