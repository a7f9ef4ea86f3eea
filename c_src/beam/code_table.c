/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include "atoms.h"
#include "code_table.h"
#define ATOM_BITS 26
#define ATOM_MASK ((1ULL << ATOM_BITS) - 1)
struct code_mfa {
	ERL_NIF_TERM mod, fun;
	uint8_t arity;
};
uint64_t beam_code_function(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	const uint64_t tag = atom_ok & 0x3f;

	if ((mod & 0x3f) != tag || (fun & 0x3f) != tag || mod >> 6 > ATOM_MASK ||
		fun >> 6 > ATOM_MASK)
		return 0;
	return 1ULL << 63 | mod >> 6 << (ATOM_BITS + 8) | fun >> 6 << 8 | (arity & 0xff);
}
uint64_t beam_code_frame(uintptr_t pc, bool line)
{
	static const struct code_mfa *(*find)(const void *);
	const struct code_mfa *m;
	(void)line;
	if (find == NULL)
		*(void **)&find = dlsym(RTLD_DEFAULT, "erts_find_function_from_pc");
	m = find != NULL ? find((const void *)pc) : NULL;
	return m != NULL ? beam_code_function(m->mod, m->fun, m->arity) : 0;
}
