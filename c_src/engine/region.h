/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the probe path, which the kernel may share: region.c. */
#ifndef EN_REGION_H
#define EN_REGION_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct en;

struct en *en_reserve(bool shareable);
void en_unreserve(struct en *en);
int en_share(struct en *en, int fd, struct et_error *e);
void *en_alloc(struct en *en, size_t size); /* zeros */
int en_populate(void *at, size_t size); /* memory that the kernel may write to; < 0: none left */
void *en_alloc_pages(struct en *en, size_t size, size_t kernel); /* for it: the first so many */
void en_dealloc(const struct en *en, void *p);
void en_dealloc_pages(const struct en *en, void *p, size_t size);

#endif
