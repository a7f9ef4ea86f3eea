/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernel's functions: ksyms.c. */
#ifndef KSYMS_H
#define KSYMS_H

#include <stdint.h>

struct ksyms;
struct ksyms *ksyms_read(void);
void ksyms_free(struct ksyms *k);
const char *ksyms_find(const struct ksyms *k, uint64_t addr, uint64_t *off); /* NULL: none */

#endif
