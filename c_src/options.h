/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a handle, from the table options.def. Options that may be given several times
 * (libdir, incdir, define, undef, cppargs) keep all their values.
 */
#ifndef ET_OPTIONS_H
#define ET_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "confine.h"
#include "error.h"

enum et_opt {
#define OPT(name, ID, kind, phase, def, min, max, help) OPT_##ID,
#include "options.def"
	OPT_MAX
};
enum et_optkind { OK_BOOL, OK_INT, OK_SIZE, OK_RATE, OK_STR, OK_WORD };
enum et_optphase { PH_COMPILE, PH_GO, PH_RUN };
enum { BUFPOLICY_SWITCH, BUFPOLICY_RING, BUFPOLICY_FILL };
enum { SNAPSHOT_TEXT, SNAPSHOT_JSON, SNAPSHOT_TIMELINE, SNAPSHOT_ALL };
enum { CALLS_AUTO, CALLS_FAST, CALLS_TRACED };

struct et_optdef {
	const char *name;
	uint8_t kind, phase;
	uint64_t def, min, max;
	const char *help;
	bool user; /* a script cannot set it: see OPT_USER */
};
extern const struct et_optdef et_optdefs[OPT_MAX];

struct et_options {
	uint64_t val[OPT_MAX]; /* numbers, sizes, ns, 0/1; of OK_STR: number of values given */
	bool set[OPT_MAX];     /* by the user */
	char **str[OPT_MAX];   /* OK_STR: all values given */
	bool running;	       /* after go: only PH_RUN options may change */
	bool trusts;	       /* -w: scripts may set OPT_USER options */
	bool no_payload; /* payload is off for good: the node's setting */
	bool inside;	       /* inside the traced program: an Erlang node */
	bool replay;	       /* events come from a file (replay/): time is that of the file */
	struct confine confine;	/* in the kernel: to processes of one user */
	bool timed;	       /* in the kernel: it is measured what firings cost */
	int bpf_token;	       /* a descriptor that permits us BPF (kernel/bpf_call.h); 0: none */
	int64_t target;	       /* $target; 0: none */
	struct et_error env;   /* the first bad DTRACE_OPT_* of the environment, if any */
};

/* Do records say which process has fired? The timeline of a snapshot has a track for each. */
static inline bool et_opt_processes(const struct et_options *o)
{
	return o->inside && o->val[OPT_BUFPOLICY] == BUFPOLICY_RING &&
	       o->val[OPT_SNAPSHOTFORM] >= SNAPSHOT_TIMELINE;
}

/* An option in the environment. */
struct et_env_option {
	char name[32];
	const char *value; /* NULL: none */
};
/* false: this variable is none. */
bool et_env_option(const char *variable, struct et_env_option *opt);
void et_options_init(struct et_options *o); /* defaults, then DTRACE_OPT_* of the environment */
void et_options_free(struct et_options *o);
int et_options_copy(struct et_options *to, const struct et_options *from, struct et_error *e);
/* Set by the user. value NULL: given without one (a boolean turns on). Error tag: ET_OPTION. */
int et_setopt(struct et_options *o, const char *name, const char *value, struct et_error *e);
/* Set by a script: #pragma D option, setopt(). */
int et_setopt_script(struct et_options *o, const char *name, const char *value, struct et_error *e);
/* The value as text, in the form that setopt takes. */
int et_getopt(const struct et_options *o, const char *name, char *buf, size_t size,
	struct et_error *e);
bool et_opt_is_buffer(int i); /* OPT_*: its size is fitted to what is possible; options.def */
/*
 * "name=value": may only the user set that, not a file that somebody else may have written? It names
 * files or programs (OPT_USER), or permits scripts to.
 */
bool et_opt_is_users(const char *text);

#endif
