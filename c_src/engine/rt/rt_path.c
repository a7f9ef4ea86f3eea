/* SPDX-License-Identifier: Apache-2.0 */
/* Paths (probe path): basename, dirname, cleanpath, by DTrace's rules. */
#include "compiler.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "rt_str.h"
#include "engine/work.h"

/* The length without trailing slashes; of "/" one stays. */
PROBE_PATH static uint32_t without_slashes(const char *s, uint32_t n)
{
	while (n > 1 && s[n - 1] == '/')
		n--;
	return n;
}

RTFN(basename)
{
	struct fire *f = FIRE(ctx);
	uint32_t n, from;
	const char *s = str_arg(f, b, &n);

	if (s == NULL || !work_bytes(f, n))
		return 0;
	if (n == 0)
		return str_put(f, a, ".", 1);
	n = without_slashes(s, n);
	for (from = n; from > 0 && s[from - 1] != '/'; from--)
		;
	if (from == n) /* nothing but slashes */
		from = n - 1;
	return str_put(f, a, s + from, n - from);
}

RTFN(dirname)
{
	struct fire *f = FIRE(ctx);
	uint32_t n;
	const char *s = str_arg(f, b, &n);

	if (s == NULL || !work_bytes(f, n))
		return 0;
	if (n == 0)
		return str_put(f, a, ".", 1);
	n = without_slashes(s, n);
	while (n > 0 && s[n - 1] != '/')
		n--;
	if (n == 0)
		return str_put(f, a, ".", 1);
	return str_put(f, a, s, without_slashes(s, n));
}

/*
 * Remove empty parts, "/./" and "/../". As in DTrace, "." and ".." count only between slashes: at
 * the end they stay.
 */
RTFN(cleanpath)
{
	struct fire *f = FIRE(ctx);
	uint32_t n, to = ZERO(f->en), i = 0;
	const char *s = str_arg(f, b, &n);
	char *out = str_slot(f, a);

	if (s == NULL || out == NULL || !work_bytes(f, n))
		return 0;
	while (i < n) {
		if (s[i] != '/') {
			out[to++] = s[i++];
		} else if (i + 1 < n && s[i + 1] == '/') {
			i++;
		} else if (i + 2 < n && s[i + 1] == '.' && s[i + 2] == '/') {
			i += 2;
		} else if (i + 3 < n && s[i + 1] == '.' && s[i + 2] == '.' && s[i + 3] == '/') {
			i += 3; /* back to the previous slash */
			while (to > 0 && out[--to] != '/')
				;
		} else {
			out[to++] = s[i++];
		}
	}
	str_end(out, to);
	return (uint64_t)(uintptr_t)out;
}
