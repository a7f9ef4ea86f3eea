/* SPDX-License-Identifier: Apache-2.0 */
/* --state FILE: the totals of a server that has ended, from which the next one goes on. */
#ifndef SERVE_SAVED_H
#define SERVE_SAVED_H

#include <stdbool.h>

struct serve;
struct job;
struct script;

/*
 * See to it that no other server has the file, and read it, if there is one. -1: another has it, or
 * it is not one of ours; that has been told.
 */
int saved_open(struct serve *v);
void saved_job(const struct serve *v, struct job *j); /* what the file says about a new job */
/* Are the totals that were saved for its name its own? Else they are of another file. */
bool saved_is_of(const struct serve *v, const struct script *s);
void saved_forget(struct serve *v, const char *script); /* it has been removed */
void saved_look(struct serve *v);			/* write it, if it is time */
int saved_end(struct serve *v); /* the last time. -1: totals are lost, which has been told */

#endif
