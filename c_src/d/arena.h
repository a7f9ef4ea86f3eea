/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: memory that is freed all at once. Blocks are zeroed. When memory runs out, it jumps to
 * the trap if there is one, else it returns NULL.
 */
#ifndef D_ARENA_H
#define D_ARENA_H

#include <setjmp.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);
void arena_trap(struct arena *a, jmp_buf *trap); /* NULL: removes it */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s, size_t len); /* NUL-terminated */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define arena_new_of(a, type) ((type *)arena_alloc(a, sizeof(type)))

#endif
