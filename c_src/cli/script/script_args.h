/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of scripts by name. */
#ifndef CLI_SCRIPT_ARGS_H
#define CLI_SCRIPT_ARGS_H

struct cli_request;

/* Named arguments become $1, $2 ... of the script; -1: go on, else what to exit with. */
int cli_script_args(struct cli_request *r);

#endif
