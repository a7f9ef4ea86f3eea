/* SPDX-License-Identifier: Apache-2.0 */
/* Stability attributes: words, the least of several, and those of the providers. */
#include "stability.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const stabilities[] = {"Internal", "Private", "Obsolete", "External", "Unstable",
	"Evolving", "Stable", "Standard"};
static const char *const classes[] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};

const struct et_attr et_attr_default = {{7, 7, 6}};

static uint8_t word_index(const char *s, size_t len, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(words[i]) == len && !strncasecmp(words[i], s, len))
			return (uint8_t)(i + 1);
	return 0;
}

int et_attr_parse(const char *text, struct et_attr *a)
{
	for (int i = 0; i < 3; i++) {
		size_t len = strcspn(text, "/");

		if (i == 2)
			a->of[i] = word_index(text, len, classes, 6);
		else
			a->of[i] = word_index(text, len, stabilities, 8);
		text += len;
		if (a->of[i] == 0 || (*text == '/') != (i < 2))
			return -1;
		text++;
	}
	return 0;
}

const char *et_attr_word(const struct et_attr *a, unsigned i)
{
	return i == 2 ? classes[a->of[i] - 1] : stabilities[a->of[i] - 1];
}

void et_attr_least(struct et_attr *a, const struct et_attr *b)
{
	for (int i = 0; i < 3; i++)
		if (a->of[i] > b->of[i])
			a->of[i] = b->of[i];
}

/* Providers; a # is a number. Any other is of a program: its static probes are its own. */
static const struct {
	const char *name, *names, *args;
} providers[] = {
	{"cpc", "Evolving/Evolving/CPU", "Evolving/Evolving/Common"},
	{"dtrace", "Stable/Stable/Common", "Stable/Stable/Common"},
	{"erlang#", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"fbt", "Evolving/Evolving/ISA", "Private/Private/ISA"},
	{"fsinfo", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"io", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"ip", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"lockstat", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"pid#", "Evolving/Evolving/ISA", "Private/Private/Unknown"},
	{"proc", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"profile", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"rawtp", "Unstable/Unstable/Common", "Unstable/Unstable/Common"},
	{"sched", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"sdt", "Unstable/Unstable/Common", "Unstable/Unstable/Common"},
	{"state", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"syscall", "Evolving/Evolving/Common", "Unstable/Unstable/ISA"},
	{"sysinfo", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"tcp", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"udp", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
	{"vminfo", "Evolving/Evolving/Common", "Evolving/Evolving/Common"},
};

static int is_named(const char *prov, const char *name)
{
	size_t len = strcspn(name, "#");

	if (strncmp(prov, name, len) != 0)
		return 0;
	prov += len;
	return prov[name[len] == '#' ? strspn(prov, "0123456789") : 0] == '\0';
}

void et_attr_of_provider(const char *prov, struct et_attr *names, struct et_attr *args)
{
	const char *n = "Private/Private/Unknown", *a = n;

	for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++)
		if (is_named(prov, providers[i].name)) {
			n = providers[i].names;
			a = providers[i].args;
		}
	et_attr_parse(n, names);
	et_attr_parse(a, args);
}
