/* SPDX-License-Identifier: Apache-2.0 */
/* Firings that the kernel left out: missed.c. */
#ifndef K_MISSED_H
#define K_MISSED_H

#include <stdbool.h>

#include "error.h"

struct en;
struct kernel;

/* Count those of a program, or of a link of functions, until k_detach(). false: out of memory. */
bool k_count_missed(struct kernel *k, int fd, bool is_link);
int k_look_missed(struct en *en, void *data, struct et_error *e); /* a provider's look */
void k_forget_missed(struct en *en); /* before their descriptors are closed */

#endif
