/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binaries, large integers and references read in place (probe path). enif_inspect_binary copies a
 * binary that does not start at a byte boundary. It also makes a binary that is being appended to
 * lose its spare room, so that a loop of appends copies all of it each time. The VM's own printing
 * allocates for large integers, and locks for references of resources. So the words of these terms
 * are read here. Their layout is found out with the first handle, on terms whose contents are
 * known: for binaries two layouts are tried (OTP 25 and 26, OTP 27 and later). What is not found is
 * not read.
 */
#include <string.h>

#include "compiler.h"
#include "find.h"
#include "peek.h"

static struct layout {
	enum { BITS_UNKNOWN, BITS_BYTES, BITS_BITS } bits; /* what the size of a binary counts */
	uint64_t sub, refc;				   /* first words */
	uint64_t ref_word, bytes_at; /* OTP 27: of what a binary refers to; its bytes behind that */
	uint64_t heap, positive, negative; /* their lowest bits, without the size */
	bool bigs;
	bool refs;
	uint64_t ref, ref_mark, magic;
} at;
static struct find layouts; /* before they are known nothing is read */

static bool is_known(void)
{
	return find_is_known(&layouts);
}

#define KIND(w) ((w)&0x3f)

static const uint64_t *words(ERL_NIF_TERM t)
{
	return (t & 3) == 2 ? (const uint64_t *)(uintptr_t)(t & ~7ULL) : NULL;
}

/* ---- binaries -------------------------------------------------------------------------- */

/* Where the bytes of a whole binary are: OTP 25, 26. */
static const uint8_t *base_of(const uint64_t *w)
{
	if (w == NULL)
		return NULL;
	if (w[0] == at.refc)
		return (const uint8_t *)(uintptr_t)w[4];
	return KIND(w[0]) == at.heap ? (const uint8_t *)(w + 2) : NULL;
}

static bool peek_bytes(const uint64_t *w, struct term_bits *b)
{
	const uint8_t *extra = (const uint8_t *)(w + 3), *base;

	b->off = 0;
	b->n = w[1] * 8;
	if (w[0] != at.sub) {
		b->data = base_of(w);
		return b->data != NULL;
	}
	base = base_of(words(w[4]));
	if (base == NULL)
		return false;
	b->data = base + w[2];
	b->off = extra[1];
	b->n += extra[0];
	return true;
}

enum { MAY_MOVE = 2, FLAGS = 3 }; /* lowest bits of an address, from OTP 27 on */
enum { MOST_BEFORE_BYTES = 64 };  /* what the VM keeps in front of them */

/*
 * Where the bytes of a binary are that has been appended to: when it grows they move, and only what
 * all of its parts refer to knows where they are now.
 */
static const uint8_t *moved(const uint64_t *w)
{
	const uint64_t *ref = words(w[4]);

	return ref != NULL && ref[0] == at.ref_word
		       ? (const uint8_t *)(uintptr_t)ref[1] + at.bytes_at
		       : NULL;
}

static bool peek_bits(const uint64_t *w, struct term_bits *b)
{
	const uint8_t *base;

	b->off = 0;
	if (w[0] == at.sub) {
		base = w[1] & MAY_MOVE ? moved(w)
				       : (const uint8_t *)(uintptr_t)(w[1] & ~(uint64_t)FLAGS);
		if (base == NULL)
			return false;
		b->data = base + w[2] / 8;
		b->off = w[2] % 8;
		b->n = w[3] - w[2];
		return true;
	}
	b->data = (const uint8_t *)(w + 2);
	b->n = w[1];
	return KIND(w[0]) == at.heap;
}

PROBE_PATH static bool peek(ERL_NIF_TERM t, struct term_bits *b)
{
	const uint64_t *w = words(t);

	if (w == NULL || at.bits == BITS_UNKNOWN)
		return false;
	return at.bits == BITS_BYTES ? peek_bytes(w, b) : peek_bits(w, b);
}

bool beam_peek_bits(ERL_NIF_TERM t, struct term_bits *b)
{
	return is_known() && peek(t, b);
}

PROBE_PATH bool beam_get_bits(ErlNifEnv *env, ERL_NIF_TERM t, struct term_bits *b)
{
	ErlNifBinary bin;

	if (likely(is_known() && at.bits != BITS_UNKNOWN))
		return peek(t, b);
	/* of an odd number of bits, OTP 25 would give the whole bytes */
	if (!enif_is_binary(env, t) || !enif_inspect_binary(env, t, &bin))
		return false;
	*b = (struct term_bits){.data = bin.data, .n = bin.size * 8};
	return true;
}

PROBE_PATH size_t beam_make_bytes(uint64_t *w, const struct term_bits *b, size_t n)
{
	size_t words = (n + 7) / 8;
	uint8_t *to = (uint8_t *)(w + 2);

	if (!is_known() || at.bits == BITS_UNKNOWN)
		return 0;
	if (words > 0)
		w[1 + words] = 0;
	w[0] = (uint64_t)(1 + words) << 6 | at.heap;
	w[1] = at.bits == BITS_BYTES ? n : n * 8;
	for (size_t i = 0; i < n; i++)
		to[i] = term_octet(b, i);
	return 2 + words;
}

#define MATCHING 0x04 /* kind of a term, up to OTP 26 */

bool beam_bits_known(void)
{
	return is_known() && at.bits != BITS_UNKNOWN;
}

PROBE_PATH bool beam_is_match_context(ERL_NIF_TERM t)
{
	const uint64_t *w = words(t);

	return w != NULL && at.bits == BITS_BYTES && KIND(w[0]) == MATCHING;
}

/*
 * Behind its first word: the binary, its bytes, from which bit on it is matched, how many it has.
 */
PROBE_PATH ERL_NIF_TERM beam_match_context_part(ERL_NIF_TERM t, uint64_t *w)
{
	const uint64_t *m = words(t);
	uint64_t n = m[4] > m[3] ? m[4] - m[3] : 0;

	w[0] = at.sub;
	w[1] = n / 8;
	w[2] = m[3] / 8;
	w[3] = n % 8 | (m[3] % 8) << 8;
	w[4] = m[1];
	return (ERL_NIF_TERM)(uintptr_t)w | 2;
}

static bool is_right(ErlNifEnv *env, ERL_NIF_TERM t)
{
	struct term_bits b;
	ErlNifBinary bin;

	return enif_inspect_binary(env, t, &bin) && peek(t, &b) && b.off == 0 &&
	       b.data == bin.data && b.n == bin.size * 8;
}

/* What a large binary of OTP 27 refers to; another one must say the same. */
static bool find_bytes(ErlNifEnv *env, const uint64_t *l, const uint8_t *data)
{
	const uint64_t *ref = words(l[4]), *other;
	ERL_NIF_TERM another;
	uint8_t *bytes = enif_make_new_binary(env, 1000, &another);

	if (ref == NULL || bytes == NULL || words(words(another)[4]) == NULL)
		return false;
	other = words(words(another)[4]);
	at.ref_word = ref[0];
	at.bytes_at = (uint64_t)(uintptr_t)data - ref[1];
	return at.bytes_at % 8 == 0 && at.bytes_at <= MOST_BEFORE_BYTES &&
	       other[0] == at.ref_word && (uint64_t)(uintptr_t)bytes - other[1] == at.bytes_at;
}

/* Small, large, a part of the large: addresses are compared, nothing is followed before. */
static void find_bits(ErlNifEnv *env)
{
	ERL_NIF_TERM small, large, part;
	const uint64_t *s, *l, *p;
	ErlNifBinary bin;

	memset(enif_make_new_binary(env, 10, &small), 1, 10);
	memset(enif_make_new_binary(env, 300, &large), 2, 300);
	part = enif_make_sub_binary(env, large, 7, 100);
	s = words(small);
	l = words(large);
	p = words(part);
	if (s == NULL || l == NULL || p == NULL || !enif_inspect_binary(env, large, &bin))
		return;
	at.heap = KIND(s[0]);
	at.sub = p[0];
	at.refc = l[0];
	if (s[1] == 10 && l[1] == 300 && p[1] == 100 && p[2] == 7 && p[4] == large &&
		l[4] == (uint64_t)(uintptr_t)bin.data && l[0] != p[0])
		at.bits = BITS_BYTES;
	else if (s[1] == 80 && l[0] == p[0] && p[2] == 7 * 8 && p[3] == 107 * 8 &&
		 (p[1] & ~(uint64_t)FLAGS) == (uint64_t)(uintptr_t)bin.data &&
		 find_bytes(env, l, bin.data))
		at.bits = BITS_BITS;
	if (at.bits != BITS_UNKNOWN &&
		!(is_right(env, small) && is_right(env, large) && is_right(env, part)))
		at.bits = BITS_UNKNOWN;
}

/* ---- large integers -------------------------------------------------------------------- */

PROBE_PATH unsigned beam_peek_big(ERL_NIF_TERM t, const uint64_t **digits, bool *negative)
{
	const uint64_t *w = words(t);

	if (w == NULL || !is_known() || !at.bigs ||
		(KIND(w[0]) != at.positive && KIND(w[0]) != at.negative))
		return 0;
	*negative = KIND(w[0]) == at.negative;
	*digits = w + 1;
	return w[0] >> 6 > 1u << 30 ? 0 : (unsigned)(w[0] >> 6);
}

static void find_bigs(ErlNifEnv *env)
{
	const uint64_t *p = words(enif_make_uint64(env, 0xfedcba9876543210));
	const uint64_t *n = words(enif_make_int64(env, -0x7edcba9876543210));

	if (p == NULL || n == NULL)
		return;
	at.positive = KIND(p[0]);
	at.negative = KIND(n[0]);
	at.bigs = at.positive != at.negative && p[0] >> 6 == 1 && n[0] >> 6 == 1 &&
		  p[1] == 0xfedcba9876543210 && n[1] == 0x7edcba9876543210;
}

/* ---- references ------------------------------------------------------------------------ */

static uint64_t mark_of(const uint64_t *w)
{
	return (uint32_t)w[1];
}

PROBE_PATH bool beam_local_ref(ERL_NIF_TERM t)
{
	const uint64_t *w = words(t);

	if (w == NULL || !is_known() || !at.refs || KIND(w[0]) != KIND(at.ref))
		return false;
	return w[0] == at.ref ? mark_of(w) == at.ref_mark : w[0] != at.magic;
}

PROBE_PATH bool beam_peek_ref(ERL_NIF_TERM t, uint64_t word[2])
{
	const uint64_t *w = words(t);

	if (!beam_local_ref(t) || w[0] >> 6 < 2)
		return false;
	word[0] = w[1];
	word[1] = w[2];
	return true;
}

PROBE_PATH bool beam_peek_magic(ERL_NIF_TERM t, uint64_t *word)
{
	const uint64_t *w = words(t);

	if (w == NULL || !is_known() || !at.refs || w[0] != at.magic ||
		(w[0] == at.ref && mark_of(w) == at.ref_mark))
		return false;
	*word = w[1];
	return true;
}

PROBE_PATH bool beam_plain_ref(ERL_NIF_TERM t)
{
	const uint64_t *w = words(t);

	if (w == NULL || !is_known() || !at.refs)
		return false;
	if (w[0] == at.ref)
		return mark_of(w) == at.ref_mark;
	return w[0] != at.magic; /* with a process in it, or of another node */
}

/*
 * An alias is a reference that has one word more than others: the process. No more is read than its
 * first word says there is; what is there must be the pid of a process of this node.
 */
PROBE_PATH bool beam_peek_alias(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *pid)
{
	const uint64_t *w = words(t);
	uint64_t last;

	if (w == NULL || !is_known() || !at.refs || KIND(w[0]) != KIND(at.ref) ||
		w[0] == at.magic || w[0] >> 6 != (at.ref >> 6) + 1)
		return false;
	last = w[w[0] >> 6];
	if ((last & 3) != 3 || !enif_is_pid(env, last))
		return false;
	*pid = last;
	return true;
}

static void find_refs(ErlNifEnv *env, ERL_NIF_TERM resource)
{
	const uint64_t *r = words(enif_make_ref(env)), *m = words(resource);

	if (r == NULL || m == NULL)
		return;
	at.ref = r[0];
	at.ref_mark = mark_of(r);
	at.magic = m[0];
	at.refs = r[0] != m[0] || mark_of(r) != mark_of(m);
}

void beam_peek_init(ErlNifEnv *env, ERL_NIF_TERM resource)
{
	int unknown = FIND_UNKNOWN;

	if (!atomic_compare_exchange_strong(&layouts.state, &unknown, FIND_SEARCHING))
		return;
	find_bits(env);
	find_bigs(env);
	find_refs(env, resource);
	find_conclude(&layouts, true);
	find_publish(&layouts);
}
