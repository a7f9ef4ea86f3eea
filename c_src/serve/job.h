/* SPDX-License-Identifier: Apache-2.0 */
/* A script on a node, or on the nodes of a cluster: a child process that is kept running. */
#ifndef SERVE_JOB_H
#define SERVE_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct serve;
struct script;
struct job;

struct job_source {
	void (*call)(struct job_source *src); /* it can be read */
	struct serve *v;
	struct job *job;
	int fd; /* -1: none */
};

/* What a node has told of this script. */
struct job_node {
	char *name;
	uint64_t before, fired; /* events: of the children before this one; of this one */
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

struct job {
	struct job *next;
	struct serve *v;
	char *path, *script; /* as those of struct script */
	const char *target;  /* -N */
	pid_t pid;	     /* 0: none runs */
	struct job_source out, err, end;
	bool up;		/* armed: the shape has come */
	bool removed, again; /* when the child has ended: forget it; start it at once */
	int64_t due, killed_at; /* when it is started; when the child is killed; 0: not */
	int wait_ms;
	char *line;
	size_t nline, room;
	char err_line[2048];
	size_t nerr_line;
	char *told; /* the last error, which is not told again */
	struct job_node *nodes;
	size_t nnodes;
	struct job_drops *drops;
	size_t ndrops;
	uint64_t starts, errors, lost_lines;
	struct job_line lines[JOB_LINES];
	unsigned nlines; /* all that there were: the last is at (nlines - 1) % JOB_LINES */
};

int job_new(struct serve *v, const struct script *s, const char *target);
void job_restart(struct job *j); /* its file has changed */
void job_remove(struct job *j);
void jobs_look(struct serve *v); /* start what is due, kill what does not end */
void jobs_end(struct serve *v);  /* END runs, and the last ticks come; none starts again */
void jobs_events(struct serve *v);
struct job_node *job_node(struct job *j, const char *name); /* NULL: memory is out */
void job_drops(struct job *j, const char *kind, uint64_t n);
char *job_recorded(const struct job *j); /* what it printed in the last seconds; to be freed */
int jobs_watch_end(struct serve *v); /* signals */
void jobs_free(struct serve *v);

#endif
