/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the kernel that can be traced: traceable.c. */
#ifndef K_TRACEABLE_H
#define K_TRACEABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "btf/btf.h"
#include "error.h"

struct k_function {
	const char *name, *mod; /* the module; or "vmlinux" */
	const char *alias;	/* another name of it, or NULL */
	uint64_t at;		/* 0: the kernel hides addresses (kernel.kptr_restrict) */
	uint32_t same;		/* the next one of these names, plus 1: static functions; or 0 */
	uint32_t symbols;	/* so many have these names, of the first one */
	bool hidden; /* it is not the first one, or nobody can tell which of them it is */
};

struct k_functions {
	struct k_function *all;
	size_t n;
};

/*
 * They are read once, for all engines of the process that have them at the same time. Each get has
 * its put. NULL: out of memory, or *e says why there are none.
 */
const struct k_functions *k_functions_get(struct et_error *e);
void k_functions_put(const struct k_functions *fs);

/* By its names; mod NULL: of any module, the kernel itself first. NULL: none that can be traced. */
const struct k_function *k_function_find(
	const struct k_functions *fs, const char *mod, const char *name);
/* Its type in the kernel's BTF; b may be NULL. */
bool k_function_type(struct btf *b, const struct k_function *f, struct btf_at *at);
/* The next one of the same names; NULL: no more. */
const struct k_function *k_function_next(const struct k_functions *fs, const struct k_function *f);

#endif
