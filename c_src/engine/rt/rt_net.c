/* SPDX-License-Identifier: Apache-2.0 */
/* Network addresses as text (probe path): inet_ntoa, inet_ntoa6, inet_ntop, link_ntop. */
#include <string.h>
#include <sys/socket.h>

#include "compiler.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "engine/slot.h"
#include "prog/record.h"
#include "rt_str.h"
#include "engine/safe.h"

#define HW_ETHERNET   1
#define HW_INFINIBAND 32

struct work {
	uint8_t addr[20];
	char text[64];
};

PROBE_PATH static INLINE_HERE char *put_number(char *to, unsigned v, unsigned base)
{
	unsigned unit = 1;

	while (v / unit >= base)
		unit *= base;
	for (; unit != 0; unit /= base)
		*to++ = "0123456789abcdef"[v / unit % base];
	return to;
}

PROBE_PATH static char *put_v4(char *to, const uint8_t *addr)
{
	for (int i = 0; i < 4; i++) {
		if (i > 0)
			*to++ = '.';
		to = put_number(to, addr[i], 10);
	}
	return to;
}

/* The longest run of at least two zero words, where "::" goes: 16 times its position + length. */
PROBE_PATH static INLINE_HERE unsigned longest_zeros(const uint8_t *addr, unsigned words)
{
	unsigned best = 16 * 15 + 1, run = 0;

	for (unsigned i = 0; i < words; i++) {
		run = addr[2 * i] == 0 && addr[2 * i + 1] == 0 ? run + 1 : 0;
		if (run > best % 16)
			best = 16 * (i + 1 - run) + run;
	}
	return best;
}

/* Is it an IPv4 address in an IPv6 one: ::ffff:A.B.C.D, or ::A.B.C.D other than :: and ::1? */
PROBE_PATH static bool embeds_v4(const uint8_t *addr)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, zeros[15];

	return memcmp(addr, mapped, 12) == 0 ||
	       (memcmp(addr, zeros, 12) == 0 && (memcmp(addr, zeros, 15) != 0 || addr[15] > 1));
}

/* RFC 5952; an embedded IPv4 address is written as one. */
PROBE_PATH static INLINE_HERE char *put_v6(char *to, const uint8_t *addr)
{
	bool has_v4 = embeds_v4(addr);
	unsigned words = has_v4 ? 6 : 8, zeros = longest_zeros(addr, words);

	for (unsigned i = 0; i < words; i++) {
		if (i == zeros / 16) {
			*to++ = ':';
			i += zeros % 16 - 1;
			if (i == words - 1)
				*to++ = ':';
			continue;
		}
		if (i > 0)
			*to++ = ':';
		to = put_number(to, (unsigned)addr[2 * i] << 8 | addr[2 * i + 1], 16);
	}
	if (!has_v4)
		return to;
	if (zeros / 16 + zeros % 16 < words) /* not after "::" */
		*to++ = ':';
	return put_v4(to, addr + 12);
}

/* bare: of an embedded IPv4 address only that. */
PROBE_PATH static uint64_t inet(
	struct fire *f, uint64_t slot, uint64_t family, uint64_t from, bool bare)
{
	BIG_LOCAL(struct work, w, f);
	char *end;

	if (family != AF_INET && family != AF_INET6) {
		set_fault(f, FAULT_ILLOP, 0);
		return 0;
	}
	if (!safe_read(f, w->addr, from, family == AF_INET ? 4 : 16))
		return 0;
	if (family == AF_INET)
		end = put_v4(w->text, w->addr);
	else if (bare && embeds_v4(w->addr))
		end = put_v4(w->text, w->addr + 12);
	else
		end = put_v6(w->text, w->addr);
	return str_put(f, slot, w->text, (size_t)(end - w->text));
}

RTFN(inet_ntoa)
{
	return inet(FIRE(ctx), a, AF_INET, b, false);
}

RTFN(inet_ntoa6)
{
	return inet(FIRE(ctx), a, AF_INET6, b, true);
}

RTFN(inet_ntop)
{
	return inet(FIRE(ctx), a, b, c, false);
}

RTFN(link_ntop)
{
	struct fire *f = FIRE(ctx);
	BIG_LOCAL(struct work, w, f);
	unsigned n = b == HW_ETHERNET ? 6 : 20, at = 0;

	if (b != HW_ETHERNET && b != HW_INFINIBAND) {
		set_fault(f, FAULT_ILLOP, 0);
		return 0;
	}
	if (!safe_read(f, w->addr, c, n))
		return 0;
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			w->text[at++] = ':';
		w->text[at++] = "0123456789abcdef"[w->addr[i] >> 4];
		w->text[at++] = "0123456789abcdef"[w->addr[i] & 15];
	}
	return str_put(f, a, w->text, at);
}
