/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be run, and where: said by the command line (args.c) or by a server (server_run.h).
 * Texts are not copied, except by cli_keep(). All of these return false if there is no memory.
 */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include <stdbool.h>

struct cli;

/* flag: how it was spelled, for messages. For 'x' the name may be "name=value". */
bool cli_add_setting(struct cli *c, char flag, const char *name, const char *value);
bool cli_add_script(struct cli *c, char flag, const char *arg);
bool cli_add_arg(struct cli *c, const char *arg);
bool cli_add_node(struct cli *c, const char *name);
/* A copy, as long as the request; NULL: no memory. */
const char *cli_keep(struct cli *c, const char *text);
void cli_request_free(struct cli *c);

#endif
