/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing memory that may not be mapped: safe.c; memory of a clause: rt_mem.c. */
#ifndef EN_SAFE_H
#define EN_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fire;
struct prog;

int safe_init(void); /* reference-counted; -1: cannot install a handler */
void safe_fini(void);
void safe_look(void); /* periodically: is our handler still the first? */
size_t safe_copy(void *dst, const void *src, size_t n); /* returns the number of bytes not copied */
/* Words that are there, and these ones, at least one. */
bool safe_same(const void *src, const void *with, size_t words);
/* The same for words here and there, at least one. */
struct safe_word {
	uintptr_t at, word;
};
bool safe_same_words(const struct safe_word *words, size_t n);
bool safe_load(const void *src, unsigned size, uint64_t *out); /* 1, 2, 4 or 8 bytes */
bool safe_read(struct fire *f, void *dst, uint64_t addr, size_t n); /* false: a fault is set */
/* A string of at most room - 1 bytes, terminated. Returns its length, or -1 with a fault. */
int64_t safe_str(struct fire *f, char *dst, uint64_t addr, size_t room);
/* Is it no address of the kernel? Else a fault is set: a program may hand any to a system call. */
#ifdef __bpf__
bool safe_of_process(struct fire *f, uint64_t addr);
#else
static inline bool safe_of_process(struct fire *f, uint64_t addr)
{
	(void)f;
	(void)addr;
	return true; /* it is not readable */
}
#endif
void copy_out(struct fire *f, uint64_t to, const void *from, uint64_t n);
uint64_t mem_alloca(struct fire *f, uint64_t size); /* 0 with a fault: no room */
/* May this clause write to [addr, addr + n)? If not, a fault is set. */
bool mem_may_write(struct fire *f, uint64_t addr, uint64_t n);


#endif
