/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading memory that may not be there. The reads are a few known instructions; a process-wide
 * handler of SIGSEGV and SIGBUS makes a fault at one of them go on behind it, where the reader
 * finds out. Faults anywhere else go to the handler that was there before, or kill as ever.
 * Addresses that are no addresses at all (not canonical) fault like others, but do not tell which:
 * the place of the instruction decides, not the address. On other processors than x86-64 the
 * kernel does the copying (process_vm_readv).
 */
#include <errno.h>
#include <signal.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "internal.h"

#ifdef __x86_64__

size_t en_safe_copy(void *dst, const void *src, size_t n);
int en_safe_load(const void *src, unsigned size, uint64_t *out);
extern const char en_safe_copy_at[] __attribute__((visibility("hidden")));
extern const char en_safe_copy_out[] __attribute__((visibility("hidden")));
extern const char en_safe_load_from[] __attribute__((visibility("hidden")));
extern const char en_safe_load_to[] __attribute__((visibility("hidden")));
extern const char en_safe_load_bad[] __attribute__((visibility("hidden")));

__asm__(".pushsection .text.probe,\"ax\",@progbits\n"
	".globl en_safe_copy\n.hidden en_safe_copy\n.type en_safe_copy,@function\n"
	"en_safe_copy:\n"
	"	mov %rdx, %rcx\n"
	".globl en_safe_copy_at\n.hidden en_safe_copy_at\n"
	"en_safe_copy_at:\n"
	"	rep movsb\n"
	".globl en_safe_copy_out\n.hidden en_safe_copy_out\n"
	"en_safe_copy_out:\n" /* rcx: what is left, after a fault too */
	"	mov %rcx, %rax\n"
	"	ret\n"
	".size en_safe_copy,.-en_safe_copy\n"
	".globl en_safe_load\n.hidden en_safe_load\n.type en_safe_load,@function\n"
	"en_safe_load:\n"
	"	xor %eax, %eax\n"
	"	cmp $4, %esi\n"
	"	je 4f\n"
	"	ja 8f\n"
	"	cmp $2, %esi\n"
	"	je 2f\n"
	".globl en_safe_load_from\n.hidden en_safe_load_from\n"
	"en_safe_load_from:\n"
	"	movzbl (%rdi), %ecx\n"
	"	jmp 9f\n"
	"2:	movzwl (%rdi), %ecx\n"
	"	jmp 9f\n"
	"4:	movl (%rdi), %ecx\n"
	"	jmp 9f\n"
	"8:	movq (%rdi), %rcx\n"
	".globl en_safe_load_to\n.hidden en_safe_load_to\n"
	"en_safe_load_to:\n"
	"9:	movq %rcx, (%rdx)\n"
	"	ret\n"
	".globl en_safe_load_bad\n.hidden en_safe_load_bad\n"
	"en_safe_load_bad:\n"
	"	mov $1, %eax\n"
	"	ret\n"
	".size en_safe_load,.-en_safe_load\n"
	".popsection\n");

/* ---- the handler ---------------------------------------------------------------------- */

static const int sigs[2] = {SIGSEGV, SIGBUS};
static struct sigaction old[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static bool installed;

/* Not ours. What was there before decides; the default action is had by faulting once more. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *to = &old[sig == SIGBUS];
	bool sent = info->si_code <= 0; /* by kill() or its like: no instruction would repeat it */

	if (to->sa_flags & SA_SIGINFO) {
		to->sa_sigaction(sig, info, context);
	} else if (to->sa_handler == SIG_IGN && sent) {
		return;
	} else if (to->sa_handler == SIG_DFL || to->sa_handler == SIG_IGN) {
		struct sigaction dfl = {.sa_handler = SIG_DFL};

		sigaction(sig, &dfl, NULL);
		if (sent)
			raise(sig);
	} else {
		to->sa_handler(sig);
	}
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	const char *at = (const char *)(uintptr_t)*rip;

	if (at == en_safe_copy_at)
		*rip = (greg_t)(uintptr_t)en_safe_copy_out;
	else if (at >= en_safe_load_from && at < en_safe_load_to)
		*rip = (greg_t)(uintptr_t)en_safe_load_bad;
	else
		pass_on(sig, info, context);
}

int safe_init(void)
{
	struct sigaction sa = {
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!installed) {
		for (int i = 0; i < 2 && rc == 0; i++)
			rc = sigaction(sigs[i], &sa, &old[i]);
		installed = rc == 0;
	}
	users += rc == 0;
	pthread_mutex_unlock(&lock);
	return rc;
}

/* The last one out restores what was there, unless somebody has come on top of us. */
void safe_fini(void)
{
	pthread_mutex_lock(&lock);
	if (--users == 0) {
		struct sigaction now[2];
		bool ours = true;

		for (int i = 0; i < 2; i++)
			ours &= sigaction(sigs[i], NULL, &now[i]) == 0 &&
				(now[i].sa_flags & SA_SIGINFO) && now[i].sa_sigaction == on_fault;
		for (int i = 0; i < 2 && ours; i++)
			sigaction(sigs[i], &old[i], NULL);
		installed = !ours;
	}
	pthread_mutex_unlock(&lock);
}

PROBE_PATH size_t safe_copy(void *dst, const void *src, size_t n)
{
	return en_safe_copy(dst, src, n);
}

PROBE_PATH static bool load_word(uint64_t addr, unsigned size, uint64_t *out)
{
	return en_safe_load((const void *)(uintptr_t)addr, size, out) == 0;
}

#else

int safe_init(void)
{
	return 0;
}

void safe_fini(void)
{
}

PROBE_PATH size_t safe_copy(void *dst, const void *src, size_t n)
{
	struct iovec to = {dst, n}, from = {(void *)(uintptr_t)src, n};
	int saved = errno;
	ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	errno = saved;
	return got < 0 ? n : n - (size_t)got;
}

PROBE_PATH static bool load_word(uint64_t addr, unsigned size, uint64_t *out)
{
	*out = 0;
	return safe_copy(out, (const void *)(uintptr_t)addr, size) == 0;
}

#endif

/* ---- for the runtime functions -------------------------------------------------------- */

PROBE_PATH bool safe_read(struct fire *f, void *dst, uint64_t addr, size_t n)
{
	size_t left = safe_copy(dst, (const void *)(uintptr_t)addr, n);

	if (likely(left == 0))
		return true;
	set_fault(f, FAULT_BADADDR, addr + (n - left));
	return false;
}

/* Whole words at aligned addresses: they never reach over the end of a page. */
PROBE_PATH int64_t safe_str(struct fire *f, char *dst, uint64_t addr, size_t room)
{
	size_t n = 0;

	while (n + 1 < room) {
		unsigned size = ((addr + n) & 7) == 0 ? 8 : 1;
		uint64_t w, zero;

		if (!load_word(addr + n, size, &w)) {
			set_fault(f, FAULT_BADADDR, addr + n);
			dst[n] = '\0';
			return -1;
		}
		if (size == 1 || n + 8 >= room) { /* the ends, byte by byte */
			dst[n] = (char)w;
			if (dst[n] == '\0')
				return (int64_t)n;
			if (size == 1) {
				n++;
				continue;
			}
			for (size_t i = 1; i < 8 && n + i + 1 < room; i++) {
				dst[n + i] = (char)(w >> 8 * i);
				if (dst[n + i] == '\0')
					return (int64_t)(n + i);
			}
			n = room - 1;
			break;
		}
		memcpy(dst + n, &w, 8);
		zero = (w - 0x0101010101010101) & ~w & 0x8080808080808080;
		if (zero != 0)
			return (int64_t)(n + (unsigned)__builtin_ctzll(zero) / 8);
		n += 8;
	}
	dst[n] = '\0';
	return (int64_t)n;
}

/* One number. A pointer that is bad altogether is a bad address, else it may be unaligned. */
RTFN(load)
{
	struct fire *f = FIRE(ctx);
	int64_t how = (int64_t)b;
	unsigned size = (unsigned)(how < 0 ? -how : how);
	uint64_t v = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		set_fault(f, FAULT_BADSIZE, a);
		return 0;
	}
	if (unlikely(!load_word(a, size, &v))) {
		set_fault(f, FAULT_BADADDR, a);
		return 0;
	}
	if (unlikely(a % size != 0)) {
		set_fault(f, FAULT_BADALIGN, a);
		return 0;
	}
	if (how < 0 && size < 8) {
		unsigned shift = 64 - 8 * size;

		v = (uint64_t)((int64_t)(v << shift) >> shift);
	}
	return v;
}
