/* SPDX-License-Identifier: Apache-2.0 */
/* A script that has nothing to show says what it has seen: nothing.c. */
#ifndef CONSUME_NOTHING_H
#define CONSUME_NOTHING_H

#include "consumer.h"

/* An action of this record prints: is it a row, or only a heading? */
void no_action(struct co_rec *r, const struct prog_action *a, const struct co_val *v);
void no_final(struct co *co); /* the end: the line, if no row was printed */

#endif
