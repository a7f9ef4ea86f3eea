/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The erltrace command: dtrace(1)'s letters and manners on top of liberltrace.
 *
 *   main.c     the order of things: arguments, handle, scripts, then run or list
 *   args.c     the command line -> struct cli; usage, help
 *   message.c  what is said on stderr
 *   output.c   where the results go: stdout or -o, text or JSON; EPIPE and ENOSPC
 *   plain.c    what others chose, made harmless for terminals
 *   script.c   -n -s -P -m -f -i: compiled, and told about; scan.c: read, and what they hold
 *   library.c  scripts of the library: found by name, listed
 *   run.c      go, work, sleep; signals; the end
 *   list.c     -l
 *   child.c    -c and -p; hold.c: a command held at its first instruction
 *   wanted.c   is it about nodes, the kernel, or this process alone? native.c: VMs with own probes
 *   node.c     -N: what is asked of Erlang nodes; node_find.c: which; node_run.c: what comes back;
 *              node_talk.c: messages there and back
 *   bridge.c   nodes of a script that runs in the kernel
 *   without_nodes.c, without_web.c  what is said where libei, or the page's libraries, are missing
 *
 * "erltrace web" is another program in the same file: ../web.
 *
 * Of the library it uses include/erltrace.h, the JSON writer (consume/json.h) and the reader of
 * symbols (symbols/elf.h); of nodes ../node.
 */
#ifndef CLI_H
#define CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "erltrace.h"
#include "consume/json.h"

enum { CLI_OK = 0, CLI_ERROR = 1, CLI_USAGE = 2 };
enum cli_mode { MODE_RUN, MODE_LIST, MODE_VERSION, MODE_HELP, MODE_SCRIPTS };

/* An option for the handle, and how the command line spelled it. */
struct cli_setting {
	char flag; /* 'x', 'b' ... */
	char *name;
	const char *value; /* or NULL */
};

/* One of -n -s -P -m -f -i. */
struct cli_script {
	char flag;
	const char *arg;      /* as given; a script of the library: its file */
	char *found;	      /* that one, or NULL */
	erltrace_info_t info; /* once compiled */
	/* scan.c */
	char *text; /* of a file: read once, and preprocessed; NULL: it could not be read */
	size_t len;
	bool preprocessed;
	struct cli_desc *descs; /* its probe descriptions */
	int ndescs;
	size_t body;	      /* bytes up to predicate or body of the first clause */
	erltrace_error_t err; /* why it could not be preprocessed or scanned; or no tag */
};

/* A probe description of a script. */
struct cli_desc {
	char *text; /* as it stands there, with its colons */
	size_t end; /* where it ends in the script */
};

/* What the scripts hold, all together: what the parser says of them. */
struct cli_holds {
	bool erlang, kernel; /* probes of nodes; of this machine, whatever nodes there are */
	bool inside;	     /* erlang probes that a node gives itself */
	bool vm;	     /* those that it does not, and the kernel does */
	bool gone;	     /* those that nobody does: the node tells why */
	bool asks;	     /* erlpid and so on: a thread of a node has it at any probe */
	bool samples;	     /* profile-N */
	bool stacks;	     /* stack(), ustack() and the like */
	bool of_process;     /* probes of a process, whose library may be loaded later */
	bool target;	     /* probes of $target */
	int pid;	     /* of erlang<N>, or 0 */
	bool aggregates;     /* an aggregation */
	bool exits, truncates; /* exit(), ftruncate() */
	bool destructive;    /* the option, as the user and the scripts set it */
	char **commands, **paths; /* formats of system() and of freopen() */
	int ncommands, npaths;
};

/* One of -c -p. */
struct cli_process {
	const char *command; /* of -c; NULL: -p */
	pid_t pid;
	int go;	    /* -c: a byte written here starts it; -1: it runs */
	int failed; /* -c: if exec fails, errno is read from here */
	int pidfd;  /* -p; -1: none */
	bool live;
	bool held; /* -c: at its first instruction */
};

struct cli {
	enum cli_mode mode;
	bool awaits_node;	/* a script of the kernel: the command of -c becomes a node */
	bool either, unreached; /* -l: the process of -p is a VM, a node perhaps; it is none of ours */
	bool in_kernel;	    /* the script runs there */
	bool compile_only;  /* -e */
	bool preprocess;    /* -C */
	bool show_code;	    /* -S */
	bool zero_matches;  /* -Z */
	bool json;	    /* --json */
	int live_ms;	    /* --live; 0: not */
	int verbose;	    /* -v */
	const char *output; /* -o */
	struct cli_setting *settings;
	struct cli_script *scripts;
	struct cli_process *procs;
	const char **args; /* $1... */
	int nsettings, nscripts, nprocs, nargs;
	const char **nodes; /* -N */
	int nnodes;
	bool cluster;		 /* --cluster: and those that they know */
	const char *cookie_file; /* or NULL */

	erltrace_t *h;
	struct cli_bridge *bridge; /* or NULL */
	bool quiet; /* after compiling: scripts can set it too */
	bool draws; /* a script prints control characters itself */
	struct cli_holds holds;
	bool errtags, droptags;
	const char *said; /* the file that a message names anyway, or NULL */
	bool one_line;	  /* the script is one line: no need to say which */
	FILE *out, *own_out; /* own_out: where out went before freopen(); NULL: there */
	bool terminal;	     /* out is one */
	struct co_json json_state;
	bool printed;	  /* something else than spaces */
	int write_error;  /* errno of the first failed write; 0: none */
	unsigned matches; /* probes, over all scripts */
	struct { /* of errors, which are told as far as somebody can read them: output.c */
		uint64_t second, left, more;
	} errors;
};

/* args.c: -1: go on; else the exit code. */
int cli_args(struct cli *c, int argc, char **argv);
void cli_args_free(struct cli *c);
void cli_help(FILE *f);

/* message.c; all end with a newline of their own */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_notice(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What failed, then the error; with a caret where a person looks at it. Returns CLI_ERROR. */
int cli_fail(struct cli *c, const erltrace_error_t *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void cli_tell(const char *text, size_t len); /* as it is, to stderr, but escaped */
bool cli_option_on(struct cli *c, const char *name);

/* plain.c */
/* Text of others for a terminal, to be freed; NULL: out of memory. draws: it may move the cursor. */
char *cli_plain(const char *text, size_t *len, bool draws);
bool cli_draws(const char *script); /* may it print control characters of its own? */

/* output.c */
int cli_output_open(struct cli *c);
int cli_handlers(struct cli *c, erltrace_handlers_t *h);
void cli_write(struct cli *c, const char *text, size_t len);
void cli_write_foreign(struct cli *c, const char *text, size_t len); /* of a node */
void cli_printf(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_flush(struct cli *c);
int cli_reopen(struct cli *c, const char *path); /* freopen(); "": back. 0, or errno */
void cli_truncate(struct cli *c);
void cli_more_errors(struct cli *c, bool at_end); /* how many were not told */
void cli_json_error(struct cli *c, const erltrace_error_t *err, const char *what);
void cli_tell_blank(struct cli *c); /* a person looks, and there is nothing to be seen */
/* Flush and close; CLI_ERROR and a message if something was not written. */
int cli_output_close(struct cli *c, int status);

/* script.c */
int cli_scripts(struct cli *c); /* all compiled, and what they matched told */
int cli_compile(struct cli *c, struct cli_script *s);
int cli_script_failed(struct cli *c, const struct cli_script *s, const erltrace_error_t *err);
void cli_script_opts(const struct cli *c, const struct cli_script *s, erltrace_compile_opts_t *opts);
int cli_script_colons(const struct cli_script *s); /* that its descriptions lack */
int cli_script_length(const struct cli_script *s); /* of what a message shows of it */

/* scan.c */
void cli_scan(struct cli *c); /* reads all scripts; what they hold is in c->holds and in them */
void cli_scan_free(struct cli *c);
void cli_scan_probe(struct cli *c, const erltrace_scan_item_t *item); /* wanted.c: what it means */
/* A script as a node is sent it: descriptions whole. NULL: out of memory. The caller frees. */
char *cli_script_whole(const struct cli_script *s);
/* Has one of the formats made this text, or could it have? */
bool cli_could_print(char *const *formats, int n, const char *text, size_t len);

/* library.c */
char *cli_library_find(const char *name); /* its file; NULL: there is none. Caller frees */
/* Added to the text of an error: what may have been meant by a script that is not there. */
void cli_library_hint(const char *name, char *text, size_t size);
int cli_library(struct cli *c); /* --scripts */
int cli_no_probes(const struct cli *c); /* said; CLI_ERROR */

/* list.c */
int cli_list(struct cli *c);
void cli_list_head(struct cli *c);
int cli_list_probe(void *c, const erltrace_probe_info_t *p);

/* run.c */
int cli_run(struct cli *c);
void cli_catch_signals(const struct cli *c);
int cli_interrupts(void);      /* how many have come */
bool cli_ended(struct cli *c); /* is it time to stop? */

/* wanted.c */
bool cli_nodes_wanted(struct cli *c); /* -N, or a script names an erlang provider */
int cli_permitted(struct cli *c); /* CLI_ERROR: probes of the kernel, which the option forbids */

/* native.c */
/* Is it (0: that of -p) a VM with probes of its own, and no node that can be reached? */
bool cli_native(struct cli *c, int pid);
bool cli_is_vm(const struct cli *c); /* is the process of -p an Erlang VM? */

/* node.c, node_find.c; where there is no libei, without_nodes.c */
int cli_node_of_command(struct cli *c); /* a script of the kernel waits for the node of -c */
int cli_nodes(struct cli *c);		/* run, compile or list there */
bool cli_is_node(struct cli *c, int pid); /* one that can be reached */

/* bridge.c */
int cli_bridge(struct cli *c); /* to nodes, for the handle */
void cli_bridge_free(struct cli *c); /* which has been closed */

/* ../web/main.c; where its libraries are missing, without_web.c */
int web_main(int argc, char **argv);

/* child.c */
int cli_procs_start(struct cli *c); /* fork and hold, or find; sets $target */
void cli_procs_go(struct cli *c);
bool cli_procs_ended(struct cli *c); /* there were some, and the last has ended */
int cli_procs_failed(struct cli *c); /* CLI_ERROR: a command could not be run */
/* Ends what -c started and still runs. */
void cli_procs_end(struct cli *c);
void cli_procs_kill(const struct cli *c); /* the same, without waiting; async-signal-safe */

/* hold.c */
int cli_procs_hold(struct cli *c); /* commands: executed, and held when their libraries are there */
void cli_procs_release(struct cli *c);

#endif
