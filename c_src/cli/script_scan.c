/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripts are read once, and the library says what they hold (erltrace_scan()): by that they
 * are sent to where they run, and by that it is known what a node may ask for in their name.
 */
#include "cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"

enum {
	MAX_TEXT = 16 << 20,	 /* of a script: the limit of the compiler too */
	MAX_COMMAND = 128 << 10, /* of one argument of a program, by the kernel */
};

/* ---- reading ---------------------------------------------------------------------------- */

static void read_script(struct cli *c, struct cli_script *s)
{
	const char *path = strcmp(s->arg, "-") == 0 ? "/dev/stdin" : s->arg;

	if (s->flag != 's')
		return;
	s->preprocessed = c->preprocess || cli_option_on(c, "cpp");
	if (s->preprocessed) {
		s->text = erltrace_preprocess(c->h, path, &s->err);
		s->len = s->text != NULL ? strlen(s->text) : 0;
	} else {
		s->text = file_read_script(path, MAX_TEXT, &s->len, &s->err);
	}
}

/* ---- scanning --------------------------------------------------------------------------- */

struct scanning {
	struct cli *c;
	struct cli_script *s;
};

static void on_probe(struct scanning *at, const erltrace_scan_item_t *item)
{
	struct cli_script *s = at->s;
	char *text = strdup(item->text);

	if (s->ndescs == 0)
		s->body = item->behind;
	if (text != NULL && ARRAY_ROOM(s->descs, (size_t)s->ndescs))
		s->descs[s->ndescs++] = (struct cli_desc){text, item->end};
	else
		free(text);
	cli_scan_probe(at->c, item);
}

/* A format that is not known lets nothing pass. */
static void keep_format(char ***v, int *n, const char *format)
{
	char *text = format != NULL ? strdup(format) : NULL;

	if (text != NULL && ARRAY_ROOM(*v, (size_t)*n))
		(*v)[(*n)++] = text;
	else
		free(text);
}

static bool is_stack(const char *name)
{
	return strcmp(name, "stack") == 0 || strcmp(name, "ustack") == 0 ||
	       strcmp(name, "jstack") == 0 || strcmp(name, "ucaller") == 0;
}

static void on_call(struct cli_holds *h, const erltrace_scan_item_t *item)
{
	h->exits |= strcmp(item->name, "exit") == 0;
	h->truncates |= strcmp(item->name, "ftruncate") == 0;
	h->stacks |= is_stack(item->name);
	if (strcmp(item->name, "system") == 0)
		keep_format(&h->commands, &h->ncommands, item->text);
	else if (strcmp(item->name, "freopen") == 0)
		keep_format(&h->paths, &h->npaths, item->text);
}

static void on_option(struct cli *c, const erltrace_scan_item_t *item)
{
	bool on = strcmp(item->text, "on") == 0;

	if (strcmp(item->name, "quiet") == 0)
		c->quiet = on;
	else if (strcmp(item->name, "destructive") == 0)
		c->holds.destructive = on;
	else if (strcmp(item->name, "harmless") == 0 && on)
		c->holds.destructive = false;
}

/* Built-ins that are of an Erlang process. */
static bool is_of_erlang(const char *name)
{
	static const char *const names[] = {"erlpid", "erlname", "erlnode", "erlsched"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void on_item(void *arg, const erltrace_scan_item_t *item)
{
	struct scanning *at = arg;

	switch (item->kind) {
	case ERLTRACE_SCAN_PROBE: on_probe(at, item); break;
	case ERLTRACE_SCAN_VARIABLE:
		at->c->holds.asks |= is_of_erlang(item->name);
		at->c->holds.stacks |= is_stack(item->name);
		break;
	case ERLTRACE_SCAN_FUNCTION: on_call(&at->c->holds, item); break;
	case ERLTRACE_SCAN_AGGREGATION: at->c->holds.aggregates = true; break;
	case ERLTRACE_SCAN_OPTION: on_option(at->c, item); break;
	}
}

void cli_scan(struct cli *c)
{
	c->holds.destructive = cli_option_on(c, "destructive");
	for (int i = 0; i < c->nscripts; i++) {
		struct cli_script *s = &c->scripts[i];
		erltrace_compile_opts_t opts;

		read_script(c, s);
		if (s->flag == 's' && s->text == NULL)
			continue;
		cli_script_opts(c, s, &opts);
		s->body = s->flag == 's' ? s->len : strlen(s->arg);
		erltrace_scan(c->h, s->flag == 's' ? s->text : s->arg, s->body, &opts, on_item,
			&(struct scanning){c, s}, &s->err);
	}
}

void cli_scan_free(struct cli *c)
{
	for (int i = 0; i < c->nscripts; i++) {
		struct cli_script *s = &c->scripts[i];

		for (int k = 0; k < s->ndescs; k++)
			free(s->descs[k].text);
		free(s->descs);
		free(s->text);
	}
	for (int i = 0; i < c->holds.ncommands; i++)
		free(c->holds.commands[i]);
	for (int i = 0; i < c->holds.npaths; i++)
		free(c->holds.paths[i]);
	free(c->holds.commands);
	free(c->holds.paths);
}

/* ---- what is sent ----------------------------------------------------------------------- */

char *cli_script_whole(const struct cli_script *s)
{
	const char *at = s->flag == 's' ? s->text : s->arg, *start = at;
	int colons = cli_script_colons(s);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	for (int i = 0; colons > 0 && i < s->ndescs; i++) {
		fwrite(at, 1, (size_t)(start + s->descs[i].end - at), f);
		fprintf(f, "%.*s", colons, ":::");
		at = start + s->descs[i].end;
	}
	fputs(at, f);
	fclose(f);
	return text;
}

/* ---- what a format may become ----------------------------------------------------------- */

/* What a conversion of a format can make. */
struct conversion {
	bool number; /* else anything */
	bool hex, none;	     /* digits; with a precision perhaps no digit at all */
	bool before, behind; /* spaces to fill a width, or for a sign */
};

/* Past the conversion at the percent sign p. */
static const char *past_conversion(const char *p, struct conversion *c)
{
	size_t n = strspn(p + 1, "-+ 0#'@*.?123456789hlLw");
	bool wide = false, left = false, blank = false;

	*c = (struct conversion){.number = false};
	for (const char *f = p + 1; f <= p + n; f++) {
		wide |= *f == '*' || (*f >= '1' && *f <= '9');
		left |= *f == '-' || *f == '*'; /* a width that is negative */
		blank |= *f == ' ';
		c->none |= *f == '.';
	}
	p += 1 + n;
	c->number = *p != '\0' && strchr("dioxXu", *p) != NULL;
	c->hex = *p == 'x' || *p == 'X';
	c->before = wide || blank;
	c->behind = wide && left;
	return *p != '\0' ? p + 1 : p;
}

static bool is_digit(const struct conversion *c, char ch)
{
	return c->hex ? isxdigit((unsigned char)ch) != 0 : isdigit((unsigned char)ch) != 0;
}

/* How far a number is: before it, behind its sign, behind the x of 0x, in its digits, behind them. */
enum { N_BEFORE = 1, N_SIGN = 2, N_PREFIX = 4, N_DIGITS = 8, N_BEHIND = 16 };

static unsigned number_goes_on(const struct conversion *c, unsigned at, const char *p, const char *end)
{
	bool digit_next = p + 1 < end && is_digit(c, p[1]);

	if (*p == ' ')
		return (at & N_BEFORE && c->before ? N_BEFORE : 0) |
		       (at & (N_DIGITS | N_BEHIND) && c->behind ? N_BEHIND : 0);
	if (*p == '-' || *p == '+')
		return at & N_BEFORE ? N_SIGN : 0;
	if ((*p == 'x' || *p == 'X') && c->hex)
		return at & N_DIGITS ? N_PREFIX : 0;
	if (*p == ',' || *p == '\'') /* between thousands */
		return at & N_DIGITS && digit_next ? N_DIGITS : 0;
	return is_digit(c, *p) && at & (N_BEFORE | N_SIGN | N_PREFIX | N_DIGITS) ? N_DIGITS : 0;
}

/* at[i]: the first i bytes can have been made so far; with the number too. */
static void add_number(const struct conversion *c, const char *text, size_t len, bool *at)
{
	unsigned now = 0;

	for (size_t i = 0; i <= len; i++) {
		bool ends = (now & (N_DIGITS | N_BEHIND)) != 0;

		now |= at[i] ? N_BEFORE : 0;
		at[i] = ends || (c->none && (now & N_BEFORE) != 0);
		if (i < len)
			now = number_goes_on(c, now, text + i, text + len);
	}
}

/*
 * Does the text come of the format? What a conversion makes may be anything, but a number is a
 * number, one word of it. at[i]: the format so far can have made the first i bytes.
 */
static bool could_print(const char *format, const char *text, size_t len, bool *at)
{
	memset(at, 0, len + 1);
	at[0] = true;
	while (*format != '\0') {
		struct conversion c;

		if (*format == '%' && format[1] != '%') {
			format = past_conversion(format, &c);
			if (c.number)
				add_number(&c, text, len, at);
			for (size_t i = 0; i < len && !c.number; i++)
				at[i + 1] |= at[i];
			continue;
		}
		for (size_t i = len; i > 0; i--)
			at[i] = at[i - 1] && text[i - 1] == *format;
		at[0] = false;
		format += *format == '%' ? 2 : 1;
	}
	return at[len];
}

bool cli_could_print(char *const *formats, int n, const char *text, size_t len)
{
	bool *at = len <= MAX_COMMAND ? malloc(len + 1) : NULL, found = false;

	for (int i = 0; at != NULL && i < n && !found; i++)
		found = could_print(formats[i], text, len, at);
	free(at);
	return found;
}
