/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: str.c. */
#ifndef EN_STR_H
#define EN_STR_H

#include <stddef.h>
#include <stdint.h>

/*
 * An interned string, from a provider or a constant of the program: made once, then passed by
 * reference. Ids are never reused, so tables store the id and compare that first.
 */
struct et_str {
	uint64_t id;
	uint64_t hash; /* of the text */
	uint32_t len;
	char text[];   /* NUL-terminated */
};
struct et_str *et_str_new(const char *text, size_t len); /* not on the probe path */
void et_str_free(struct et_str *s);
uint64_t et_hash(const char *text, size_t len);

#define STR_TAG (1ULL << 63)
static inline uint64_t str_ref(const struct et_str *s)
{
	return (uint64_t)(uintptr_t)s | STR_TAG;
}
static inline const struct et_str *str_interned(uint64_t ref)
{
	return ref & STR_TAG ? (const struct et_str *)(uintptr_t)(ref & ~STR_TAG) : NULL;
}

#endif
