/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the providers that trace the kernel or other programs, wherever they run: a node
 * hands scripts with such probes to a helper (c_src/helper/), and has none of these providers
 * itself. "pid#" is pid and the number of a process.
 */
#include <string.h>

#include "engine/provider.h"

static const char *const names[] = {
	"syscall", "pid#", "usdt", "sched", "proc", "rawtp", "sdt", "fbt", "ip", "udp", "tcp",
	"io", "fsinfo", "sysinfo", "vminfo", "cpc", "lockstat"};

/* After a provider's name: the number of a process, or a glob of it. */
static bool is_number(const char *text)
{
	return text[strspn(text, "0123456789*?[]!-")] == '\0';
}

bool en_is_kernel(const char *prov)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (strcmp(prov, names[i]) == 0 ||
			(names[i][len - 1] == '#' && strncmp(prov, names[i], len - 1) == 0 &&
				is_number(prov + len - 1)))
			return true;
	}
	return false;
}
