/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a snapshot. It is named by when, what and why:
 * 20261117T025539.123Z-SCRIPT-NODE-WHY.txt. Until all of it is written it ends in .part; one that
 * could not be written whole is removed.
 *
 */
#ifndef SNAPSHOT_FILE_H
#define SNAPSHOT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snapshot_file {
	char path[PATH_MAX];
	char part[PATH_MAX + 8];
	char dir[PATH_MAX];
	char stem[128]; /* what names of this script's files have after the time */
	const char *end; /* ".txt" */
	int fd;		/* -1: none is open, or it has failed */
	int error;
};

struct snapshot_name {
	const char *dir;
	const char *script; /* its path, or NULL */
	const char *node;   /* or "" */
	const char *why;
	const char *form; /* "text", "json", "timeline" */
	uint64_t wall;	  /* ns since 1970 */
};

/* Each returns 0 or an errno, which stays until the next open. */
int snapshot_file_open(struct snapshot_file *f, const struct snapshot_name *n);
int snapshot_file_write(struct snapshot_file *f, const char *bytes, size_t len);
/* Give it its name, and remove the oldest files of the script beyond so many. */
int snapshot_file_close(struct snapshot_file *f, unsigned most);
void snapshot_file_drop(struct snapshot_file *f); /* if one is open */

#endif
