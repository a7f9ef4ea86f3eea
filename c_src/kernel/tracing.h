/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the kernel that are on stacks only because of tracing: tracing.c. */
#ifndef K_TRACING_H
#define K_TRACING_H

#include "error.h"

struct en;

/* Those that stack() is to leave out, if a clause reads it. */
int k_tracing_find(struct en *en, struct et_error *e);

#endif
