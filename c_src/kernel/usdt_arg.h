/* SPDX-License-Identifier: Apache-2.0 */
/* Where a usdt probe has an argument: usdt.c finds out, bpf/usdt_args.c reads it. */
#ifndef K_USDT_ARG_H
#define K_USDT_ARG_H

#include <stdbool.h>
#include <stdint.h>

enum { K_ARG_NONE, K_ARG_CONSTANT, K_ARG_REGISTER, K_ARG_MEMORY };
struct k_usdt_arg {
	uint8_t kind;
	int8_t size;	     /* bytes; < 0: signed */
	uint8_t base, index; /* number of a word of the registers, from 1; 0: none */
	uint8_t scale;
	bool high; /* the second byte of the register */
	int64_t disp;
};

#endif
