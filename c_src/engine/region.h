/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the probe path, which may be shared with the kernel: region.c. */
#ifndef EN_REGION_H
#define EN_REGION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct en;

struct en *en_reserve(bool shareable);
void en_unreserve(struct en *en);
enum { EN_SHARE_LATE = INT_MAX }; /* instead of an fd: there will be one when all is allocated */
int en_share(struct en *en, int fd, struct et_error *e);
uint64_t en_share_size(const struct en *en); /* how much that is then, and some more */
/* From now on, memory is what fd has at offset. */
int en_share_late(struct en *en, int fd, uint64_t offset, uint64_t size, struct et_error *e);
void *en_alloc(struct en *en, size_t size); /* zeroed */
int en_populate(void *at, size_t size); /* make it writable for the kernel; < 0: out of memory */
void *en_alloc_pages(struct en *en, size_t size, size_t kernel); /* kernel: bytes to populate */
void en_dealloc(const struct en *en, void *p);
void en_dealloc_pages(const struct en *en, void *p, size_t size);

#endif
