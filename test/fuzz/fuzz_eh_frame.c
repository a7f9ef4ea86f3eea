/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: bytes as a section .eh_frame. Whatever the bytes are: no crash, bounded work,
 * and rows that are in order and within the code.
 */
#include <stdint.h>
#include <stdlib.h>

#include "symbols/eh_frame.h"

enum { AT = 0x10000, CODE = 0x1000, CODE_END = 0x9000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_rows rows;

	unwind_decode(&rows, data, size, AT, CODE, CODE_END);
	for (size_t i = 0; i < rows.n; i++) {
		if (rows.row[i].pc > CODE_END - CODE || rows.row[i].rule.cfa > UNWIND_SIGNAL)
			abort();
		if (i > 0 && rows.row[i].pc <= rows.row[i - 1].pc)
			abort();
	}
	if (rows.n > 0 && rows.row[rows.n - 1].rule.cfa != UNWIND_NONE)
		abort();
	for (uint64_t at = CODE - 16; at < CODE_END + 16; at += 64)
		unwind_find(&rows, at);
	unwind_free(&rows);
	return 0;
}
