/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before everything else into a VM: allocations that erltrace's library asks for fail when
 * they are told to, and no others. The file FAIL_ALLOC names is mapped: struct control.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static struct control {
	int64_t fail_at; /* 0: none fails */
	int64_t after;	 /* all that follow, too */
	int64_t count;	 /* how many there were */
} *control;
static uintptr_t from, to;

static int find(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	if (strstr(info->dlpi_name, "/erltrace.so") == NULL)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
			from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			to = from + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

__attribute__((constructor)) static void start(void)
{
	const char *name = getenv("FAIL_ALLOC");
	int fd = name != NULL ? open(name, O_RDWR | O_CLOEXEC) : -1;
	void *p = MAP_FAILED;

	if (fd >= 0)
		p = (void *)syscall(
			SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED)
		control = p;
	if (fd >= 0)
		close(fd);
}

static int fails(void *caller)
{
	int64_t at, n;

	if (control == NULL || (at = __atomic_load_n(&control->fail_at, __ATOMIC_RELAXED)) == 0)
		return 0;
	if (from == 0)
		dl_iterate_phdr(find, NULL);
	if ((uintptr_t)caller < from || (uintptr_t)caller >= to)
		return 0;
	n = __atomic_add_fetch(&control->count, 1, __ATOMIC_RELAXED);
	return n == at || (control->after && n > at);
}
#define FAILS fails(__builtin_return_address(0))

void *malloc(size_t size)
{
	return FAILS ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return FAILS ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return FAILS ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return FAILS ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
	if (FAILS)
		return ENOMEM;
	*p = __libc_memalign(align, size);
	return *p == NULL ? ENOMEM : 0;
}

static char *copy(const char *s, size_t n)
{
	char *p = __libc_malloc(n + 1);

	if (p != NULL) {
		memcpy(p, s, n);
		p[n] = '\0';
	}
	return p;
}

char *strdup(const char *s)
{
	return FAILS ? NULL : copy(s, strlen(s));
}

char *strndup(const char *s, size_t n)
{
	return FAILS ? NULL : copy(s, strnlen(s, n));
}

void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (FAILS) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, addr, size, prot, flags, fd, offset);
}
