/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: an integer in decimal, a string as it is, a stack as its frames with semicolons between.
 */
#include "labels.h"

#include <stdlib.h>
#include <string.h>

static void escaped(FILE *f, const char *text, size_t len, bool quotes)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n') {
			fputs("\\n", f);
			continue;
		}
		if (text[i] == '\0') { /* ends a line in C, so it is not kept */
			fputs("\xef\xbf\xbd", f);
			continue;
		}
		if (text[i] == '\\' || (quotes && text[i] == '"'))
			fputc('\\', f);
		fputc(text[i], f);
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

static void key(FILE *f, const json_t *v)
{
	const json_t *frame;
	size_t i;

	if (json_is_integer(v))
		fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		put_float(f, json_real_value(v));
	else if (json_is_string(v))
		label_value(f, json_string_value(v), json_string_length(v));
	json_array_foreach(v, i, frame)
	{
		if (i > 0)
			fputc(';', f);
		label_value(f, json_string_value(frame), json_string_length(frame));
	}
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
