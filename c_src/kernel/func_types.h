/* SPDX-License-Identifier: Apache-2.0 */
/* The types of a program's functions: func_types.c. */
#ifndef K_FUNC_TYPES_H
#define K_FUNC_TYPES_H

#include "link.h"

/* BTF for the functions of a program, so that the verifier looks at each by itself. Its fd. */
int k_types(const struct k_output *p, struct et_error *e);

#endif
