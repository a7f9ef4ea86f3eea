/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script on a node, which is kept running. job.c has its life, job_run.c what its run hands on,
 * job_prints.c what of that the script prints.
 */
#ifndef SERVE_JOB_H
#define SERVE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "sources.h"
#include "web/log.h"

struct serve;
struct script;
struct member;
struct worker;

/* What a node has told of this script. */
struct job_node {
	char *name;
	uint64_t before, fired; /* events: of the runs before this one; of this one */
	double cost;		/* percent; < 0: not known */
};

struct job_drops {
	char *kind;
	uint64_t n;
};

/* What it printed last: an alert tells that too. */
enum { JOB_LINES = 32, JOB_LINE_MAX = 256, JOB_RECORDED_MS = 10000 };

struct job_line {
	int64_t at;
	char text[JOB_LINE_MAX];
};

/* What it prints, on its way to the log. */
enum { JOB_PRINT_MAX = 1024 };

struct job_prints {
	char line[JOB_PRINT_MAX]; /* the one that is not whole yet */
	size_t n;
	struct web_rate rate;
	uint64_t left_out, untold; /* lines: in all; since that was told */
	int64_t told_at;	   /* 0: never */
};

/* Snapshots that failed: the first is told, then how many, once a minute at most. */
struct job_snapshots {
	uint64_t failed, untold;
	int64_t told_at; /* 0: never */
	char last[1024]; /* what the last one said */
};

enum { JOB_TOLD = 8, JOB_SNAPSHOTS_TOLD_MS = 60000 };

struct job {
	struct job *next;
	struct serve *v;
	char *path, *script;   /* as those of struct script */
	char *target;	       /* -N */
	struct member *member; /* whose target it is */
	char *node;	       /* in full, when it has been reached; NULL: not yet */
	struct worker *run;    /* NULL: none */
	struct source out;
	unsigned version, runs; /* of the script: which is due, which one runs */
	unsigned shape;		/* of which a shape has come */
	bool up;		/* armed: the shape has come */
	bool removed, again;	/* when the run has ended: forget it; start it at once */
	bool own_end;		/* it ends because of the script: exit(), an error in it */
	bool twice;		/* another job has this node: this one is not counted */
	bool unmatched;		/* a description matches no probe yet: it runs with -Z */
	int left_out_line, left_out_column; /* where that one is; 0: it is told again */
	size_t nunmatched;	/* how many do, as the node says */
	bool quiet;		/* it has ended by itself, which is not told again */
	bool shaped;		/* what has no metric has been told */
	int64_t due, killed_at; /* when it is started; when the run is left; 0: not */
	int64_t up_at, tick_at; /* since when; the last tick */
	bool silent;		/* none has come for long, which has been told */
	bool late;		/* it did not end in time, which has been told */
	int wait_ms;
	char held[2048];      /* what it said before it ran */
	bool failed;	      /* it has told why: what was held says no more */
	char *told[JOB_TOLD]; /* which is not told again until the script changes or runs well */
	unsigned ntold;
	int64_t told_at; /* the first of them */
	struct job_node *nodes;
	size_t nnodes;
	struct job_drops *drops;
	size_t ndrops;
	uint64_t starts, errors, lost_lines;
	struct job_snapshots snapshots;
	int64_t alerts_minute; /* the minute in which ... */
	unsigned alerts_begun; /* ... so many began: alerts.c */
	struct job_line lines_kept[JOB_LINES];
	unsigned nlines; /* all that there were: the last is at (nlines - 1) % JOB_LINES */
	struct job_prints prints;
};

int job_new(struct serve *v, const struct script *s, struct member *m);
void job_restart(struct job *j, const struct script *s); /* its file has changed */
void job_remove(struct job *j);
void jobs_look(struct serve *v);	/* start what is due, kill what does not end */
bool jobs_ended(const struct serve *v); /* none runs, and all that they said has been taken */
void jobs_end(struct serve *v);		/* END runs, and the last ticks come; none starts again */
void jobs_try_member(
	struct serve *v, const struct member *m); /* it has been seen: start them at once */
void jobs_forget_member(struct serve *v, const struct member *m); /* it has left for good */
struct job_node *job_node(struct job *j, const char *name);	  /* NULL: memory is out */
void job_drops(struct job *j, const char *kind, uint64_t n);
int jobs_watch_end(struct serve *v); /* signals */
void jobs_free(struct serve *v);

/* job_run.c */
struct run_calls;
struct run_calls job_calls(struct job *j); /* for its run */
void job_tell_held(struct job *j);
void job_tell(struct job *j, const char *text);	  /* once */
void job_tell_again(struct job *j);		  /* forget what has been told */
void job_tell_snapshots(struct job *j, bool now); /* that failed, if it is time, or now */

/* job_prints.c */
void job_prints_init(struct job_prints *p);
void job_prints(struct job *j, const char *text);
void job_print_rest(struct job *j);		     /* what is no whole line */
void job_tell_left_out(struct job *j, int64_t now);  /* if it is time */
void job_keep_line(struct job *j, const char *text); /* for alerts */
char *job_recorded(const struct job *j); /* what it printed in the last seconds; to be freed */

#endif
