/* SPDX-License-Identifier: Apache-2.0 */
/* What the servers (erltrace web, erltrace serve) make of their arguments. */
#ifndef WEB_ARGUMENTS_H
#define WEB_ARGUMENTS_H

/* -1: not a number of this range. */
int argument_number(const char *text, int min, int max);
/* Says what is wrong with an argument, and how to learn more; returns the exit code. */
int argument_bad(const char *command, const char *fmt, const char *arg);

#endif
