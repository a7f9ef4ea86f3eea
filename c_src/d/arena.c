/* SPDX-License-Identifier: Apache-2.0 */
/* An arena allocator; see arena.h. */
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536

struct block {
	struct block *next;
	size_t used, size;
	_Alignas(16) char data[];
};

struct arena {
	struct block *blocks;
	jmp_buf *trap;
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	struct block *b, *next;

	if (a == NULL)
		return;
	for (b = a->blocks; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	free(a);
}

void arena_trap(struct arena *a, jmp_buf *trap)
{
	a->trap = trap;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct block *b = a->blocks;
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (b == NULL || b->size - b->used < size) {
		size_t n = size > BLOCK ? size : BLOCK;

		b = calloc(1, sizeof(*b) + n);
		if (b == NULL && a->trap != NULL)
			longjmp(*a->trap, 1);
		if (b == NULL)
			return NULL;
		b->size = n;
		b->next = a->blocks;
		a->blocks = b;
	}
	p = b->data + b->used;
	b->used += size;
	return p;
}

char *arena_strdup(struct arena *a, const char *s, size_t len)
{
	char *p = arena_alloc(a, len + 1);

	if (p != NULL)
		memcpy(p, s, len);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, aq;
	char *p;
	int n;

	va_start(ap, fmt);
	va_copy(aq, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	p = arena_alloc(a, (size_t)n + 1);
	if (p != NULL)
		vsnprintf(p, (size_t)n + 1, fmt, aq);
	va_end(aq);
	va_end(ap);
	return p;
}
