/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as names. This folder reads programs, libraries and other processes, and knows nothing
 * of D:
 *
 *   symbols.c    address -> module`symbol+offset, from /proc/PID/maps and the files mapped there
 *   elf.c        segments and symbol tables of a file; debug_file.c: those of stripped files
 *   perfmap.c    code that a process made itself, as it tells perf
 *   ksyms.c      functions of the kernel
 *   vm.c         the memory of an Erlang VM: its functions and atoms
 *   names.c      numbers for names, where results of several processes are joined
 *   sdt_notes.c  USDT probes that a file carries
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

/*
 * What the engine knows of an address, asked before any file is: all of it may be NULL.
 */
struct sy_origin {
	/* The name of a frame that is not native code; false: it is an address. */
	bool (*frame)(const void *arg, uint64_t pc, char *buf, size_t size);
	/* The process that the address belongs to, and the address there; 0: this process. */
	int (*process)(const void *arg, uint64_t *addr);
	/* The n-th process that addresses may belong to, n below SY_PROCESSES; 0: none. */
	int (*nth)(const void *arg, unsigned n);
	const void *arg;
};
enum { SY_PROCESSES = 4096 };

struct sy;
struct sy *sy_new(int pid, const struct sy_origin *origin); /* pid 0: this process */
void sy_free(struct sy *sy);
void sy_watch(struct sy *sy); /* read the maps of new processes while they are there */
/* The text of an address; not known: 0xADDR. */
void sy_format(struct sy *sy, uint64_t addr, enum sy_form form, char *buf, size_t size);
/* Where the name that it gets begins: addresses of one function have one, without offsets. */
uint64_t sy_start(struct sy *sy, uint64_t addr, enum sy_form form);
/* The number of its text, for engines that keep names; 0: no room for one more. */
uint64_t sy_word(struct sy *sy, uint64_t addr, enum sy_form form);
int sy_keep_names(struct sy *sy, size_t max); /* 0, or -1: out of memory */
struct nm *sy_names(struct sy *sy);	      /* NULL: none are kept */
bool sy_news(struct sy *sy, char *buf, size_t size); /* a line for the user; false: none */

#endif
