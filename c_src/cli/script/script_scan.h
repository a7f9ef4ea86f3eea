/* SPDX-License-Identifier: Apache-2.0 */
/* What the scripts use (cli/script_uses.h), before they are compiled. */
#ifndef CLI_SCRIPT_SCAN_H
#define CLI_SCRIPT_SCAN_H

struct cli;
struct cli_script;
struct cli_uses;

void cli_scan(struct cli *c); /* reads all scripts, and fills them and c->uses */
void cli_uses_free(struct cli_uses *uses);
/* A script as a node is sent it, descriptions whole. NULL: out of memory. The caller frees. */
char *cli_script_whole(const struct cli_script *s);

#endif
