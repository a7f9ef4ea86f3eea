/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the command: "erltrace record" and "erltrace test". */
#ifndef CLI_SUBCOMMANDS_H
#define CLI_SUBCOMMANDS_H

int record_main(int argc, char **argv); /* replay/record_main.c */
int test_main(int argc, char **argv);	/* replay/test_main.c */

#endif
