/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are in the command's file: "erltrace record", "test", "web" and "serve". */
#ifndef CLI_SUBCOMMANDS_H
#define CLI_SUBCOMMANDS_H

int record_main(int argc, char **argv); /* replay/record_main.c */
int test_main(int argc, char **argv);	/* replay/test_main.c */
int web_main(int argc, char **argv);	/* ../web/web_main.c, or without_web.c */
int serve_main(int argc, char **argv);	/* ../serve/serve_main.c, likewise */

#endif
