/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolization: addresses to names. This folder reads programs, libraries and other processes, and
 * knows nothing about D:
 *
 *   symbols.c    address -> module`symbol+offset, from /proc/PID/maps and the files mapped there
 *   elf.c        segments and symbol tables of a file; debug_file.c: those of stripped files
 *   perfmap.c    JIT-compiled code, from the map that a process writes for perf
 *   ksyms.c      functions of the kernel
 *   vm.c         the memory of an Erlang VM: its functions and their lines
 *   vm_tables.c  where a VM has its tables, found without symbols; vm_jit.c: what its code tells
 *   names.c      numbers for names, to merge results of several processes
 *   sdt_notes.c  USDT probes that a file carries
 *   eh_frame.c   how stacks are walked without frame pointers (eh_frame.h); cfi.c: its instructions
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

/* What the engine knows about an address; asked first. All of it may be NULL. */
struct sy_origin {
	/* The name of a frame that is not native code; false: it is an address. */
	bool (*frame)(
		const void *arg, uint64_t pc, enum sy_form form, char *buf, size_t size);
	/* The process of an address, from which *addr is stripped; 0: this process. */
	int (*process)(const void *arg, uint64_t *addr);
	/* The n-th process that addresses may belong to, n < SY_PROCESSES; 0: none. */
	int (*nth)(const void *arg, unsigned n);
	const void *arg;
};
enum { SY_PROCESSES = 4096 };

struct sy;
struct sy *sy_new(int pid, const struct sy_origin *origin); /* pid 0: this process */
void sy_free(struct sy *sy);
void sy_lines(struct sy *sy, bool on); /* do Erlang functions in stacks have their lines? */
void sy_watch(struct sy *sy); /* read the maps of new processes before they end */
/* The name of an address; unknown: 0xADDR. */
void sy_format(struct sy *sy, uint64_t addr, enum sy_form form, char *buf, size_t size);
/*
 * The first address with the same name: one for all addresses of a function, if without offsets,
 * or for all of a line.
 */
uint64_t sy_start(struct sy *sy, uint64_t addr, enum sy_form form);
/* The number of its name, for engines that store names; 0: the table is full. */
uint64_t sy_word(struct sy *sy, uint64_t addr, enum sy_form form);
int sy_keep_names(struct sy *sy, size_t max); /* 0, or -1: out of memory */
struct nm *sy_names(struct sy *sy);	      /* NULL: names are not kept */
bool sy_news(struct sy *sy, char *buf, size_t size); /* a warning for the user; false: none */

#endif
