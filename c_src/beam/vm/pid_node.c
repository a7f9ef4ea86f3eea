/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node of a pid or reference of another node (probe path). A tracer can ask the VM for it only
 * by writing the term out in the external format, which allocates. But the first number of the
 * term's text is the index of the node's name in the table of atoms, and an atom's term is made of
 * that index. Both are checked when the library is loaded. Where the check fails such a node is "".
 */
#include <stdint.h>
#include <string.h>

#include "beam/atoms.h"
#include "compiler.h"
#include "pid_node.h"

#define ATOM_TAG  0xb
#define ATOM_BITS 6

static bool known;

/* The first number of "<1234.5.6>" or "#Ref<1234.5.6.7>". */
PROBE_PATH static uint64_t channel(const char *text)
{
	uint64_t n = 0;

	while (*text != '\0' && *text != '<')
		text++;
	if (*text == '<')
		for (text++; *text >= '0' && *text <= '9'; text++)
			n = n * 10 + (uint64_t)(*text - '0');
	return n;
}

PROBE_PATH ERL_NIF_TERM beam_node_atom(const char *text)
{
	uint64_t n = channel(text);

	return known && n != 0 ? n << ATOM_BITS | ATOM_TAG : 0;
}

PROBE_PATH bool beam_is_remote(const char *text)
{
	return channel(text) != 0;
}

/* At load: a pid of a node that is called as an atom there is anyway. */
void beam_pid_node_check(ErlNifEnv *env)
{
	static const unsigned char pid[] = {
		131, 88, 119, 6, 'e', 'r', 'l', 'a', 'n', 'g', 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 1};
	ERL_NIF_TERM t;
	char text[64];

	if (enif_binary_to_term(env, pid, sizeof(pid), &t, 0) != sizeof(pid))
		return;
	enif_snprintf(text, sizeof(text), "%T", t);
	known = true;
	known = beam_node_atom(text) == atom_erlang;
}
