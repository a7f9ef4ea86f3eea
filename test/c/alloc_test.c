/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out: each allocation of a handle's whole life fails in turn, once alone and once
 * with all that follow. There is an error with a text, or it works all the same; never a crash.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "erltrace.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif

/* ---- an allocator that fails ----------------------------------------------------------- */

/*
 * With the sanitizer, which has an allocator of its own, calls of the library are led here by the
 * linker (--wrap in the Makefile); else these are the allocator, for the C library's calls too.
 */
#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define SANITIZED    1
#define OURS(name)   __wrap_##name
#define THEIRS(name) __real_##name
#else
#define SANITIZED    0
#define OURS(name)   name
#define THEIRS(name) __libc_##name
static int __lsan_do_recoverable_leak_check(void)
{
	return 0;
}
#endif

void *OURS(malloc)(size_t size);
void *OURS(calloc)(size_t n, size_t size);
void *OURS(realloc)(void *p, size_t size);
int OURS(posix_memalign)(void **p, size_t align, size_t size);
void *OURS(aligned_alloc)(size_t align, size_t size);
void *OURS(mmap)(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int OURS(mprotect)(void *at, size_t size, int prot);
void *THEIRS(malloc)(size_t size);
void *THEIRS(calloc)(size_t n, size_t size);
void *THEIRS(realloc)(void *p, size_t size);

static long allocations, fail_at; /* 0: never */
static int fail_after;

static int fails(void)
{
	long n = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);

	return fail_at > 0 && (n == fail_at || (fail_after && n > fail_at));
}

void *OURS(malloc)(size_t size)
{
	return fails() ? NULL : THEIRS(malloc)(size);
}

void *OURS(calloc)(size_t n, size_t size)
{
	return fails() ? NULL : THEIRS(calloc)(n, size);
}

void *OURS(realloc)(void *p, size_t size)
{
	return fails() ? NULL : THEIRS(realloc)(p, size);
}

#if SANITIZED
int __real_posix_memalign(void **p, size_t align, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
FILE *__real_open_memstream(char **text, size_t *len);
FILE *__wrap_open_memstream(char **text, size_t *len);

int __wrap_posix_memalign(void **p, size_t align, size_t size)
{
	return fails() ? ENOMEM : __real_posix_memalign(p, align, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(align, size);
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

FILE *__wrap_open_memstream(char **text, size_t *len)
{
	return fails() ? NULL : __real_open_memstream(text, len);
}
#else
void *__libc_memalign(size_t align, size_t size);

int posix_memalign(void **p, size_t align, size_t size)
{
	if (fails())
		return ENOMEM;
	*p = __libc_memalign(align, size);
	return 0;
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}
#endif

void *OURS(mmap)(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (fails()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}

int OURS(mprotect)(void *at, size_t size, int prot)
{
	if (fails()) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_mprotect, at, size, prot);
}

/* ---- a life ---------------------------------------------------------------------------- */

enum { WORKED, FAILED, SILENT, LEAKED }; /* SILENT: failed without a text */

static const char script[] =
	"my:::p { @[arg0, copyinstr(arg1)] = count(); @q = quantize(arg0); @st[ustack()] = count();"
	"	self->x = arg0; a[arg0] = 1; printf(\"%d %s\\n\", arg0, args[1]); }"
	"my:::p { this->s = speculation(); speculate(this->s); trace(1); } my:::p { commit(1); }"
	"my:::p /erlmatch(erlmsg, \"{A, [B | _], #{k := C}, <<D/binary>>}\")/ { x = this->A; }"
	"my:::p /erlget(\"k\", erlarg(0)) == 5/ { trace(erltext(erlret)); }"
	"END { printa(@); } tick-1s { }";

static int on_text(void *arg, const char *text, size_t len)
{
	(void)arg, (void)text, (void)len;
	return 0;
}

static int run(erltrace_t *h, erltrace_probe_t *p, erltrace_string_t *s, erltrace_error_t *e)
{
	erltrace_handlers_t hs = {.size = sizeof(hs), .text = on_text};

	if (erltrace_compile(h, script, NULL, e) < 0 || erltrace_go(h, e) < 0)
		return e->text[0] != '\0' ? FAILED : SILENT;
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t args[2] = {i, erltrace_string_arg(s)};

		erltrace_fire(p, args, 2, 2, 0);
		if (i % 50 == 0)
			erltrace_work(h, &hs, e);
	}
	erltrace_stop(h, e);
	for (int i = 0; i < 1000 && erltrace_work(h, &hs, e) == ERLTRACE_OK; i++)
		;
	return WORKED;
}

static int life(void)
{
	static const char *const types[] = {"int", "string"};
	erltrace_error_t e = {.tag = ""};
	erltrace_t *h = erltrace_open(&e);
	erltrace_probe_t *p;
	erltrace_string_t *s;
	int rc = FAILED;

	if (h == NULL)
		return e.text[0] != '\0' ? FAILED : SILENT;
	p = erltrace_probe_add(h, "my", "m", "f", "p", 2, types, &e);
	s = erltrace_string_new("hello");
	if (p != NULL && s != NULL)
		rc = run(h, p, s, &e);
	if (s != NULL)
		erltrace_string_free(s);
	erltrace_close(h);
	return rc;
}

/* With the sanitizer; it takes long, and once is enough. */
static int life_and_nothing_left(void)
{
	int rc = life();

	fail_at = 0;
	return !fail_after && __lsan_do_recoverable_leak_check() ? LEAKED : rc;
}

int main(void)
{
	int passed = 0, failed = 0, status;
	long n;

	life(); /* what is made once in a process's life */
	allocations = 0;
	life();
	n = allocations;
	for (fail_after = 0; fail_after < 2; fail_after++)
		for (long k = 1; k <= n; k++) {
			pid_t pid;

			fflush(stdout);
			pid = fork();
			if (pid == 0) {
				alarm(20);
				allocations = 0;
				fail_at = k;
				_exit(life_and_nothing_left());
			}
			waitpid(pid, &status, 0);
			if (WIFEXITED(status) && WEXITSTATUS(status) < SILENT) {
				passed++;
			} else {
				failed++;
				printf("FAILED: allocation %ld%s: status %x\n", k,
					fail_after ? " and all after it" : "", status);
			}
		}
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
