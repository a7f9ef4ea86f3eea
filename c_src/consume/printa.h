/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregations, printed. */
#ifndef CONSUME_PRINTA_H
#define CONSUME_PRINTA_H

struct co;
struct prog_action;

int pa_printa(struct co *co, const struct prog_action *act);
int pa_final(struct co *co); /* what no printa() printed */

#endif
