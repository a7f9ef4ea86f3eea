/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a key, of an aggregation or of a dynamic variable. */
#ifndef EN_KEY_H
#define EN_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "prog/prog.h"

/* The parts of a key, of an aggregation or of a dynamic variable. */
struct en_key {
	uint8_t n, nstr;
	bool self;		     /* a part more in front: whose self-> it is */
	uint32_t fixed;		     /* bytes of all parts, strings counted as their length field */
	uint8_t kind[PROG_MAX_KEYS]; /* EBPF_SCALAR, EBPF_STR, EBPF_MEM */
	uint32_t size[PROG_MAX_KEYS];
};

void en_key_init(struct en_key *k, const struct prog_val *keys, unsigned n, bool self);

#endif
