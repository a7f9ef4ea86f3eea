/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of faults, errors and drops. */
#ifndef CONSUME_FAULTS_H
#define CONSUME_FAULTS_H

#include <stdbool.h>

struct co;
struct co_rec;

int te_fault(struct co_rec *r); /* a REC_ERROR */
int te_error(struct co_rec *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int te_drops(struct co *co, bool final);

#endif
