/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kernel has a symbol, from /proc/kallsyms. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "btf.h"

bool ksym_address(const char *module, const char *name, uint64_t *addr, bool *hidden)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], is[256], in[128], type;
	bool found = false;

	*hidden = false;
	while (!found && f != NULL && fgets(line, sizeof(line), f) != NULL) {
		int n = sscanf(line, "%" SCNx64 " %c %255s [%127[^]]", addr, &type, is, in);

		found = n >= 3 && strcmp(is, name) == 0 &&
			(module == NULL || strcmp(n == 4 ? in : "vmlinux", module) == 0);
	}
	if (f != NULL)
		fclose(f);
	*hidden = found && *addr == 0;
	return found && *addr != 0;
}
