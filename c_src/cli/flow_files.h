/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --follow, --perfetto, --otlp, --flows: requests that scripts follow, shown and written
 * (flow_model.h).
 */
#ifndef CLI_FLOW_FILES_H
#define CLI_FLOW_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct cli;

struct cli_flow_options {
	char **follow; /* clauses, one for each --follow */
	int nfollow;
	const char *perfetto; /* a file, or "-" */
	const char *otlp;     /* a URL */
	bool objects;	      /* --flows */
};

void cli_flow_options_free(struct cli_flow_options *o);
int cli_follow_option(struct cli *c, const char *function); /* -1: fine */
bool cli_flows_wanted(const struct cli *c);
void cli_flows_dropped(struct cli *c); /* events were */
struct flows *cli_flows(const struct cli *c); /* c->flows is not NULL */
/* Once the scripts have been scanned: the file, and clauses that are added to them. */
int cli_flows_open(struct cli *c);
void cli_flows_look(struct cli *c, int64_t now_ms); /* what is due */
/* The end; returns the status. */
int cli_flows_close(struct cli *c, int status);

#endif
