/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of keys; a firing's keys are in key_view.h. */
#ifndef EN_KEY_H
#define EN_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "prog/prog.h"

/* The parts of a key of an aggregation or of a dynamic variable. */
struct en_key {
	uint8_t n, nstr;
	bool self;		     /* preceded by one more part: the key of self-> */
	uint32_t fixed;		     /* bytes of all parts; a string counts as its length field */
	uint8_t kind[PROG_MAX_KEYS]; /* EBPF_SCALAR, EBPF_STR, EBPF_MEM */
	uint32_t size[PROG_MAX_KEYS];
};

void en_key_init(struct en_key *k, const struct prog_val *keys, unsigned n, bool self);

#endif
