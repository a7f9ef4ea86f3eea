/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before everything else: each BPF program is loaded once more before, to show on stderr how
 * much the kernel's verifier had to do for it, or why it refuses it. VERIFIER_LOG=2: all it did.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long (*real)(long, ...);

static void show(const union bpf_attr *program, size_t size)
{
	const char *all = getenv("VERIFIER_LOG");
	union bpf_attr attr = {0};
	uint32_t room = 512u << 20; /* of which what is written becomes memory */
	char *log = calloc(1, room);
	long fd;

	if (log == NULL)
		return;
	memcpy(&attr, program, size < sizeof(attr) ? size : sizeof(attr));
	attr.log_buf = (uint64_t)(uintptr_t)log;
	attr.log_size = room;
	attr.log_level = all != NULL && strcmp(all, "2") == 0 ? 2 : 4;
	fd = real(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	fprintf(stderr, "%u instructions, %u functions: %s\n%s", attr.insn_cnt, attr.func_info_cnt,
		fd < 0 ? strerror(errno) : "accepted", log);
	if (fd >= 0)
		close((int)fd);
	free(log);
}

long syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (real == NULL)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD)
		show((const union bpf_attr *)a[1], (size_t)a[2]);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
