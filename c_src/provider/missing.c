/* SPDX-License-Identifier: Apache-2.0 */
/* Why a description matches nothing, if its provider is the reason, and what to use instead. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engine/provider.h"
#include "engine/state.h"
#include "engine/str.h"

/*
 * Providers of DTrace on other systems, and names from bpftrace. Which providers there are here,
 * list_providers() adds.
 */
static const struct {
	const char *names, *instead;
} others[] = {
	{"kprobe kretprobe kfunc kretfunc fentry fexit rawfbt",
		"functions of the kernel are fbt:module:function:entry and :return"},
	{"vfs", "what programs do with files are probes of fsinfo"},
	{"net mib sockets", "packets and connections are probes of ip, udp and tcp"},
	{"tracepoint", "tracepoints of the kernel are rawtp:::name and sdt:group::name"},
	{"lockprof", "threads that wait for locks of the kernel are probes of lockstat"},
	{"kmem", "rawtp:::kmem_cache_alloc, rawtp:::kmalloc and the like are the kernel's own"},
	{"uprobe uretprobe",
		"functions of a process are pid1234:module:function:entry and :return"},
	{"usdt", "a USDT probe has the program's own provider: python1234, python$target"},
};

static bool is_word(const char *words, const char *name)
{
	size_t len = strlen(name);
	const char *at = words;

	while ((at = strstr(at, name)) != NULL) {
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
		at += len;
	}
	return false;
}

static const char *instead_of(const char *name)
{
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (is_word(others[i].names, name))
			return others[i].instead;
	return NULL;
}

/* "dtrace, profile, ...": the providers that have probes. */
static void list_providers(const struct en *en, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < en->reg.nprobes && len < size; i++) {
		const struct et_str *name = en->reg.probes[i]->prov;
		unsigned k = 0; /* an earlier probe of the same provider, usually the last one */

		while (k < i && en->reg.probes[k]->prov != name)
			k = en->reg.probes[i - 1]->prov == name ? i - 1 : k + 1;
		if (k == i)
			len += (size_t)snprintf(
				buf + len, size - len, "%s%s", len ? ", " : "", name->text);
	}
	if (et_sampler != NULL && !en->opts->inside && len < size)
		snprintf(buf + len, size - len, ", fbt, pid1234 and those of programs (usdt)");
}

static bool is_known(const struct en *en, const char *prov)
{
	for (unsigned i = 0; i < en->reg.nprobes; i++)
		if (en_glob(prov, en->reg.probes[i]->prov->text))
			return true;
	return false;
}

void en_why_none(const struct en *en, const struct d_pdesc *d, char *buf, size_t size)
{
	size_t len = d->prov != NULL ? strlen(d->prov) : 0;
	bool kernel = et_sampler != NULL && !en->opts->inside;
	const char *instead;
	char list[256];

	buf[0] = '\0';
	for (const struct provider *const *pv = et_providers; *pv != NULL && d->id == 0; pv++) {
		const char *why = (*pv)->why_none != NULL ? (*pv)->why_none(d) : NULL;

		if (why != NULL)
			snprintf(buf, size, "%s", why);
	}
	if (en->opts->replay && len > 0 && en_is_kernel(d->prov))
		snprintf(buf, size,
			"probes of the kernel and of other programs cannot be recorded and "
			"replayed");
	if (buf[0] != '\0' || d->id != 0 || len == 0 || is_known(en, d->prov))
		return;
	if (strncmp(d->prov, "erlang", 6) == 0) {
		if (kernel && en->bridge == NULL)
			snprintf(buf, size,
				"probes of an Erlang node need a bridge to the nodes: "
				"erltrace_set_bridge(), and the option erlnode");
	} else if (strcmp(d->prov, "state") == 0) {
		snprintf(buf, size,
			"it is about what there is in an Erlang node, and runs inside of one: -N "
			"NODE, without probes of the kernel in the same script");
	} else if (len > 1 && d->prov[len - 1] == '0' &&
		   !isdigit((unsigned char)d->prov[len - 2])) {
		snprintf(buf, size, "there is no process 0: $target is that of -p or -c");
	} else if (strpbrk(d->prov, "*?[") != NULL) {
		if (kernel && en->opts->val[OPT_USDTPROC] == 0)
			snprintf(buf, size,
				"USDT probes belong to a process: name it with -p or "
				"-c, or by its "
				"number, as in python1234");
		else if (kernel)
			snprintf(buf, size,
				"the program and the libraries of the process have no such probes");
	} else if (!isdigit((unsigned char)d->prov[len - 1])) {
		list_providers(en, list, sizeof(list));
		instead = kernel ? instead_of(d->prov) : NULL;
		snprintf(buf, size, "there is no provider %.64s here: %s%sthere are %s", d->prov,
			instead != NULL ? instead : "", instead != NULL ? "; " : "", list);
	}
}
