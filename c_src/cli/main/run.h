/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

struct cli;
int cli_run(struct cli *c); /* the scripts, in this process or the kernel */

#endif
