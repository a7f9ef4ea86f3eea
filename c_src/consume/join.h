/* SPDX-License-Identifier: Apache-2.0 */
/* One script in several engines, seen from inside the consumer; consume.h has the rest. */
#ifndef CONSUME_JOIN_H
#define CONSUME_JOIN_H

#include <stdbool.h>

struct co;
struct co_rec;
struct co_val;
struct prog_action;

bool jo_silent(const struct co_rec *r); /* the first engine prints it */
bool jo_elsewhere(struct co_rec *r, const struct prog_action *a, const struct co_val *v);
void jo_take(struct co *co);

#endif
