/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of others on its way to a terminal: a node's output, errors and probes, names from epmd.
 * Inside a node erltrace's own library escapes what it traces, but a node need not run that
 * library: nothing it sends is trusted here. What could move the cursor, set a title or make the
 * terminal answer becomes \xNN.
 *
 * A script may draw: printf("\033[H\033[J"). The output of such a script keeps colours, cursor
 * movements and erasing, and nothing else: no sequence that a terminal answers, stores or runs.
 *
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "utf8.h"

/* "ESC [ numbers letter" that only draws: its length, or 0. */
static size_t drawing(const char *p, size_t len)
{
	static const char letters[] = "ABCDEFGHJKLMPXdfmsu@";
	size_t n = 2, most = len < 32 ? len : 32;

	if (len < 3 || p[0] != '\033' || p[1] != '[')
		return 0;
	if (len >= 6 && (strncmp(p + 2, "?25h", 4) == 0 || strncmp(p + 2, "?25l", 4) == 0))
		return 6; /* the cursor is hidden */
	while (n < most && ((p[n] >= '0' && p[n] <= '9') || p[n] == ';'))
		n++;
	return n < most && p[n] != '\0' && strchr(letters, p[n]) != NULL ? n + 1 : 0;
}

static size_t passes(const char *p, size_t len, bool draws)
{
	size_t n = p[0] == '\n' ? 1 : utf8_len((const unsigned char *)p, len);

	if (n > 0 || !draws)
		return n;
	return p[0] >= '\a' && p[0] <= '\r' ? 1 : drawing(p, len);
}

char *escape_text(const char *text, size_t *len, bool draws)
{
	char *plain = malloc(4 * *len + 1), *to = plain;

	for (size_t i = 0, n; plain != NULL && i < *len; i += n) {
		n = passes(text + i, *len - i, draws);
		if (n > 0) {
			memcpy(to, text + i, n);
			to += n;
		} else {
			to += sprintf(to, "\\x%02x", (unsigned char)text[i]);
			n = 1;
		}
	}
	if (plain == NULL)
		return NULL;
	*to = '\0';
	*len = (size_t)(to - plain);
	return plain;
}

bool escape_draws(const char *script)
{
	for (const char *p = script; *p != '\0'; p++) {
		if (*p == '\033' || (*p == '\\' && p[1] != '\0' && strchr("01234567xabefrv", p[1])))
			return true;
		if (*p == '\\' && p[1] != '\0')
			p++;
	}
	return false;
}
