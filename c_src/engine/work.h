/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a firing, in bytes, bounded by the option maxwork (probe path). */
#ifndef EN_WORK_H
#define EN_WORK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "compiler.h"
#include "fire.h"
#include "state.h"

/* Add n bytes to the work of the firing. false, with a fault: it exceeds maxwork. */
static inline bool work_bytes(struct fire *f, uint64_t n)
{
	f->work += n;
	if (likely(f->work <= atomic_load_explicit(&f->en->maxwork, memory_order_relaxed)))
		return true;
	set_fault(f, FAULT_WORK, 0);
	return false;
}
static inline bool work_block(struct fire *f, uint64_t n)
{
	return likely(n <= WORK_FREE) || work_bytes(f, n / WORK_BLOCK);
}

#endif
