/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the kernel's functions, from /proc/kallsyms, which is read when the first kernel address
 * occurs. If the system hides addresses (kernel.kptr_restrict), all of them are 0 there, and
 * addresses stay numbers.
 */
#include "ksyms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST (1 << 20) /* bytes: more than any function has */

struct ksym {
	uint64_t at;
	char *name; /* "module`function" */
};
struct ksyms {
	struct ksym *syms;
	size_t n, room;
};

static int by_address(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void add(struct ksyms *k, uint64_t at, const char *mod, const char *name)
{
	struct ksym *more;
	char *text;

	if (k->n == k->room) {
		k->room = k->room ? 2 * k->room : 1 << 16;
		more = realloc(k->syms, k->room * sizeof(*more));
		if (more == NULL) {
			k->room = k->n;
			return;
		}
		k->syms = more;
	}
	if (asprintf(&text, "%s`%s", mod, name) >= 0)
		k->syms[k->n++] = (struct ksym){at, text};
}

struct ksyms *ksyms_read(void)
{
	struct ksyms *k = calloc(1, sizeof(*k));
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[256], mod[128], type;
	uint64_t at;
	int n;

	while (k != NULL && f != NULL && fgets(line, sizeof(line), f) != NULL) {
		n = sscanf(line, "%" SCNx64 " %c %255s [%127[^]]", &at, &type, name, mod);
		if (n >= 3 && at != 0 && strchr("tTwW", type) != NULL)
			add(k, at, n == 4 ? mod : "vmlinux", name);
	}
	if (f != NULL)
		fclose(f);
	if (k != NULL && k->n > 0)
		qsort(k->syms, k->n, sizeof(*k->syms), by_address);
	return k;
}

void ksyms_free(struct ksyms *k)
{
	if (k == NULL)
		return;
	for (size_t i = 0; i < k->n; i++)
		free(k->syms[i].name);
	free(k->syms);
	free(k);
}

const char *ksyms_find(const struct ksyms *k, uint64_t addr, uint64_t *off)
{
	size_t lo = 0, hi = k != NULL ? k->n : 0, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (k->syms[mid].at <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* beyond the last one, or too far from any */
	if (lo == 0 || addr - k->syms[lo - 1].at >= LONGEST)
		return NULL;
	*off = addr - k->syms[lo - 1].at;
	return k->syms[lo - 1].name;
}
