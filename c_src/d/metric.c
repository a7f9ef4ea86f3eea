/* SPDX-License-Identifier: Apache-2.0 */
/*
 * #pragma D metric @calls name=store_calls help="Calls of the store." unit=ns labels=function,table
 *
 * What an aggregation is called as a metric (erltrace serve). The pragma is read where it stands;
 * the aggregation may come later, so that names are looked up at the end of the script.
 *
 */
#include "lex.h"

#include <string.h>

#define MAX_LABELS PROG_MAX_KEYS
#define FORM	   "pragma D metric @name and name=, help=, unit= or labels="

struct d_metric {
	const char *aggregation;
	struct prog_metric is;
	int line;
	struct d_metric *next;
};

static int malformed(struct d_comp *c, int line, const char *why, const char *what)
{
	return d_error(c, D_PRAGMA_MALFORM, line, 0, "#pragma D metric: %s%s", why, what);
}

static bool is_space(char ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

/* Names of metrics and labels, as Prometheus has them; colons are for its own rules. */
static bool is_name(const char *s)
{
	if (*s >= '0' && *s <= '9')
		return false;
	for (const char *p = s; *p != '\0'; p++)
		if (*p != '_' && (*p < 'a' || *p > 'z') && (*p < 'A' || *p > 'Z') &&
			(*p < '0' || *p > '9'))
			return false;
	return *s != '\0';
}

/* ---- one pragma ------------------------------------------------------------------------ */

/* Labels that Prometheus or the server sets. */
static bool is_reserved(const char *label)
{
	static const char *const reserved[] = {"node", "le", "quantile", "job", "instance"};

	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (strcmp(label, reserved[i]) == 0)
			return true;
	return strncmp(label, "__", 2) == 0;
}

static int one_label(struct d_comp *c, struct prog_metric *m, const char *label, int line)
{
	if (label == NULL)
		return d_nomem(c);
	if (is_reserved(label))
		return malformed(c, line, "a label that others set: ", label);
	if (!is_name(label))
		return malformed(c, line, "not a name for a label: ", label);
	for (unsigned i = 0; i < m->nlabels; i++)
		if (strcmp(m->labels[i], label) == 0)
			return malformed(c, line, "the same label twice: ", label);
	if (m->nlabels == MAX_LABELS)
		return malformed(c, line, "too many labels", "");
	m->labels[m->nlabels++] = label;
	return 0;
}

static int labels(struct d_comp *c, struct prog_metric *m, const char *list, int line)
{
	m->labels = arena_alloc(c->arena, MAX_LABELS * sizeof(*m->labels));
	if (m->labels == NULL)
		return d_nomem(c);
	for (const char *comma;; list = comma + 1) {
		size_t len = strcspn(list, ",");

		comma = list + len;
		if (one_label(c, m, arena_strdup(c->arena, list, len), line) != 0)
			return -1;
		if (*comma == '\0')
			return 0;
	}
}

static int set(
	struct d_comp *c, struct prog_metric *m, const char *member, const char *value, int line)
{
	const char **to = strcmp(member, "name") == 0	? &m->name
			  : strcmp(member, "help") == 0 ? &m->help
			  : strcmp(member, "unit") == 0 ? &m->unit
							: NULL;

	if (strcmp(member, "labels") == 0)
		return m->nlabels == 0 ? labels(c, m, value, line)
				       : malformed(c, line, "labels= twice", "");
	if (to == NULL)
		return malformed(
			c, line, "there are name=, help=, unit= and labels=, not ", member);
	if (*to != NULL)
		return malformed(c, line, "twice: ", member);
	if (to != &m->help && !is_name(value))
		return malformed(c, line, "only letters, digits and _ make a name, not ", value);
	*to = value;
	return 0;
}

/* MEMBER=VALUE, where a value with spaces is in quotes. Where it ends; NULL: an error. */
static const char *member(struct d_comp *c, struct prog_metric *m, const char *p, int line)
{
	size_t len = strcspn(p, "=\" \t"), quoted = p[len] == '=' && p[len + 1] == '"';
	const char *name = arena_strdup(c->arena, p, len), *value, *end;

	if (p[len] != '=') {
		malformed(c, line, "expected #" FORM, "");
		return NULL;
	}
	p += len + 1 + quoted;
	end = p + (quoted ? strcspn(p, "\"") : strcspn(p, " \t"));
	if (quoted && *end == '\0') {
		malformed(c, line, "a quote is missing after ", name != NULL ? name : "");
		return NULL;
	}
	value = arena_strdup(c->arena, p, (size_t)(end - p));
	if (name == NULL || value == NULL) {
		d_nomem(c);
		return NULL;
	}
	return set(c, m, name, value, line) == 0 ? end + quoted : NULL;
}

int d_metric_pragma(struct d_comp *c, const char *text, int line)
{
	struct d_metric *m = arena_new_of(c->arena, struct d_metric);
	const char *p = strstr(text, "metric") + strlen("metric");
	size_t len;

	while (is_space(*p))
		p++;
	len = strcspn(p, " \t");
	if (m == NULL)
		return d_nomem(c);
	m->line = line;
	m->aggregation = len == 1 ? "_" : arena_strdup(c->arena, p + 1, len > 0 ? len - 1 : 0);
	if (*p != '@' || m->aggregation == NULL || !is_name(m->aggregation))
		return malformed(c, line, "expected #" FORM, "");
	for (p += len; is_space(*p); p++)
		;
	do {
		p = member(c, &m->is, p, line);
		while (p != NULL && is_space(*p))
			p++;
	} while (p != NULL && *p != '\0');
	m->next = c->lex->metrics;
	c->lex->metrics = m;
	return p != NULL ? 0 : -1;
}

/* ---- at the end of the script ---------------------------------------------------------- */

static struct prog_agg *find(const struct d_comp *c, const char *name)
{
	for (unsigned i = 0; i < c->prog.naggs; i++)
		if (strcmp(c->prog.aggs[i]->name, name) == 0)
			return c->prog.aggs[i];
	return NULL;
}

static int check(struct d_comp *c, const struct d_metric *m)
{
	const struct prog_agg *a = find(c, m->aggregation);
	const char *name = strcmp(m->aggregation, "_") != 0 ? m->aggregation : "";

	if (a == NULL)
		return d_error(c, D_PRAGMA_UNUSED, m->line, 0,
			"#pragma D metric names @%s, which the script does not have", name);
	if (m->is.labels != NULL && m->is.nlabels != a->nkeys)
		return d_error(c, D_PRAGMA_MALFORM, m->line, 0,
			"#pragma D metric: @%s has %u key%s, not %u", name, a->nkeys,
			a->nkeys == 1 ? "" : "s", m->is.nlabels);
	if (m->is.unit != NULL && a->fn == AGG_COUNT)
		return d_error(c, D_PRAGMA_MALFORM, m->line, 0,
			"#pragma D metric: count() has no unit");
	for (const struct d_metric *o = m->next; o != NULL; o = o->next)
		if (strcmp(o->aggregation, m->aggregation) == 0)
			return d_error(c, D_PRAGMA_MALFORM, m->line, 0,
				"#pragma D metric: a second one for @%s, after line %d", name,
				o->line);
	return 0;
}

int d_metrics(struct d_comp *c)
{
	for (const struct d_metric *m = c->lex->metrics; m != NULL; m = m->next)
		if (check(c, m) != 0)
			return -1;
	for (const struct d_metric *m = c->lex->metrics; m != NULL; m = m->next)
		find(c, m->aggregation)->metric = &m->is;
	return 0;
}
