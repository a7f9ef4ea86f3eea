/* SPDX-License-Identifier: Apache-2.0 */
/* The characters of terms of the VM (probe path). */
#include "term_chars.h"

#include "beam_terms.h"
#include "compiler.h"
#include "term/term_characters.h"

PROBE_PATH bool beam_chars(ErlNifEnv *env, const struct term_value *v, char *buf, size_t size)
{
	return chars_of(env, v, buf, size);
}

PROBE_PATH int beam_chars_are(ErlNifEnv *env, const struct term_value *v, const char *text, size_t len)
{
	return chars_are(env, v, text, len);
}
