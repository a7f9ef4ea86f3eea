/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of bufpolicy=ring that nodes send. */
#ifndef CLI_SNAPSHOTS_H
#define CLI_SNAPSHOTS_H

#include <stdbool.h>

struct cli;
struct cli_snapshot; /* of a node: the one that is coming */

/*
 * A part of a snapshot of a node: "snapopen" or "snapalert", "snap", "snapend". false: it is nothing
 * of that kind. *at is NULL at first.
 */
bool cli_snapshot_part(struct cli *c, struct cli_snapshot **at, const char *node, const char *kind,
	const char *text, long len);
void cli_snapshot_free(struct cli_snapshot *s); /* one that is not whole is removed */

#endif
