/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: the table, and conversion between text and values. Values come from -x and the
 * environment (DTRACE_OPT_BUFSIZE=8m) through et_setopt(), from #pragma D option and setopt()
 * through et_setopt_script().
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "array.h"
#include "period.h"

const struct et_optdef et_optdefs[OPT_MAX] = {
#define OPT(name, ID, kind, phase, def, min, max, help)                                            \
	{name, OK_##kind, PH_##phase, def, min, max, help, false},
#define OPT_USER(name, ID, kind, phase, def, min, max, help)                                       \
	{name, OK_##kind, PH_##phase, def, min, max, help, true},
#include "options.def"
};

extern char **environ;

#define D_VERSION_MAJOR 2 /* of the D language: as __SUNW_D_VERSION in d/cpp.c */

/* ---- units ---------------------------------------------------------------------------- */

/* OK_WORD: the value is the index of the word. */
static const struct word_option {
	int opt;
	const char *form, *word[4];
} word_options[] = {
	{OPT_BUFPOLICY, "switch, ring or fill", {"switch", "ring", "fill"}},
	{OPT_CALLS, "auto, fast or traced", {"auto", "fast", "traced"}},
	{OPT_SNAPSHOTFORM, "text, json, timeline or all", {"text", "json", "timeline", "all"}},
};

static const struct word_option *words_of(const struct et_optdef *d)
{
	const struct word_option *w = word_options;

	while (d != &et_optdefs[w->opt])
		w++;
	return w;
}

/* A number (or 0x...) at the start of s; *end is after it. -1: none, or too large. */
static int number(const char *s, uint64_t *v, const char **end)
{
	unsigned base = 10;
	const char *p = s;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		p += 2;
	}
	s = p;
	for (*v = 0;; p++) {
		unsigned d = 99;

		if (*p >= '0' && *p <= '9')
			d = (unsigned)(*p - '0');
		else if (base == 16 && ((*p | 32) >= 'a' && (*p | 32) <= 'f'))
			d = (unsigned)((*p | 32) - 'a' + 10);
		if (d >= base)
			break;
		if (__builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, d, v))
			return -1;
	}
	*end = p;
	return p == s ? -1 : 0;
}

static int parse_size(const char *s, uint64_t *v)
{
	static const char suffix[] = "kmgt";
	const char *end, *f;

	if (number(s, v, &end) != 0)
		return -1;
	if (*end == '\0')
		return 0;
	f = strchr(suffix, *end | 32);
	if (f == NULL || end[1] != '\0')
		return -1;
	return __builtin_mul_overflow(*v, 1ULL << (10 * (f - suffix + 1)), v) ? -1 : 0;
}

/* A number without a unit is a rate per second, as with hz. */
static int parse_rate(const char *s, uint64_t *v)
{
	const char *end;

	if (number(s, v, &end) != 0)
		return -1;
	if (*end == '\0' || strcasecmp(end, "hz") == 0) {
		if (*v > 1000000000ULL)
			return -1;
		*v = *v > 0 ? 1000000000ULL / *v : 0;
		return 0;
	}
	for (const struct et_unit *u = et_units; u->name != NULL; u++)
		if (strcasecmp(end, u->name) == 0)
			return __builtin_mul_overflow(*v, u->ns, v) ? -1 : 0;
	return -1;
}

static int parse_bool(const char *s, uint64_t *v)
{
	static const char *const words[][2] = {{"0", "1"}, {"off", "on"}, {"no", "yes"},
		{"false", "true"}, {"disable", "enable"}, {"disabled", "enabled"},
		{"unset", "set"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (*v = 0; *v < 2; ++*v)
			if (strcasecmp(s, words[i][*v]) == 0)
				return 0;
	return -1;
}

static void show_size(uint64_t v, char *buf, size_t size)
{
	static const char suffix[] = {'\0', 'k', 'm', 'g', 't'};
	unsigned i = 0;

	for (; i < 4 && v > 0 && v % 1024 == 0; i++)
		v /= 1024;
	snprintf(buf, size, "%llu%.1s", (unsigned long long)v, i > 0 ? &suffix[i] : "");
}

static void show_rate(uint64_t v, char *buf, size_t size)
{
	size_t i = 0;

	while (et_units[i].ns > 1 && (v == 0 || v % et_units[i].ns != 0))
		i++;
	if (v == 0)
		snprintf(buf, size, "0");
	else
		snprintf(buf, size, "%llu%s", (unsigned long long)(v / et_units[i].ns),
			et_units[i].name);
}

static void show(const struct et_optdef *d, uint64_t v, char *buf, size_t size)
{
	switch (d->kind) {
	case OK_SIZE: show_size(v, buf, size); break;
	case OK_RATE: show_rate(v, buf, size); break;
	case OK_BOOL: snprintf(buf, size, "%s", v ? "on" : "off"); break;
	case OK_WORD: snprintf(buf, size, "%s", v <= d->max ? words_of(d)->word[v] : "?"); break;
	default: snprintf(buf, size, "%llu", (unsigned long long)v);
	}
}

/* ---- names ---------------------------------------------------------------------------- */

/* Edit distance of two names; they are short. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[33], prev, cur;
	size_t n = strlen(b);

	if (n > 32 || strlen(a) > 32)
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		prev = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			cur = row[j];
			row[j] = prev + (a[i - 1] != b[j - 1]);
			if (row[j] > cur + 1)
				row[j] = cur + 1;
			if (row[j] > row[j - 1] + 1)
				row[j] = row[j - 1] + 1;
			prev = cur;
		}
	}
	return row[n];
}

static int unknown(const char *name, struct et_error *e)
{
	const char *best = NULL;
	unsigned least = 4;

	for (int i = 0; i < OPT_MAX; i++) {
		unsigned d = distance(name, et_optdefs[i].name);

		/* "buf" is likely a prefix of a name, not a misspelling of another. */
		if (strlen(name) > 2 && strncmp(et_optdefs[i].name, name, strlen(name)) == 0)
			d = 1;
		if (d < least && d < strlen(name)) {
			least = d;
			best = et_optdefs[i].name;
		}
	}
	if (best != NULL)
		return et_err(e, ET_OPTION, "there is no option '%.64s': did you mean '%s'?",
			name, best);
	return et_err(e, ET_OPTION, "there is no option '%.64s': --help lists them", name);
}

static int lookup(const char *name)
{
	for (int i = 0; i < OPT_MAX; i++)
		if (strcmp(et_optdefs[i].name, name) == 0)
			return i;
	return -1;
}

/* ---- setting -------------------------------------------------------------------------- */

static int bad_value(const struct et_optdef *d, const char *value, struct et_error *e)
{
	static const char *const form[] = {
		[OK_BOOL] = "on or off",
		[OK_INT] = "a number",
		[OK_SIZE] = "a size such as 512, 64k or 4m",
		[OK_RATE] = "a rate such as 10hz or a time such as 100ms",
		[OK_STR] = "a text",
	};
	const char *takes = d->kind == OK_WORD ? words_of(d)->form : form[d->kind];

	if (value == NULL)
		return et_err(e, ET_OPTION, "option %s needs a value: %s", d->name, takes);
	return et_err(e, ET_OPTION, "option %s: '%.64s' is not valid: it takes %s", d->name,
		value, takes);
}

/* String options with a fixed set of values. */
static const char *choices(int i)
{
	switch (i) {
	case OPT_BUFRESIZE: return "auto manual";
	case OPT_ENCODING: return "ascii utf8";
	case OPT_EVALTIME: return "exec main preinit postinit";
	case OPT_STDC: return "a c s t";
	default: return NULL;
	}
}

static bool is_choice(const char *list, const char *value)
{
	size_t n = strlen(value);

	for (const char *p = list; n > 0 && (p = strstr(p, value)) != NULL; p++)
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
			return true;
	return false;
}

/* "1", "1.2" or "1.2.3": a version of the language, at most the current one. */
static int check_version(const char *value, struct et_error *e)
{
	unsigned v[3] = {0};
	int end = 0;

	if (strspn(value, "0123456789.") != strlen(value) ||
		sscanf(value, "%4u%n.%4u%n.%4u%n", &v[0], &end, &v[1], &end, &v[2], &end) < 1 ||
		value[end] != '\0')
		return et_err(e, ET_OPTION,
			"option version: '%.64s' is not a version: it takes one such as "
			"1.2.3", value);
	if (v[0] > D_VERSION_MAJOR || (v[0] == D_VERSION_MAJOR && (v[1] > 0 || v[2] > 0)))
		return et_err(e, ET_OPTION,
			"option version: D %.64s is not known here: %d.0 is the latest", value,
			D_VERSION_MAJOR);
	return 0;
}

static int set_text(struct et_options *o, int i, const char *value, struct et_error *e)
{
	const char *list = choices(i);
	uint64_t n = o->val[i];

	if (i == OPT_VERSION && check_version(value, e) != 0)
		return -1;
	if (list != NULL && !is_choice(list, value))
		return et_err(e, ET_OPTION, "option %s: '%.64s' is not one of: %s",
			et_optdefs[i].name, value, list);
	if (!ARRAY_ROOM(o->str[i], n) || (o->str[i][n] = strdup(value)) == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	o->val[i] = n + 1;
	o->set[i] = true;
	return 0;
}

static int parse_value(const struct et_optdef *d, const char *value, uint64_t *v)
{
	const char *end;

	switch (d->kind) {
	case OK_BOOL: return parse_bool(value, v);
	case OK_INT: return number(value, v, &end) != 0 || *end != '\0' ? -1 : 0;
	case OK_SIZE: return parse_size(value, v);
	case OK_RATE: return parse_rate(value, v);
	default:
		for (*v = 0; *v <= d->max; ++*v)
			if (strcmp(value, words_of(d)->word[*v]) == 0)
				return 0;
		return -1;
	}
}

/*
 * After harmless: may an untrusted script set this? Not if it names files or programs, disables a
 * safeguard, or is a large size.
 */
static bool is_harmless(const struct et_optdef *d, int i, uint64_t v)
{
	switch (i) {
	case OPT_HARMLESS: return v != 0;
	case OPT_KERNEL: return v == 0;
	case OPT_CALLS: return v != CALLS_FAST;
	case OPT_DESTRUCTIVE:
	case OPT_CPP:
	case OPT_DEBUG: return v == 0;
	case OPT_WATCHDOG: return v != 0 && v <= d->def;
	case OPT_MAXRATE:
	case OPT_MAXWORK:
	case OPT_STATEBUDGET:
	case OPT_SILENCE: return v != 0 && v <= d->def;
	case OPT_NSPEC: return v <= 1024; /* a few words each: specsize has the bytes, however many */
	case OPT_WATCHTIME:
	case OPT_MAXTHREADS: return v <= (d->def < 16 ? 16 : d->def);
	case OPT_SNAPSHOTMAX: return v <= d->def;
	case OPT_SNAPSHOTRATE:
	case OPT_CLEANRATE:
	case OPT_STATUSRATE: return v >= d->def / 10;
	default: return d->kind != OK_SIZE || v <= (d->def < 16 << 20 ? 16 << 20 : d->def);
	}
}

static int harmful(const char *name, struct et_error *e)
{
	return et_err(e, ET_OPTION, "option %s cannot be set to this here: only harmless scripts "
					"are permitted", name);
}

static int users_own(const struct et_optdef *d, struct et_error *e)
{
	return et_err(e, ET_OPTION,
		"option %s can be set by the user, not by a script: give -x %s%s, or -w to permit "
		"it here",
		d->name, d->name, d->kind == OK_BOOL ? "" : "=...");
}

/*
 * Limits on what a script may take of a node: only the user may loosen them; a script may tighten
 * them. 0 means no limit, except for watchtime, which always has one. calls=traced is such a limit:
 * nothing inside the VM is touched, whatever the script asks for.
 */
static bool loosens(const struct et_options *o, int i, uint64_t v)
{
	switch (i) {
	case OPT_MAXRATE:
	case OPT_MAXWORK:
	case OPT_SILENCE:
	case OPT_STATEBUDGET:
	case OPT_WATCHDOG:
	case OPT_WATCHTIME: return o->val[i] != 0 && (v == 0 || v > o->val[i]);
	case OPT_CALLS: return o->val[i] == CALLS_TRACED && v != CALLS_TRACED;
	case OPT_SNAPSHOTMAX: return o->set[i] && v > o->val[i];
	case OPT_SNAPSHOTRATE: return o->set[i] && v < o->val[i];
	default: return false;
	}
}

/*
 * After harmless: may this text be set? Most name files, programs or nodes. Which processes are traced
 * only narrows what a script sees; once somebody has said it, nobody says otherwise. (The command says
 * to a node what it has read in the script, which the node reads too.)
 */
static bool is_harmless_text(const struct et_options *o, int i, const char *value)
{
	uint64_t n = o->val[i];

	if (i == OPT_PROCESSES)
		return n == 0 || strcmp(o->str[i][n - 1], value) == 0;
	return i == OPT_VERSION || i == OPT_AMIN;
}

/* Nodes and processes: the command sets them itself, whatever scripts may do. */
static bool is_of_command(int i)
{
	return i == OPT_ERLNODE || i == OPT_USDTPROC;
}

/*
 * Buffers: what is too small is made larger here, and what is too large is made smaller at go, if
 * bufresize permits it.
 */
bool et_opt_is_buffer(int i)
{
	return i == OPT_BUFSIZE || i == OPT_AGGSIZE || i == OPT_DYNVARSIZE || i == OPT_SPECSIZE;
}

bool et_opt_is_users(const char *text)
{
	size_t n = strcspn(text, "=");

	for (int i = 0; i < OPT_MAX; i++)
		if (strncmp(et_optdefs[i].name, text, n) == 0 && et_optdefs[i].name[n] == '\0')
			return et_optdefs[i].user || i == OPT_DESTRUCTIVE;
	return false;
}

static int set_number(
	struct et_options *o, int i, const char *value, bool by_script, struct et_error *e)
{
	const struct et_optdef *d = &et_optdefs[i];
	bool unset = strcmp(value, "unset") == 0;
	uint64_t v = d->def;
	char lo[32], hi[32];

	if (!unset && parse_value(d, value, &v) != 0)
		return bad_value(d, value, e);
	if (et_opt_is_buffer(i) && v < d->min && (v > 0 || i != OPT_BUFSIZE))
		v = d->min;
	/* A rate of 0 means none; a default may be outside the range that can be set. */
	if (!unset && (v < d->min || (v > d->max && !et_opt_is_buffer(i)))) {
		show(d, d->min, lo, sizeof(lo));
		show(d, d->max, hi, sizeof(hi));
		return et_err(e, ET_OPTION, "option %s: %.64s is not between %s and %s", d->name,
			value, lo, hi);
	}
	if (by_script && i == OPT_CALLS && (o->val[OPT_HARMLESS] || loosens(o, i, v)))
		return 0; /* the results are the same */
	if (o->val[OPT_HARMLESS] && !is_harmless(d, i, v))
		return harmful(d->name, e);
	if (i == OPT_PAYLOAD && v != 0 && (o->no_payload || (by_script && o->val[i] == 0)))
		return et_err(e, ET_OPTION, "option payload is off here, and stays off%s",
			o->no_payload ? ": the node's setting says so" : "");
	if (by_script && !o->trusts && loosens(o, i, v))
		return users_own(d, e);
	o->val[i] = v;
	o->set[i] = !unset;
	return 0;
}

static int set_option(
	struct et_options *o, int i, const char *value, bool by_script, struct et_error *e)
{
	const struct et_optdef *d = &et_optdefs[i];

	if (o->running && d->phase != PH_RUN)
		return et_err(
			e, ET_OPTION, "option %s cannot change once tracing has begun", d->name);
	if (value == NULL && d->kind == OK_BOOL)
		value = "1";
	if (value == NULL)
		return bad_value(d, NULL, e);
	if (d->kind == OK_STR && o->val[OPT_HARMLESS] && !is_harmless_text(o, i, value) &&
		(by_script || !is_of_command(i)))
		return harmful(d->name, e);
	if (by_script && d->user && !o->trusts)
		return o->val[OPT_HARMLESS] ? harmful(d->name, e) : users_own(d, e);
	return d->kind == OK_STR ? set_text(o, i, value, e)
				 : set_number(o, i, value, by_script, e);
}

int et_setopt_script(struct et_options *o, const char *name, const char *value, struct et_error *e)
{
	int i = lookup(name);

	if (i < 0)
		return unknown(name, e);
	if (set_option(o, i, value, true, e) != 0)
		return -1;
	if (i == OPT_HARMLESS && o->val[OPT_HARMLESS])
		o->val[OPT_DESTRUCTIVE] = o->trusts = false;
	return 0;
}

int et_setopt(struct et_options *o, const char *name, const char *value, struct et_error *e)
{
	int i = lookup(name);

	if (i < 0)
		return unknown(name, e);
	if (set_option(o, i, value, false, e) != 0)
		return -1;
	if (i == OPT_DESTRUCTIVE)
		o->trusts = o->val[OPT_DESTRUCTIVE] != 0;
	/* harmless overrides destructive, whether that was set by -w or by the environment. */
	if (i == OPT_HARMLESS && o->val[OPT_HARMLESS])
		o->val[OPT_DESTRUCTIVE] = o->trusts = false;
	return 0;
}

int et_getopt(
	const struct et_options *o, const char *name, char *buf, size_t size, struct et_error *e)
{
	int i = lookup(name);
	const struct et_optdef *d;

	if (i < 0)
		return unknown(name, e);
	d = &et_optdefs[i];
	if (d->kind == OK_STR)
		snprintf(buf, size, "%s", o->val[i] > 0 ? o->str[i][o->val[i] - 1] : "");
	else if (!o->set[i] && (o->val[i] < d->min || o->val[i] > d->max))
		snprintf(buf, size, "unset");
	else
		show(d, o->val[i], buf, size);
	return 0;
}

/* ---- a handle's options --------------------------------------------------------------- */

bool et_env_option(const char *s, struct et_env_option *opt)
{
	static const char prefix[] = "DTRACE_OPT_";
	const char *eq = strchr(s, '=');
	size_t n;

	if (eq == NULL || strncmp(s, prefix, strlen(prefix)) != 0)
		return false;
	s += strlen(prefix);
	n = (size_t)(eq - s);
	if (n == 0 || n >= sizeof(opt->name))
		return false;
	for (size_t k = 0; k < n; k++)
		opt->name[k] = s[k] >= 'A' && s[k] <= 'Z' ? (char)(s[k] | 32) : s[k];
	opt->name[n] = '\0';
	opt->value = eq[1] != '\0' ? eq + 1 : NULL;
	return true;
}

void et_options_init(struct et_options *o)
{
	struct et_env_option opt;

	memset(o, 0, sizeof(*o));
	for (int i = 0; i < OPT_MAX; i++)
		o->val[i] = et_optdefs[i].def;
	for (char **p = environ; p != NULL && *p != NULL; p++)
		if (et_env_option(*p, &opt))
			et_setopt(o, opt.name, opt.value, &o->env);
}

int et_options_copy(struct et_options *to, const struct et_options *from, struct et_error *e)
{
	*to = *from;
	for (int i = 0; i < OPT_MAX; i++)
		if (et_optdefs[i].kind == OK_STR) {
			to->str[i] = NULL;
			to->val[i] = 0;
		}
	for (int i = 0; i < OPT_MAX; i++)
		for (uint64_t k = 0; et_optdefs[i].kind == OK_STR && k < from->val[i]; k++)
			if (set_text(to, i, from->str[i][k], e) != 0) {
				et_options_free(to);
				return -1;
			}
	return 0;
}

void et_options_free(struct et_options *o)
{
	for (int i = 0; i < OPT_MAX; i++) {
		if (et_optdefs[i].kind != OK_STR)
			continue;
		for (uint64_t k = 0; o->str[i] != NULL && k < o->val[i]; k++)
			free(o->str[i][k]);
		free(o->str[i]);
		o->str[i] = NULL;
		o->val[i] = 0;
	}
}
