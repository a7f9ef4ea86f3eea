/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels: an integer in decimal, a string as it is, a stack as its frames with semicolons between.
 * What is longer than LABEL_MAX is cut: keys that are the same up to there are added up.
 */
#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include "utf8.h"

/* One byte that is no UTF-8 and Prometheus takes nothing of the whole page. */
static void escaped(FILE *f, const char *text, size_t len, bool quotes)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_valid((const unsigned char *)text + i, len - i);
		if (n == 0 || text[i] == '\0') { /* which ends a line in C */
			fputs(UTF8_NONE_BYTES, f);
			n = 1;
			continue;
		}
		if (text[i] == '\n') {
			fputs("\\n", f);
			continue;
		}
		if (text[i] == '\\' || (quotes && text[i] == '"'))
			fputc('\\', f);
		fwrite(text + i, 1, n, f);
	}
}

void label_value(FILE *f, const char *text, size_t len)
{
	escaped(f, text, len, true);
}

void help_value(FILE *f, const char *text, bool openmetrics)
{
	escaped(f, text, strlen(text), openmetrics);
}

void put_float(FILE *f, double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17g", v);
	fputs(text, f);
}

static void put_text(FILE *f, const char *text, size_t len)
{
	size_t kept = len <= LABEL_MAX ? len : utf8_start(text, LABEL_MAX);

	label_value(f, text, kept);
	if (kept < len)
		fputs("...", f);
}

static void stack(FILE *f, const json_t *frames)
{
	const json_t *frame;
	size_t i, left = LABEL_MAX;

	json_array_foreach(frames, i, frame)
	{
		size_t len = json_string_length(frame);

		if (len >= left) {
			fputs(";...", f);
			return;
		}
		left -= len + 1;
		if (i > 0)
			fputc(';', f);
		label_value(f, json_string_value(frame), len);
	}
}

static void key(FILE *f, const json_t *v)
{
	if (json_is_integer(v))
		fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		put_float(f, json_real_value(v));
	else if (json_is_string(v))
		put_text(f, json_string_value(v), json_string_length(v));
	else
		stack(f, v);
}

static void name(FILE *f, const json_t *names, size_t i)
{
	const char *text = json_string_value(json_array_get(names, i));

	if (text != NULL)
		fputs(text, f);
	else
		fprintf(f, "key%zu", i);
}

char *labels_of(const char *node, const json_t *names, const json_t *keys, bool other)
{
	char *text = NULL;
	size_t len, i;
	const json_t *v;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	if (node[0] != '\0') {
		fputs("node=\"", f);
		label_value(f, node, strlen(node));
		fputs("\"", f);
	}
	json_array_foreach(keys, i, v)
	{
		fputs(i > 0 || node[0] != '\0' ? "," : "", f);
		name(f, names, i);
		fputs("=\"", f);
		if (other)
			fputs("other", f);
		else
			key(f, v);
		fputs("\"", f);
	}
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
