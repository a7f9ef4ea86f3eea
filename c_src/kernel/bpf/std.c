/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the C library that the engine uses, for BPF (probe path). */

void *k_memcpy(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;

	for (; n >= 32; n -= 32, d += 32, s += 32)
		for (int i = 0; i < 4; i++)
			((uint64_t *)(void *)d)[i] = ((const uint64_t *)(const void *)s)[i];
	for (; n >= 8; n -= 8, d += 8, s += 8)
		*(uint64_t *)(void *)d = *(const uint64_t *)(const void *)s;
	for (; n > 0; n--)
		*d++ = *s++;
	return to;
}

void *k_memmove(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;

	if (d <= s || d >= s + n)
		return k_memcpy(to, from, n);
	while (n-- > 0)
		d[n] = s[n];
	return to;
}

void *k_memset(void *to, int c, size_t n)
{
	uint64_t w = (uint64_t)(unsigned char)c * 0x0101010101010101;
	char *d = to;

	/* few turns of much each: the kernel ends what takes 65536 of them */
	for (; n >= 64; n -= 64, d += 64)
		for (int i = 0; i < 8; i++)
			((uint64_t *)(void *)d)[i] = w;
	for (; n >= 8; n -= 8, d += 8)
		*(uint64_t *)(void *)d = w;
	for (; n > 0; n--)
		*d++ = (char)c;
	return to;
}

size_t k_strnlen(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n] != '\0')
		n++;
	return n;
}

void *k_memchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	for (; n > 0; n--, p++)
		if (*p == (unsigned char)c)
			return (void *)(uintptr_t)p;
	return NULL;
}

/* Bounded by strsize, twice. */
void *k_memmem(const void *in, size_t n, const void *what, size_t len)
{
	const char *p = in;

	for (; n >= len; n--, p++)
		if (k_memcmp(p, what, len) == 0)
			return (void *)(uintptr_t)p;
	return NULL;
}
