/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading memory that may not be mapped: fault recovery, as the kernel does for copy_from_user.
 *
 * The reads are a few known instructions (the assembly below). A process-wide handler of SIGSEGV
 * and SIGBUS compares the instruction pointer with their addresses. If the fault was at one of
 * them, the handler sets the instruction pointer to a fixup address, where the function returns an
 * error; the handler does not look at the fault address, which a non-canonical address would not
 * report anyway. Any other fault is passed on to the handler that was installed before, or gets the
 * default action.
 *
 * On other architectures, and in threads that block these signals (for which a fault would be
 * fatal), the kernel copies instead (process_vm_readv).
 *
 * Somebody else may install a handler over ours, which would take a bad read for a crash. There is
 * no notification of that; safe_look checks about ten times a second. While our handler is covered,
 * reads use the system call too, until ours is installed on top again. A program that keeps
 * installing handlers makes us give up after LEVELS attempts, and every read costs the system call
 * from then on.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "compiler.h"
#include "fire.h"
#include "prog/record.h"
#include "engine/rt/rt_load.h"
#include "safe.h"
#include "slot.h"
#include "work.h"

PROBE_PATH static __attribute__((noinline)) size_t kernel_copy(void *dst, const void *src, size_t n)
{
	struct iovec to = {dst, n}, from = {(void *)(uintptr_t)src, n};
	int saved = errno;
	ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	errno = saved;
	return got < 0 ? n : n - (size_t)got;
}

#ifdef __x86_64__

size_t en_safe_copy(void *dst, const void *src, size_t n);
int en_safe_load(const void *src, unsigned size, uint64_t *out);
extern const char en_safe_copy_at[] __attribute__((visibility("hidden")));
extern const char en_safe_copy_out[] __attribute__((visibility("hidden")));
extern const char en_safe_load_from[] __attribute__((visibility("hidden")));
extern const char en_safe_load_to[] __attribute__((visibility("hidden")));
extern const char en_safe_load_bad[] __attribute__((visibility("hidden")));
size_t en_safe_same(const void *src, const void *with, size_t words);
extern const char en_safe_same_from[] __attribute__((visibility("hidden")));
extern const char en_safe_same_to[] __attribute__((visibility("hidden")));
size_t en_safe_same_words(const struct safe_word *words, size_t n);
extern const char en_safe_words_from[] __attribute__((visibility("hidden")));
extern const char en_safe_words_to[] __attribute__((visibility("hidden")));

__asm__(".pushsection .text.probe,\"ax\",@progbits\n"
	".globl en_safe_copy\n.hidden en_safe_copy\n.type en_safe_copy,@function\n"
	"en_safe_copy:\n"
	"	mov %rdx, %rcx\n"
	".globl en_safe_copy_at\n.hidden en_safe_copy_at\n"
	"en_safe_copy_at:\n"
	"	rep movsb\n"
	".globl en_safe_copy_out\n.hidden en_safe_copy_out\n"
	"en_safe_copy_out:\n" /* rcx: bytes left, after a fault too */
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
	".globl en_safe_same\n.hidden en_safe_same\n.type en_safe_same,@function\n"
	"en_safe_same:\n" /* words from the last on; 0: all are the same */
	".globl en_safe_same_from\n.hidden en_safe_same_from\n"
	"en_safe_same_from:\n"
	"1:	movq -8(%rdi,%rdx,8), %rcx\n"
	"	cmpq -8(%rsi,%rdx,8), %rcx\n"
	"	jne 2f\n"
	"	dec %rdx\n"
	"	jnz 1b\n"
	".globl en_safe_same_to\n.hidden en_safe_same_to\n"
	"en_safe_same_to:\n"
	"2:	mov %rdx, %rax\n"
	"	ret\n"
	".size en_safe_same,.-en_safe_same\n"
	".globl en_safe_same_words\n.hidden en_safe_same_words\n"
	".type en_safe_same_words,@function\n"
	"en_safe_same_words:\n" /* words left; 0: all are the same */
	".globl en_safe_words_from\n.hidden en_safe_words_from\n"
	"en_safe_words_from:\n"
	"1:	movq (%rdi), %rcx\n"
	"	movq (%rcx), %rcx\n"
	"	cmpq 8(%rdi), %rcx\n"
	"	jne 2f\n"
	"	addq $16, %rdi\n"
	"	dec %rsi\n"
	"	jnz 1b\n"
	".globl en_safe_words_to\n.hidden en_safe_words_to\n"
	"en_safe_words_to:\n"
	"2:	mov %rsi, %rax\n"
	"	ret\n"
	".size en_safe_same_words,.-en_safe_same_words\n"
	".popsection\n");

/* ---- the handler ---------------------------------------------------------------------- */

/*
 * Somebody's handler may be installed on top of ours and still be there when the last user of this
 * file has gone. Whether it passes faults on to us is unknown. The next user then installs another
 * handler on top of it, which passes on to it. That must be a different function: with the same
 * one, the two handlers could pass a fault to each other forever.
 */
#define LEVELS 4
static void on_fault_0(int sig, siginfo_t *info, void *context);
static void on_fault_1(int sig, siginfo_t *info, void *context);
static void on_fault_2(int sig, siginfo_t *info, void *context);
static void on_fault_3(int sig, siginfo_t *info, void *context);
static void (*const handlers[LEVELS])(int, siginfo_t *, void *) = {
	on_fault_0, on_fault_1, on_fault_2, on_fault_3};

static const int sigs[2] = {SIGSEGV, SIGBUS};
static struct {
	struct sigaction old[LEVELS]; /* what is below each of our handlers */
	unsigned levels;	      /* installed so far */
} chain[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static _Atomic(bool) covered; /* somebody else's handler is called first */

/* Not ours: the previous handler decides. For the default action, return and fault again. */
static void pass_on(unsigned level, int sig, siginfo_t *info, void *context)
{
	const struct sigaction *to = &chain[sig == SIGBUS].old[level];
	bool sent = info->si_code <= 0; /* by kill(): returning would not repeat it */

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

static void on_fault(unsigned level, int sig, siginfo_t *info, void *context)
{
	greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	const char *at = (const char *)(uintptr_t)*rip;

	if (at == en_safe_copy_at)
		*rip = (greg_t)(uintptr_t)en_safe_copy_out;
	else if (at >= en_safe_load_from && at < en_safe_load_to)
		*rip = (greg_t)(uintptr_t)en_safe_load_bad;
	else if (at >= en_safe_same_from && at < en_safe_same_to)
		*rip = (greg_t)(uintptr_t)en_safe_same_to;
	else if (at >= en_safe_words_from && at < en_safe_words_to)
		*rip = (greg_t)(uintptr_t)en_safe_words_to;
	else
		pass_on(level, sig, info, context);
}

#define HANDLER(level)                                                                             \
	static void on_fault_##level(int sig, siginfo_t *info, void *context)                      \
	{                                                                                          \
		on_fault(level, sig, info, context);                                               \
	}
HANDLER(0)
HANDLER(1)
HANDLER(2)
HANDLER(3)

/* The level of our handler if it is the one that is called first; -1: it is not. */
static int top_of(unsigned i)
{
	struct sigaction now;

	if (sigaction(sigs[i], NULL, &now) != 0 || !(now.sa_flags & SA_SIGINFO))
		return -1;
	for (int level = (int)chain[i].levels - 1; level >= 0; level--)
		if (now.sa_sigaction == handlers[level])
			return level;
	return -1;
}

static int install(unsigned i)
{
	unsigned level = chain[i].levels;
	struct sigaction sa = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	int rc;

	sa.sa_sigaction = handlers[level];
	/* the old handler must be known before ours can be called */
	rc = sigaction(sigs[i], NULL, &chain[i].old[level]);
	if (rc == 0)
		rc = sigaction(sigs[i], &sa, &chain[i].old[level]);
	chain[i].levels += rc == 0;
	return rc;
}

/* Make ours the first handler of both signals. Until it is, the kernel copies. */
static int ensure_topmost(void)
{
	bool top = true;
	int rc = 0;

	for (unsigned i = 0; i < 2 && rc == 0; i++) {
		if (top_of(i) >= 0)
			continue;
		atomic_store(&covered, true);
		if (chain[i].levels < LEVELS)
			rc = install(i);
		else
			top = false;
	}
	if (rc == 0 && top)
		atomic_store(&covered, false);
	return rc;
}

int safe_init(void)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = ensure_topmost();
	users += rc == 0;
	pthread_mutex_unlock(&lock);
	return rc;
}

void safe_look(void)
{
	if (pthread_mutex_trylock(&lock) != 0)
		return; /* another thread is doing it */
	if (users > 0)
		ensure_topmost();
	pthread_mutex_unlock(&lock);
}

/*
 * The last user restores what was there before, unless somebody's handler is on top of ours. A
 * handler below the newest level may have been saved by somebody as theirs to pass on to, so its
 * level is not used again.
 */
static void restore(unsigned i)
{
	for (int n = 0, level; n < LEVELS && (level = top_of(i)) >= 0; n++) {
		sigaction(sigs[i], &chain[i].old[level], NULL);
		if (level == (int)chain[i].levels - 1)
			chain[i].levels--;
	}
}

void safe_fini(void)
{
	pthread_mutex_lock(&lock);
	users--;
	for (unsigned i = 0; i < 2 && users == 0; i++)
		restore(i);
	pthread_mutex_unlock(&lock);
}

static inline bool can_recover(void)
{
	return likely(!en_tls->blocked && !atomic_load_explicit(&covered, memory_order_relaxed));
}

PROBE_PATH size_t safe_copy(void *dst, const void *src, size_t n)
{
	return can_recover() ? en_safe_copy(dst, src, n) : kernel_copy(dst, src, n);
}

PROBE_PATH static bool load_word(uint64_t addr, unsigned size, uint64_t *out)
{
	if (can_recover())
		return en_safe_load((const void *)(uintptr_t)addr, size, out) == 0;
	*out = 0;
	return kernel_copy(out, (const void *)(uintptr_t)addr, size) == 0;
}

#else

int safe_init(void)
{
	return 0;
}

void safe_fini(void)
{
}

void safe_look(void)
{
}

PROBE_PATH size_t safe_copy(void *dst, const void *src, size_t n)
{
	return kernel_copy(dst, src, n);
}

PROBE_PATH static bool load_word(uint64_t addr, unsigned size, uint64_t *out)
{
	*out = 0;
	return kernel_copy(out, (const void *)(uintptr_t)addr, size) == 0;
}

#endif

static inline bool kernel_same(const void *src, const void *with, size_t words)
{
	uint64_t word;

	for (size_t i = 0; i < words; i++)
		if (kernel_copy(&word, (const uint64_t *)src + i, 8) != 0 ||
			memcmp(&word, (const uint64_t *)with + i, 8) != 0)
			return false;
	return true;
}

PROBE_PATH bool safe_same(const void *src, const void *with, size_t words)
{
#ifdef __x86_64__
	if (can_recover())
		return en_safe_same(src, with, words) == 0;
#endif
	return kernel_same(src, with, words);
}

PROBE_PATH bool safe_same_words(const struct safe_word *words, size_t n)
{
#ifdef __x86_64__
	if (can_recover())
		return en_safe_same_words(words, n) == 0;
#endif
	for (size_t i = 0; i < n; i++)
		if (!kernel_same((const void *)words[i].at, &words[i].word, 1))
			return false;
	return true;
}

PROBE_PATH bool safe_load(const void *src, unsigned size, uint64_t *out)
{
	return load_word((uintptr_t)src, size, out);
}

/* ---- for the runtime functions -------------------------------------------------------- */

PROBE_PATH bool safe_read(struct fire *f, void *dst, uint64_t addr, size_t n)
{
	size_t left;

	if (unlikely(!work_block(f, n)))
		return false;
	if (unlikely(mem_readable(f, addr) < n)) {
		set_fault(f, FAULT_BADADDR, addr);
		return false;
	}
	left = safe_copy(dst, (const void *)(uintptr_t)addr, n);
	if (likely(left == 0))
		return true;
	set_fault(f, FAULT_BADADDR, addr + (n - left));
	return false;
}

/* Reads whole words at aligned addresses, which never cross a page boundary. */
PROBE_PATH static int64_t read_str(struct fire *f, char *dst, uint64_t addr, size_t room)
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

PROBE_PATH int64_t safe_str(struct fire *f, char *dst, uint64_t addr, size_t room)
{
	return str_checked(f, dst, addr, room, read_str);
}

RTFN(load)
{
	return load_checked(FIRE(ctx), a, (int64_t)b, load_word);
}
