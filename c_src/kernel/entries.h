/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs by number: entries.def. What they are: program.h. */
#ifndef K_ENTRIES_H
#define K_ENTRIES_H

enum k_entry {
#define ENTRY(name, ...) ENTRY_##name,
#include "entries.def"
	ENTRY_COUNT_
};
/* A set of them: a bit for each. */
#define K_ENTRY(entry) (1ULL << (entry))
_Static_assert(ENTRY_COUNT_ <= 64, "sets of them are bits of a word");

#endif
