/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the command: "erltrace record" and "erltrace test". */
#ifndef CLI_SUBCOMMANDS_H
#define CLI_SUBCOMMANDS_H

int record_main(int argc, char **argv); /* record_main.c */
int test_main(int argc, char **argv);	/* test_main.c */

#endif
