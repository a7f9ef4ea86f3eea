/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before everything else: bpf(2) refuses what kernels before Linux 6.9 do not have, so that
 * what erltrace does there instead can be tried on any kernel. It refuses arenas and links of many
 * uprobes, as an old kernel would, and with NO_BPF_LOOP what came with 5.17: that helper. What else the
 * verifier of this one accepts it still does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAP_TYPE_ARENA = 33, UPROBE_MULTI = 48 };

static int calls_bpf_loop(const union bpf_attr *attr)
{
	const struct bpf_insn *insns = (const struct bpf_insn *)(uintptr_t)attr->insns;

	for (unsigned i = 0; i < attr->insn_cnt; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && insns[i].src_reg == 0 &&
			insns[i].imm == BPF_FUNC_loop)
			return 1;
	return 0;
}

static int is_new(long cmd, const union bpf_attr *attr)
{
	return (cmd == BPF_MAP_CREATE && attr->map_type == MAP_TYPE_ARENA) ||
	       (cmd == BPF_PROG_LOAD && attr->expected_attach_type == UPROBE_MULTI) ||
	       (cmd == BPF_PROG_LOAD && getenv("NO_BPF_LOOP") != NULL && calls_bpf_loop(attr)) ||
	       (cmd == BPF_LINK_CREATE && attr->link_create.attach_type == UPROBE_MULTI);
}

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	va_list list;
	long a[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (real == NULL)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_bpf && is_new(a[0], (const union bpf_attr *)(uintptr_t)a[1])) {
		errno = EINVAL;
		return -1;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
