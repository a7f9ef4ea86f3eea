/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang VMs by their processes. Some were built with USDT probes (--with-dynamic-trace=systemtap).
 * A VM that is a node, and can be reached, is traced from inside as all others are; of one that is
 * not, the provider usdt has the VM's own probes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodes.h"
#include "proc_file.h"
#include "symbols/elf.h"
#include "vm_usdt.h"

#define MAX_NOTES (64u << 20)

static bool has_probes(int pid)
{
	static const char text[] = "erlang\0message__send"; /* provider and name */
	char path[64], *notes = NULL;
	Elf64_Shdr sh = {0};
	bool found = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = fi_open(path);
	if (fd >= 0 && elf_section(fd, ".note.stapsdt", &sh))
		notes = elf_bytes(fd, sh.sh_offset, sh.sh_size, MAX_NOTES);
	if (notes != NULL)
		found = memmem(notes, sh.sh_size, text, sizeof(text)) != NULL;
	free(notes);
	if (fd >= 0)
		close(fd);
	return found;
}

bool cli_is_vm(const struct cli_procs *procs)
{
	char path[64], exe[4096];
	const char *name;
	ssize_t n;

	if (procs->n == 0 || procs->v[0].command != NULL)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)procs->v[0].pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	name = strrchr(exe, '/');
	return name != NULL && strncmp(name, "/beam", 5) == 0;
}

bool cli_is_usdt_vm(struct cli *c, int pid)
{
	if (pid == 0 && c->procs.n > 0 && c->procs.v[0].command == NULL)
		pid = (int)c->procs.v[0].pid;
	return pid != 0 && has_probes(pid) && !cli_is_node(c->req.cookie_file, pid);
}
