/* SPDX-License-Identifier: Apache-2.0 */
/* One BTF file in memory: btf_file.c. */
#ifndef BTF_FILE_H
#define BTF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf_file;

/* Read and checked; base: what it continues, or NULL. NULL: errno says why (EBADMSG: it is broken).
 */
struct btf_file *btf_file_open(const char *path, const struct btf_file *base);
void btf_file_close(struct btf_file *f);

#endif
