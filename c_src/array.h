/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing arrays and buffers. An array has no field for its capacity: that is a power of two, so
 * the number of elements says when it is full. Both return false when memory runs out, and then
 * leave the contents as they are.
 */
#ifndef ET_ARRAY_H
#define ET_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline bool array_resize(void *array, size_t n, size_t size)
{
	void *old, *more;

	memcpy(&old, array, sizeof(old)); /* a pointer of any type */
	more = n <= PTRDIFF_MAX / size ? realloc(old, n * size) : NULL;
	if (more == NULL)
		return false;
	memcpy(array, &more, sizeof(more));
	return true;
}

/* Make room for one more element after the first n. All elements must be added this way. */
#define ARRAY_ROOM(v, n) array_room(&(v), (n), sizeof(*(v)))
static inline bool array_room(void *array, size_t n, size_t size)
{
	enum { FIRST = 4 };

	if (n == 0)
		return array_resize(array, FIRST, size);
	return n < FIRST || (n & (n - 1)) != 0 || array_resize(array, 2 * n, size);
}

/*
 * A buffer with a field for its capacity: make room for at least `want` elements; it usually
 * doubles.
 */
#define ARRAY_RESERVE(v, room, want) array_reserve(&(v), &(room), (want), sizeof(*(v)))
static inline bool array_reserve(void *array, size_t *room, size_t want, size_t size)
{
	enum { FIRST = 1024 }; /* bytes */
	size_t n = *room > 0 ? *room : size < FIRST ? FIRST / size : 1;

	if (want <= *room)
		return true;
	while (n < want && n <= SIZE_MAX / 2)
		n *= 2;
	if (n < want || !array_resize(array, n, size))
		return false;
	*room = n;
	return true;
}

#endif
