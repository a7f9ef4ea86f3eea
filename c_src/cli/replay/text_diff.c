/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of two texts, compared. What both begin and end with is left out; of the rest the
 * longest common subsequence is found, if that is small enough, or everything differs.
 */
#include "text_diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

enum { AROUND = 3, MOST = 2000 /* lines of each, to be compared */ };

struct lines {
	const char **at; /* one more, where the text ends */
	size_t n;
};

static bool split(const char *text, struct lines *l)
{
	const char *end = text + strlen(text);

	*l = (struct lines){0};
	for (;;) {
		if (!ARRAY_ROOM(l->at, l->n))
			return false;
		l->at[l->n] = text;
		if (text == end)
			return true;
		l->n++;
		text = memchr(text, '\n', (size_t)(end - text));
		text = text != NULL ? text + 1 : end;
	}
}

static size_t length(const struct lines *l, size_t i)
{
	return (size_t)(l->at[i + 1] - l->at[i]);
}

static bool same(const struct lines *a, size_t i, const struct lines *b, size_t k)
{
	return length(a, i) == length(b, k) && memcmp(a->at[i], b->at[k], length(a, i)) == 0;
}

static void put(FILE *f, char mark, const struct lines *l, size_t i)
{
	size_t n = length(l, i);

	fprintf(f, "%c%.*s", mark, (int)n, l->at[i]);
	if (l->at[i][n - 1] != '\n')
		fprintf(f, "\n\\ no newline at the end\n");
}

/* How many lines are common from i and k on. */
static uint16_t *common(
	const struct lines *a, const struct lines *b, size_t from, size_t na, size_t nb)
{
	uint16_t *t = na <= MOST && nb <= MOST ? calloc((na + 1) * (nb + 1), sizeof(*t)) : NULL;

	if (t == NULL)
		return NULL;
	for (size_t i = na; i-- > 0;)
		for (size_t k = nb; k-- > 0;) {
			uint16_t down = t[(i + 1) * (nb + 1) + k], right = t[i * (nb + 1) + k + 1];

			t[i * (nb + 1) + k] =
				same(a, from + i, b, from + k)
					? (uint16_t)(t[(i + 1) * (nb + 1) + k + 1] + 1)
				: down > right ? down
					       : right;
		}
	return t;
}

void text_diff(FILE *f, const char *texta, const char *textb)
{
	struct lines a, b;
	size_t from = 0, na, nb, i = 0, k = 0;
	uint16_t *t;

	if (!split(texta, &a) || !split(textb, &b)) {
		free(a.at);
		return;
	}
	while (from < a.n && from < b.n && same(&a, from, &b, from))
		from++;
	na = a.n - from;
	nb = b.n - from;
	while (na > 0 && nb > 0 && same(&a, from + na - 1, &b, from + nb - 1))
		na--, nb--;
	t = common(&a, &b, from, na, nb);
	for (size_t n = from > AROUND ? from - AROUND : 0; n < from; n++)
		put(f, ' ', &a, n);
	while (i < na || k < nb) {
		if (t != NULL && i < na && k < nb && same(&a, from + i, &b, from + k))
			put(f, ' ', &a, from + i++), k++;
		else if (i < na && (t == NULL || k == nb ||
					   t[(i + 1) * (nb + 1) + k] >= t[i * (nb + 1) + k + 1]))
			put(f, '-', &a, from + i++);
		else
			put(f, '+', &b, from + k++);
	}
	for (size_t n = from + na; n < a.n && n < from + na + AROUND; n++)
		put(f, ' ', &a, n);
	free(t);
	free(a.at);
	free(b.at);
}
