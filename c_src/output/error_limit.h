/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of clauses, each told a few times. */
#ifndef OUTPUT_ERROR_LIMIT_H
#define OUTPUT_ERROR_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ERROR_KINDS = 64 }; /* that are told apart */

struct error_limit {
	uint64_t second, left, more, told; /* told: when more were */
	struct {
		uint64_t hash; /* of its text */
		uint64_t n;
	} same[ERROR_KINDS];
};

/* May this one be told? Otherwise it is counted. */
bool error_limit_passes(struct error_limit *l, const char *text, size_t len);
void error_limit_more(struct error_limit *l, bool at_end); /* tells how many were not told */

#endif
