/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of a record. */
#ifndef CONSUME_ACTIONS_H
#define CONSUME_ACTIONS_H

struct co;
struct co_rec;
struct co_val;
struct prog_action;

/* Perform the actions of a record, in order. */
int ac_perform(struct co_rec *r);
/* clear(), trunc(), normalize(), denormalize() */
int ac_agg(struct co *co, const struct prog_action *a, const struct co_val *v);

#endif
