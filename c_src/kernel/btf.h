/* SPDX-License-Identifier: Apache-2.0 */
/* Where members are in the running kernel's structures: btf.c. */
#ifndef K_BTF_H
#define K_BTF_H

#include <stdint.h>

struct k_btf;
#define K_NO_OFFSET UINT32_MAX
struct k_btf *k_btf_open(void); /* NULL: this kernel does not say */
void k_btf_close(struct k_btf *b);
/* Of a member ("se.sum_exec_runtime") in a structure; K_NO_OFFSET: not there. */
uint32_t k_btf_offset(const struct k_btf *b, const char *structure, const char *path);

#endif
