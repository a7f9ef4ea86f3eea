/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is assumed of the VM's terms is checked when the library is loaded, on terms whose contents
 * are known. Where one is not as in the releases that we know, the probe path asks the VM instead,
 * which is slower but always right. (The words of a process: layout.c.)
 *
 *   small integers	   their value lies above four bits of ones
 *   immediates		   the two lowest bits are ones, and in no other term
 *   tuples		   their elements lie behind one word, the same for all of a size
 *   maps		   of one key: that word, the size, the tuple of keys, the value
 *   words		   cells: head and tail; tuples: their size above six bits of zeros; maps
 *			   of up to 32 keys: as those of one (term_words.h)
 *   pids		   hold their index in the VM's table of processes, which no two living
 *			   processes share: above bit 32 up to OTP 25, above bit 4 since 26
 *   sizes		   of binaries outside the heap, funs and references differ by release
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "beam/atoms.h"
#include "sizes.h"
#define BEAM_VM_CONST /* not const: it is written here */
#include "vm_facts.h"

struct beam_vm beam_vm;
static const struct beam_vm unknown = {
	.tuple3.tag = 8,
	.map1.tag = 8,
	.pid_tag = 16,
	.size_binary = 6,
	.size_fun = 5,
	.size_ref = 3,
};

#define PIDS 1024 /* looked at, of those that live */

static bool small_ok(ErlNifEnv *env)
{
	return enif_make_uint(env, 5) == (5 << 4 | 15) &&
	       enif_make_uint(env, 0x7ffffff) == ((uint64_t)0x7ffffff << 4 | 15);
}

static bool tagged(ERL_NIF_TERM t)
{
	return (t & 3) == 3;
}

static bool immediates_ok(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	ERL_NIF_TERM nil = enif_make_list(env, 0), bin;

	memset(enif_make_new_binary(env, 100, &bin), 0, 100);
	return tagged(nil) && tagged(atom_ok) && tagged(pid) && tagged(enif_make_int(env, -1)) &&
	       tagged(enif_make_int64(env, (1LL << 59) - 1)) &&
	       tagged(enif_make_int64(env, -(1LL << 59))) &&
	       !tagged(enif_make_int64(env, 1LL << 59)) && !tagged(enif_make_double(env, 1.5)) &&
	       !tagged(enif_make_list_cell(env, nil, nil)) &&
	       !tagged(enif_make_tuple1(env, nil)) && !tagged(enif_make_new_map(env)) &&
	       !tagged(enif_make_ref(env)) && !tagged(bin);
}

/* Where do the elements of a tuple lie? Behind a word that all tuples of three begin with. */
static void look_at_tuples(ErlNifEnv *env)
{
	const ERL_NIF_TERM a = atom_ok, b = atom_error, c = atom_true;
	const ERL_NIF_TERM t[] = {enif_make_tuple3(env, a, b, c), enif_make_tuple3(env, c, a, b)};
	const ERL_NIF_TERM *e, *at[2];
	int n;

	for (int i = 0; i < 2; i++) {
		at[i] = (const ERL_NIF_TERM *)(uintptr_t)(t[i] & ~(ERL_NIF_TERM)7);
		if (!enif_get_tuple(env, t[i], &n, &e) || n != 3 || e != at[i] + 1)
			return;
	}
	if (at[0][0] != at[1][0] || (t[0] & 7) != (t[1] & 7))
		return;
	beam_vm.tuple3 = (struct beam_tuple){.tag = t[0] & 7, .header = at[0][0]};
}

/* And the value of a map's one key? */
static void look_at_maps(ErlNifEnv *env)
{
	const ERL_NIF_TERM value[] = {atom_ok, enif_make_uint(env, 77)};
	const ERL_NIF_TERM *at, *keys;
	ERL_NIF_TERM header = 0;

	for (int i = 0; i < 2; i++) {
		ERL_NIF_TERM m;

		if (!enif_make_map_put(env, enif_make_new_map(env), atom_extra, value[i], &m) ||
			(m & 7) != beam_vm.tuple3.tag)
			return;
		at = (const ERL_NIF_TERM *)(uintptr_t)(m & ~(ERL_NIF_TERM)7);
		if (at[1] != 1 || (at[2] & 7) != beam_vm.tuple3.tag || at[3] != value[i] ||
			(i == 1 && at[0] != header))
			return;
		keys = (const ERL_NIF_TERM *)(uintptr_t)(at[2] & ~(ERL_NIF_TERM)7);
		if (keys[1] != atom_extra)
			return;
		header = at[0];
	}
	beam_vm.map1 = (struct beam_tuple){.tag = beam_vm.tuple3.tag, .header = header};
}

/* ---- what term_words.h reads ------------------------------------------------------------ */

static bool cells_ok(ErlNifEnv *env)
{
	ERL_NIF_TERM cell = enif_make_list_cell(env, atom_ok, atom_error);
	const ERL_NIF_TERM *w = (const ERL_NIF_TERM *)(uintptr_t)(cell & ~(ERL_NIF_TERM)7);

	return (cell & 3) == 1 && w[0] == atom_ok && w[1] == atom_error;
}

static bool tuples_ok(ErlNifEnv *env)
{
	ERL_NIF_TERM e[40];

	for (unsigned n = 0; n < 40; n++) {
		const ERL_NIF_TERM *w, *got;
		ERL_NIF_TERM t;
		int size;

		e[n] = enif_make_uint(env, n);
		t = enif_make_tuple_from_array(env, e, n);
		w = (const ERL_NIF_TERM *)(uintptr_t)(t & ~(ERL_NIF_TERM)7);
		if ((t & 3) != 2 || w[0] != (ERL_NIF_TERM)n << 6 ||
			!enif_get_tuple(env, t, &size, &got) || size != (int)n ||
			(n > 0 && got != w + 1))
			return false;
	}
	return true;
}

static bool maps_ok(ErlNifEnv *env)
{
	ERL_NIF_TERM m = enif_make_new_map(env), v;

	for (unsigned n = 0; n < 32; n++) {
		const ERL_NIF_TERM *w, *keys;

		if (!enif_make_map_put(
			    env, m, enif_make_uint(env, 77 - n), enif_make_uint(env, n), &m))
			return false;
		w = (const ERL_NIF_TERM *)(uintptr_t)(m & ~(ERL_NIF_TERM)7);
		keys = (const ERL_NIF_TERM *)(uintptr_t)(w[2] & ~(ERL_NIF_TERM)7);
		if ((m & 3) != 2 || w[0] != beam_vm.map1.header || w[1] != n + 1 ||
			(w[2] & 3) != 2 || keys[0] != (ERL_NIF_TERM)(n + 1) << 6)
			return false;
		for (unsigned i = 0; i <= n; i++)
			if (!enif_get_map_value(env, m, keys[1 + i], &v) || v != w[3 + i])
				return false;
	}
	/* and one key more is another kind of map */
	if (!enif_make_map_put(env, m, atom_ok, atom_ok, &m))
		return false;
	return *(const ERL_NIF_TERM *)(uintptr_t)(m & ~(ERL_NIF_TERM)7) != beam_vm.map1.header;
}

/* ---- pids ------------------------------------------------------------------------------ */

/*
 * The VM spreads consecutive numbers over cache lines of eight slots each, then takes the next slot
 * in each line.
 */
static uint64_t spread(uint64_t number, uint64_t slots)
{
	return (number * 8 & (slots - 1)) + (number * 8 / slots & 7);
}

/* The number that <0.Number.Serial> shows, of 28 bits: before OTP 26 the upper 13 are Serial. */
static bool slot_ok(ERL_NIF_TERM pid, unsigned shift, uint64_t slots)
{
	char text[64];
	unsigned node, number, serial;

	enif_snprintf(text, sizeof(text), "%T", pid);
	if (sscanf(text, "<%u.%u.%u>", &node, &number, &serial) != 3 || node != 0)
		return false;
	if (shift == 32)
		number |= serial << 15;
	return (pid >> shift & (slots - 1)) == spread(number, slots);
}

static bool shift_ok(const ERL_NIF_TERM *pid, unsigned n, unsigned shift, uint64_t slots)
{
	for (unsigned i = 0; i < n; i++)
		if (!slot_ok(pid[i], shift, slots))
			return false;
	return true;
}

static unsigned find_shift(ErlNifEnv *env, ERL_NIF_TERM pids, ERL_NIF_TERM limit)
{
	ERL_NIF_TERM pid[PIDS];
	ErlNifUInt64 slots;
	unsigned n = 0;

	while (n < PIDS && enif_get_list_cell(env, pids, &pid[n], &pids))
		n++;
	if (n < 2 || !enif_get_uint64(env, limit, &slots) || slots < 1024 ||
		(slots & (slots - 1)) != 0)
		return 0;
	return shift_ok(pid, n, 32, slots) ? 32 : shift_ok(pid, n, 4, slots) ? 4 : 0;
}

/* ---- all of it ------------------------------------------------------------------------- */

/*
 * info: {Assume, Pids, ProcessLimit, {Binary, Fun, Reference}, DirtyCpus, Samples,
 * Threads, PrintableRange}; see erltrace_nif.erl
 */
void beam_vm_find(ErlNifEnv *env, ERL_NIF_TERM info)
{
	const ERL_NIF_TERM *t, *s;
	ERL_NIF_TERM pid, rest;
	int n, ns;

	beam_vm = unknown;
	beam_vm.zeros_same =
		enif_is_identical(enif_make_double(env, 0.0), enif_make_double(env, -0.0));
	beam_sizes_check(env, atom_undefined);
	if (!enif_get_tuple(env, info, &n, &t) || n != 8)
		return;
	enif_get_uint(env, t[4], &beam_vm.dirty_cpus);
	beam_vm.unicode = t[7] == enif_make_atom(env, "unicode");
	if (enif_get_tuple(env, t[3], &ns, &s) && ns == 3) {
		enif_get_uint(env, s[0], &beam_vm.size_binary);
		enif_get_uint(env, s[1], &beam_vm.size_fun);
		enif_get_uint(env, s[2], &beam_vm.size_ref);
	}
	if (t[0] != atom_true || !enif_get_list_cell(env, t[1], &pid, &rest))
		return;
	beam_vm.small = small_ok(env);
	beam_vm.immediates = immediates_ok(env, pid);
	look_at_tuples(env);
	look_at_maps(env);
	beam_vm.words = beam_vm.immediates && beam_vm.map1.tag != 8 && cells_ok(env) &&
			tuples_ok(env) && maps_ok(env);
	/* ports have other bits, numbers four ones, pids of other nodes a box */
	if ((pid & 15) != (atom_ok & 15) && (pid & 15) != 15)
		beam_vm.pid_tag = pid & 15;
	beam_vm.pid_shift = find_shift(env, t[1], t[2]);
	beam_sizes_check(env, t[5]);
}
