/* SPDX-License-Identifier: Apache-2.0 */
/* The file of --state: where it is, who has it, and how it is replaced. */
#ifndef SERVE_STATE_FILE_H
#define SERVE_STATE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct state_file {
	const char *name;  /* as the user gives it; NULL: there is none */
	char *path;	   /* without symbolic links */
	int lock;	   /* the descriptor of PATH.lock; -1: not locked */
	bool taken;	   /* by another server, since ours was started: never written again */
	bool failed;	   /* the last write, which has been told */
	uint64_t failures; /* writes */
	int64_t due;	   /* the next write; 0: not known yet */
	int64_t written;   /* the last one that succeeded; 0: none */
};

/* Find it and lock it. -1: it is not a file, or another server has it, which has been told. */
int state_file_open(struct state_file *f);
/* Its content, to be freed. NULL: there is none, and why is empty, or why says why. */
json_t *state_file_read(const struct state_file *f, char *why, size_t size);
/* Replace it by a whole new one. -1: it is as it was, which has been told. */
int state_file_write(struct state_file *f, const json_t *all);
void state_file_close(struct state_file *f);

#endif
