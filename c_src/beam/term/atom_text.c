/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atoms as Erlang itself writes them (probe path): with quotes where a program would need them, and
 * only there. What the VM prints for %T has quotes around names with an @, and none around 'end'.
 * Letters of Latin-1 are letters, as in Erlang; the text is UTF-8.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "atom_text.h"
#include "compiler.h"
#include "erlang_words.h"
#include "utf8.h"

struct text {
	char *buf;
	size_t size, len; /* len: of all of it */
};

static inline void put(struct text *t, unsigned char c)
{
	if (t->len + 1 < t->size)
		t->buf[t->len] = (char)c;
	t->len++;
}

PROBE_PATH static void put_utf8(struct text *t, unsigned char c)
{
	char s[4];
	size_t n = utf8_encode(c, s);

	for (size_t i = 0; i < n; i++)
		put(t, (unsigned char)s[i]);
}

static bool has_maybe; /* words of the language from OTP 27 on */

void beam_atom_text_init(void)
{
	ErlNifSysInfo sys;

	enif_system_info(&sys, sizeof(sys));
	has_maybe = atoi(sys.otp_release) >= 27;
}

/* A word of the language. */
static bool is_reserved(const char *name)
{
	return erlang_is_reserved(name) ||
	       (has_maybe && (strcmp(name, "maybe") == 0 || strcmp(name, "else") == 0));
}

static bool is_bare(const char *name, size_t n)
{
	size_t i;

	if (n == 0 || !erlang_is_small((unsigned char)name[0]))
		return false;
	for (i = 1; i < n && erlang_is_inner((unsigned char)name[i]); i++)
		;
	return i == n && !is_reserved(name);
}

static void put_quoted(struct text *t, unsigned char c)
{
	char escape = erlang_escape(c, '\'');

	if (escape == '\0' && c >= ' ' && (c < 0x7f || c >= 0xa0)) {
		put_utf8(t, c);
		return;
	}
	put(t, '\\');
	if (escape != '\0') {
		put(t, (unsigned char)escape);
		return;
	}
	put(t, '0' | c >> 6);
	put(t, '0' | (c >> 3 & 7));
	put(t, '0' | (c & 7));
}

/* As the VM writes it: up to 255 characters of 4 bytes each, or escaped, in quotes. */
PROBE_PATH static __attribute__((noinline)) void put_foreign(struct text *t, ERL_NIF_TERM atom)
{
	char all[255 * 4 + 3];

	enif_snprintf(all, sizeof(all), "%T", atom);
	for (const char *p = all; *p != '\0'; p++)
		put(t, (unsigned char)*p);
}

PROBE_PATH static void put_atom(struct text *t, ERL_NIF_TERM atom)
{
	char name[256];
	int n = enif_get_atom(NULL, atom, name, sizeof(name), ERL_NIF_LATIN1) - 1;
	bool bare;

	if (n < 0) { /* it has letters beyond Latin-1, which are quoted anyway */
		put_foreign(t, atom);
		return;
	}
	bare = is_bare(name, (size_t)n);
	if (!bare)
		put(t, '\'');
	for (int i = 0; i < n; i++)
		if (bare)
			put_utf8(t, (unsigned char)name[i]);
		else
			put_quoted(t, (unsigned char)name[i]);
	if (!bare)
		put(t, '\'');
}

static size_t end(struct text *t)
{
	if (t->size > 0)
		t->buf[t->len < t->size ? t->len : t->size - 1] = '\0';
	return t->len;
}

PROBE_PATH size_t beam_atom_text(ERL_NIF_TERM atom, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	put_atom(&t, atom);
	return end(&t);
}

/* What %T wrote, without the quotes and what they made necessary. */
static size_t unquote(const char *s, char *buf)
{
	bool quoted = *s == '\'';
	size_t n = 0;

	for (s += quoted; *s != '\0' && !(quoted && *s == '\'') && n < TERM_ATOM_NAME - 1; s++) {
		buf[n] = *s;
		if (*s == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] != '\0' && s[3] != '\0') {
			buf[n] = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else if (*s == '\\' && s[1] != '\0') {
			char c = erlang_unescape(*++s);

			buf[n] = c != '\0' ? c : *s;
		}
		n++;
	}
	buf[n] = '\0';
	return n;
}

PROBE_PATH size_t beam_atom_name(ERL_NIF_TERM atom, char buf[TERM_ATOM_NAME])
{
	struct text t = {.buf = buf, .size = TERM_ATOM_NAME};
	char name[TERM_ATOM_NAME + 256];
	int n = enif_get_atom(NULL, atom, name, sizeof(name), ERL_NIF_LATIN1) - 1;

	if (n < 0) {
		enif_snprintf(name, sizeof(name), "%T", atom);
		return unquote(name, buf);
	}
	for (int i = 0; i < n; i++)
		put_utf8(&t, (unsigned char)name[i]);
	return end(&t);
}

PROBE_PATH bool beam_atom_is(ERL_NIF_TERM atom, const char *name, size_t len)
{
	char has[TERM_ATOM_NAME];
	int n = enif_get_atom(NULL, atom, has, 256, ERL_NIF_LATIN1) - 1;
	size_t at = 0;

	if (n < 0)
		return beam_atom_name(atom, has) == len && memcmp(has, name, len) == 0;
	for (int i = 0; i < n; i++) {
		char utf8[4];
		size_t bytes = utf8_encode((unsigned char)has[i], utf8);

		if (bytes > len - at || memcmp(name + at, utf8, bytes) != 0)
			return false;
		at += bytes;
	}
	return at == len;
}

PROBE_PATH size_t beam_function_text(
	ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	put_atom(&t, mod);
	put(&t, ':');
	put_atom(&t, fun);
	put(&t, '/');
	for (unsigned of = arity >= 100 ? 100 : arity >= 10 ? 10 : 1; of > 0; of /= 10)
		put(&t, (unsigned char)('0' + arity / of % 10));
	return end(&t);
}
