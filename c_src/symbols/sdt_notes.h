/* SPDX-License-Identifier: Apache-2.0 */
/* USDT probes of a program or library, from SystemTap's notes: sdt_notes.c. */
#ifndef SDT_NOTES_H
#define SDT_NOTES_H

#include <stdint.h>

struct sdt_note {
	uint64_t pc, base, semaphore; /* addresses; semaphore 0: none */
	const char *prov, *name, *args; /* valid during the call */
};

/* Calls cb for each; a result other than 0 stops it and is returned. */
typedef int sdt_note_cb(void *arg, const struct sdt_note *n);
int sdt_notes(int fd, sdt_note_cb *cb, void *arg);

#endif
