/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of the VM as text (probe path). */
#include "term_print.h"

#include "beam_terms.h"
#include "compiler.h"
#include "term/term_printer.h"

PROBE_PATH unsigned beam_print(ErlNifEnv *env, ERL_NIF_TERM t, bool args, char *buf, size_t size)
{
	return print_term(env, t, args, buf, size);
}

PROBE_PATH void beam_print_value(ErlNifEnv *env, const struct term_value *v, char *buf, size_t size)
{
	print_value(env, v, buf, size);
}
