/* SPDX-License-Identifier: Apache-2.0 */
/* USDT probes that a program or library carries, as notes of SystemTap's kind: sdt_notes.c. */
#ifndef SDT_NOTES_H
#define SDT_NOTES_H

#include <stdint.h>

struct sdt_note {
	uint64_t pc, base, semaphore; /* addresses; semaphore 0: none */
	const char *prov, *name, *args; /* valid during the call */
};

/* Each of them; a callback that returns something else than 0 ends it, and that is returned. */
typedef int sdt_note_cb(void *arg, const struct sdt_note *n);
int sdt_notes(int fd, sdt_note_cb *cb, void *arg);

#endif
