/* SPDX-License-Identifier: Apache-2.0 */
/*
 * String functions (probe path): comparing, searching, cutting and joining. Results go to a slot of
 * the scratch region and are truncated to strsize - 1 bytes. Positions count as in Perl, whose
 * rules D has adopted with all their corner cases.
 */
#include <stddef.h>
#include <string.h>

#include "compiler.h"
#include "engine/tables/counter.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "engine/probe.h"
#include "prog/builtins.h"
#include "prog/record.h"
#include "rt_str.h"
#include "engine/safe.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/str.h"
#include "engine/work.h"

/* ---- sources of strings --------------------------------------------------------------- */

RTFN(addrstr)
{
	struct fire *f = FIRE(ctx);
	uint32_t room = f->en->strsize;
	char *to = str_slot(f, a);
	int64_t len;

	if (to == NULL) {
		set_fault(f, FAULT_NOSCRATCH, 0);
		return 0;
	}
	if (c < room)
		room = c == 0 ? 1 : (uint32_t)c + 1 < room ? (uint32_t)c + 1 : room;
	len = safe_str(f, to, b, room);
	if (len < 0 || !work_block(f, (uint64_t)len))
		return 0;
	str_end(to, (size_t)len);
	return (uint64_t)(uintptr_t)to;
}

RTFN(copyinstr)
{
	return safe_of_process(FIRE(ctx), b) ? rt_addrstr(ctx, a, b, c, d) : 0;
}

/* An argument that the provider has interned is passed on as it is. */
RTFN(argstr)
{
	struct fire *f = FIRE(ctx);

	if (b >= 10) {
		set_fault(f, FAULT_BADINDEX, 0);
		return 0;
	}
	if (likely(f->strmask >> b & 1)) {
		const char *text = (const char *)(uintptr_t)f->arg[b];

		return str_ref((
			const struct et_str *)(const void *)(text - offsetof(struct et_str, text)));
	}
	return c != 0 ? rt_copyinstr(ctx, a, f->arg[b], UINT64_MAX, 0)
		      : rt_addrstr(ctx, a, f->arg[b], UINT64_MAX, 0);
}

RTFN(memstr)
{
	const char *from = (const char *)(uintptr_t)b;
	size_t len = strnlen(from, c);

	return work_block(FIRE(ctx), len) ? str_put(FIRE(ctx), a, from, len) : 0;
}

RTFN(str)
{
	return a;
}

RTFN(notnull)
{
	if (!str_is_null(a))
		return a;
	set_fault(FIRE(ctx), FAULT_BADADDR, 0);
	return 0;
}

RTFN(setstr)
{
	char *to = (char *)(uintptr_t)a;
	uint32_t len;
	const char *text = str_text(FIRE(ctx), c, &len);

	if (b < 2 || !work_block(FIRE(ctx), len))
		return 0;
	if (text == NULL) {
		str_set_null(to);
		return 0;
	}
	if (len > b - 1)
		len = (uint32_t)(b - 1);
	memmove(to, text, len);
	str_end(to, len);
	return 0;
}

RTFN(stradr)
{
	const struct et_str *s = str_interned(a);

	return s != NULL ? (uint64_t)(uintptr_t)s->text : str_is_null(a) ? 0 : a;
}

/* ---- comparing, reading --------------------------------------------------------------- */

PROBE_PATH static int64_t compare(struct fire *f, uint64_t x, uint64_t y)
{
	uint32_t n, m;
	const char *s, *t;
	int c;

	if (x == y)
		return 0;
	s = str_text(f, x, &n);
	t = str_text(f, y, &m);
	if (!work_block(f, (uint64_t)n + m))
		return 0;
	c = n == 0 || m == 0 ? 0 : memcmp(s, t, n < m ? n : m);
	return c != 0 ? c : (int64_t)n - m;
}

/* NULL compares as an empty string, as in the other comparisons. */
RTFN(streq)
{
	uint32_t n, m;
	const char *s, *t;

	if (a == b)
		return 1;
	s = str_text(FIRE(ctx), a, &n);
	t = str_text(FIRE(ctx), b, &m);
	if (unlikely(!work_block(FIRE(ctx), n)) || n != m)
		return 0;
	return n == 0 || memcmp(s, t, n) == 0;
}

RTFN(strcmp)
{
	return (uint64_t)compare(FIRE(ctx), a, b);
}

RTFN(strlen)
{
	uint32_t len;

	str_arg(FIRE(ctx), a, &len);
	work_block(FIRE(ctx), len);
	return len;
}

RTFN(strat)
{
	uint32_t len;
	const char *s = str_arg(FIRE(ctx), a, &len);

	work_block(FIRE(ctx), len);
	return b < len ? (uint64_t)(int64_t)s[b] : 0;
}

static inline int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 10;
	return 99;
}

RTFN(strtoll)
{
	uint32_t len, i = 0;
	const char *s = str_arg(FIRE(ctx), a, &len);
	bool negative = false;
	uint64_t v = 0;

	if (b < 2 || b > 36) {
		set_fault(FIRE(ctx), FAULT_ILLOP, 0);
		return 0;
	}
	if (s == NULL || !work_bytes(FIRE(ctx), len))
		return 0;
	while (i < len && (s[i] == ' ' || (s[i] >= '\t' && s[i] <= '\r')))
		i++;
	if (i < len && (s[i] == '-' || s[i] == '+'))
		negative = s[i++] == '-';
	if (b == 16 && i + 1 < len && s[i] == '0' && (s[i + 1] | 0x20) == 'x')
		i += 2;
	for (; i < len && digit_of(s[i]) < (int)b; i++)
		v = v * b + (unsigned)digit_of(s[i]);
	return negative ? 0 - v : v;
}

/* ---- searching ------------------------------------------------------------------------ */

/* A search for t in s: forward from a position, or backward from the end down to a position. */
struct search {
	const char *s, *t;
	uint32_t n, m;
	bool back;
};

/* Up to this many byte comparisons, trying each position is fast enough. */
#define SEARCH_SHORT (64 * 1024)

PROBE_PATH static bool is_at(const struct search *q, uint32_t at)
{
	return memcmp(q->s + at, q->t, q->m) == 0;
}

/* The i-th character in the direction of the search. */
static inline uint64_t nth(const struct search *q, const char *s, uint32_t n, uint32_t i)
{
	return (unsigned char)s[q->back ? n - 1 - i : i];
}

/*
 * Long texts: a rolling hash (Rabin-Karp), which reads each byte twice. Where the hashes are equal
 * the texts are compared; a script that forces collisions pays for that with the work of its
 * firing.
 */
PROBE_PATH static INLINE_HERE int64_t search_long(struct fire *f, const struct search *q)
{
	const uint64_t base = 0x9e3779b97f4a7c15;
	uint64_t want = 0, have = 0, out = 1;
	uint32_t i;

	for (i = 0; i < q->m; i++) {
		want = want * base + nth(q, q->t, q->m, i);
		have = have * base + nth(q, q->s, q->n, i);
		out *= base;
	}
	for (i = 0;; i++) {
		uint32_t at = q->back ? q->n - q->m - i : i;

		if (have == want) {
			if (is_at(q, at))
				return at;
			if (!work_bytes(f, q->m))
				return -1;
		}
		if (i >= q->n - q->m)
			return -1;
		have = have * base + nth(q, q->s, q->n, i + q->m) - nth(q, q->s, q->n, i) * out;
	}
}

/* The first position of t in s, or the last one; -1: none, or a fault. m is not 0. */
PROBE_PATH static INLINE_HERE int64_t search(struct fire *f, const struct search *q)
{
	const char *at;

	if (q->m > q->n || !work_bytes(f, (uint64_t)q->n + q->m))
		return -1;
	if ((uint64_t)q->n * q->m > SEARCH_SHORT)
		return search_long(f, q);
	if (!q->back) {
		at = memmem(q->s, q->n, q->t, q->m);
		return at != NULL ? at - q->s : -1;
	}
	for (uint32_t i = q->n - q->m + 1; i-- > 0;)
		if (is_at(q, i))
			return i;
	return -1;
}

RTFN(index)
{
	struct fire *f = FIRE(ctx);
	uint32_t n, m;
	const char *s = str_arg(f, a, &n), *t = str_arg(f, b, &m);
	int64_t from = (int64_t)c < 0 ? 0 : (int64_t)c, at;
	BIG_LOCAL(struct search, q, f);

	if (from >= n)
		return m == 0 ? n : (uint64_t)-1;
	if (m == 0)
		return (uint64_t)from;
	*q = (struct search){s + from, t, n - (uint32_t)from, m, false};
	at = search(f, q);
	return at < 0 ? (uint64_t)-1 : (uint64_t)(from + at);
}

RTFN(rindex)
{
	struct fire *f = FIRE(ctx);
	uint32_t n, m;
	const char *s = str_arg(f, a, &n), *t = str_arg(f, b, &m);
	int64_t from = (int64_t)c;
	BIG_LOCAL(struct search, q, f);

	if (from < 0)
		return m == 0 ? 0 : (uint64_t)-1;
	if (from > n)
		from = n;
	if (m == 0)
		return (uint64_t)from;
	if (n - (uint64_t)from > m) /* up to the end of a match that begins there */
		n = (uint32_t)from + m;
	*q = (struct search){s, t, n, m, true};
	return (uint64_t)search(f, q);
}

RTFN(strstr)
{
	struct fire *f = FIRE(ctx);
	uint32_t n, m;
	const char *s = str_arg(f, b, &n), *t = str_arg(f, c, &m);
	int64_t at = 0;
	BIG_LOCAL(struct search, q, f);

	if (s == NULL || t == NULL)
		return 0;
	*q = (struct search){s, t, n, m, false};
	if (m > 0)
		at = search(f, q);
	return at < 0 ? 0 : str_put(f, a, s + at, n - (uint32_t)at);
}

PROBE_PATH static uint64_t find_char(
	struct fire *f, uint64_t slot, uint64_t ref, uint64_t ch, bool last)
{
	uint32_t n, at = UINT32_MAX;
	const char *s = str_arg(f, ref, &n);

	if (s == NULL || !work_bytes(f, n))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (s[i] == (char)ch) {
			at = i;
			if (!last)
				break;
		}
	if (at != UINT32_MAX)
		return str_put(f, slot, s + at, n - at);
	return (char)ch == '\0' ? str_put(f, slot, "", 0) : 0;
}

RTFN(strchr)
{
	return find_char(FIRE(ctx), a, b, c, false);
}

RTFN(strrchr)
{
	return find_char(FIRE(ctx), a, b, c, true);
}

/* ---- new strings ---------------------------------------------------------------------- */

RTFN(strjoin)
{
	struct fire *f = FIRE(ctx);
	uint32_t n, m, most = f->en->strsize - 1;
	const char *s = str_arg(f, b, &n), *t = str_arg(f, c, &m);
	char *to = str_slot(f, a);

	if (s == NULL || t == NULL || to == NULL || !work_block(f, (uint64_t)n + m))
		return 0;
	if (m > most - n)
		m = most - n;
	memmove(to + n, t, m);
	memmove(to, s, n);
	str_end(to, n + m);
	return (uint64_t)(uintptr_t)to;
}

RTFN(substr)
{
	struct fire *f = FIRE(ctx);
	uint32_t n;
	const char *s = str_arg(f, b, &n);
	int64_t from = (int64_t)c, len = (int64_t)d, size = f->en->strsize;

	if (s == NULL || !work_block(f, n))
		return 0;
	if (len > size)
		len = size;
	if (from < -size || from > size || len < -size)
		return str_put(f, a, "", 0);
	if (from < 0) {
		from += n;
		if (from < 0 && from + len > 0) { /* it reaches into the string */
			len += from;
			from = 0;
		}
	}
	if (from >= n || from < 0)
		len = 0;
	else if (len < 0)
		len += n - from; /* leave that many off at the end */
	if (len < 0)
		len = 0;
	if (len > 0 && from + len > n)
		len = n - from;
	return str_put(f, a, len > 0 ? s + from : "", (size_t)len);
}

/* A set of characters. */
struct chars {
	uint64_t bits[4];
};

static inline bool has(const struct chars *set, char c)
{
	return set->bits[(unsigned char)c / 64] >> ((unsigned char)c % 64) & 1;
}

/*
 * The next token. The rest is kept in the slot until the firing ends, from the delimiter on, which
 * need not be one in the next call.
 */
RTFN(strtok)
{
	struct fire *f = FIRE(ctx);
	struct en_thread *t = f->thread;
	uint32_t n, m, from, to;
	const char *s = str_text(f, b, &n), *sep = str_arg(f, c, &m);
	BIG_LOCAL(struct chars, set, f);

	if (sep == NULL || !work_bytes(f, m) || !work_block(f, n))
		return 0;
	memset(set, 0, sizeof(*set));
	for (uint32_t i = 0; i < m; i++)
		set->bits[(unsigned char)sep[i] / 64] |= 1ULL << ((unsigned char)sep[i] % 64);
	if (s != NULL) {
		memcpy(t->tok.text, s, n);
		t->tok.text[n] = '\0';
		t->tok.len = n;
		t->tok.pos = 0;
		t->tok.set = true;
		t->tok.fired = count_get(&t->fired);
	}
	if (!t->tok.set || t->tok.fired != count_get(&t->fired)) {
		set_fault(f, FAULT_BADADDR, 0);
		return 0;
	}
	for (from = t->tok.pos; from < t->tok.len; from++)
		if (!has(set, t->tok.text[from]))
			break;
	for (to = from; to < t->tok.len; to++)
		if (has(set, t->tok.text[to]))
			break;
	if (!work_bytes(f, to - t->tok.pos))
		return 0;
	t->tok.pos = to;
	return from < t->tok.len ? str_put(f, a, t->tok.text + from, to - from) : 0;
}

PROBE_PATH static uint64_t change_case(
	struct fire *f, uint64_t slot, uint64_t ref, char first, int by)
{
	uint32_t n;
	const char *s = str_arg(f, ref, &n);
	char *to = str_slot(f, slot);

	if (s == NULL || to == NULL || !work_bytes(f, n))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		to[i] = (char)(s[i] >= first && s[i] < first + 26 ? s[i] + by : s[i]);
	str_end(to, n);
	return (uint64_t)(uintptr_t)to;
}

RTFN(tolower)
{
	return change_case(FIRE(ctx), a, b, 'A', 'a' - 'A');
}

RTFN(toupper)
{
	return change_case(FIRE(ctx), a, b, 'a', 'A' - 'a');
}

/* As illumos formats them: hexadecimal with 0x, octal with 0, a sign in base ten only. */
struct digits {
	char text[72];
};
RTFN(lltostr)
{
	struct fire *f = FIRE(ctx);
	BIG_LOCAL(struct digits, w, f);
	char *p = w->text + sizeof(w->text);
	bool negative = c == 10 && (int64_t)b < 0;
	uint64_t v = negative ? 0 - b : b;

	if (c < 2 || c > 36) {
		set_fault(f, FAULT_ILLOP, 0);
		return 0;
	}
	for (; v != 0; v /= c)
		*--p = "0123456789abcdefghijklmnopqrstuvwxyz"[v % c];
	if (b == 0 && c == 16)
		*--p = '0';
	if (c == 16)
		*--p = 'x';
	if (b == 0 || c == 8 || c == 16)
		*--p = '0';
	if (negative)
		*--p = '-';
	return str_put(f, a, p, (size_t)(w->text + sizeof(w->text) - p));
}

/* ---- built-in variables ----------------------------------------------------------------- */

RTFN(strvar)
{
	struct fire *f = FIRE(ctx);

	switch (a) {
	case BI_PROBEPROV: return str_ref(f->probe->prov);
	case BI_PROBEMOD: return str_ref(f->probe->mod);
	case BI_PROBEFUNC: return str_ref(f->probe->func);
	case BI_PROBENAME: return str_ref(f->probe->name);
	case BI_EXECNAME: return str_execname(f);
	default: return 0;
	}
}
