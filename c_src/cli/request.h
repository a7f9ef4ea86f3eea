/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be run, and where: said by the command line (main/args.c) or by a server
 * (main/server_run.c).
 * Texts are not copied, except by cli_keep(). All of these return false if there is no memory.
 */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "erltrace.h"
#include "stability.h"

enum cli_mode { MODE_RUN, MODE_LIST, MODE_VERSION, MODE_HELP, MODE_SCRIPTS };

/* An option for the handle, and how the command line spelled it. */
struct cli_setting {
	char flag; /* 'x', 'b' ... */
	char *name;
	const char *value; /* or NULL */
};

/* A probe description of a script. */
struct cli_desc {
	char *text; /* as written, with its colons */
	size_t end; /* where it ends in the script */
	int line, column;
	bool of_function; /* it names functions of Erlang */
};

/* One of -n -s -P -m -f -i. */
struct cli_script {
	char flag;
	const char *arg;      /* as given; a script of the library: its file */
	char *found;	      /* that file, or NULL */
	bool own;	      /* the command's, not the user's */
	erltrace_info_t info; /* once compiled */
	struct et_attr least; /* -v: the least stability of its probes */
	/* script/script_scan.c */
	char *text; /* of a file: read once, and preprocessed; NULL: it could not be read */
	size_t len;
	bool preprocessed;
	struct cli_desc *descs;
	int ndescs;
	size_t body;	      /* bytes up to the predicate or body of the first clause */
	erltrace_error_t err; /* why it could not be read, preprocessed or scanned; or no tag */
};

struct cli_request {
	char **argv; /* how the command was called */
	enum cli_mode mode;
	bool compile_only; /* -e */
	bool preprocess;   /* -C */
	bool show_code;	   /* -S */
	bool zero_matches; /* -Z */
	int verbose;	   /* -v */
	struct cli_setting *settings;
	struct cli_script *scripts;
	const char **args; /* $1... */
	int nplain;	   /* of these, in front of "--": they may have names */
	char **texts;	   /* that were made for these */
	int nsettings, nscripts, nargs, ntexts;
	const char **headers; /* -I FILE.hrl: records are defined there */
	int nheaders;
	const char **nodes; /* -N */
	int nnodes;
	bool cluster;		 /* --cluster: and those that they are connected with */
	const char *cookie_file; /* or NULL */
	const char *kernel_node; /* its helper traces the kernel; NULL: this process does */
	bool only_kernel_node;	 /* nodes has no other */
};

/* flag: how it was spelled, for messages. For 'x' the name may be "name=value". */
bool cli_add_setting(struct cli_request *r, char flag, const char *name, const char *value);
bool cli_add_arg(struct cli_request *r, const char *arg);
bool cli_add_node(struct cli_request *r, const char *name);
/* A copy, as long as the request; NULL: no memory. */
const char *cli_keep(struct cli_request *r, const char *text);
void cli_request_free(struct cli_request *r);

#endif
