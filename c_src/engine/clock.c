/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time stamps: the processor's time stamp counter where it can be trusted, converted to nanoseconds
 * of CLOCK_MONOTONIC by a rate that is measured at the start and corrected from then on. A
 * correction changes the rate, so time never steps back. Elsewhere the system's clock (vDSO) is
 * used. There is one clock for all engines of a process.
 */
#include <pthread.h>
#include <stdio.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "clock.h"
#include "compiler.h"
#include "engine.h"

#define SETTLE 1000000ULL	/* ns between two samples, at least, to measure the rate */
#define EVERY  100000000ULL	/* ns between corrections */
#define LOST   (20 * 1000000LL) /* ns of error: the counter is not to be trusted */

struct en_clock en_clock = {.version = 1};
static _Atomic(int64_t) wall; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct moment {
	uint64_t tsc, ns;
};
static struct moment first;
static _Atomic(uint64_t) last_check;
static int usable = -1; /* not checked yet */

static uint64_t ns_of(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000 + (uint64_t)ts->tv_nsec;
}

PROBE_PATH static uint64_t system_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#ifdef __x86_64__
/* Invariant (constant rate in all power states), and used by the kernel too. */
static bool is_usable(void)
{
	unsigned a, b, c, d;
	char name[64] = "";
	FILE *f;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1 << 8))
		return false;
	f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (f == NULL)
		return true;
	if (fscanf(f, "%63s", name) != 1)
		name[0] = '\0';
	fclose(f);
	return strcmp(name, "tsc") == 0 || strcmp(name, "kvm-clock") == 0 || name[0] == '\0';
}
#else
static bool is_usable(void)
{
	return false;
}
#endif

/* Counter and clock at the same time: the tightest of several samples. */
static struct moment sample(void)
{
	struct moment m = {0};
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t a = clock_counter(), ns = system_now(), b = clock_counter();

		if (b - a < best) {
			best = b - a;
			m = (struct moment){.tsc = a + (b - a) / 2, .ns = ns};
		}
	}
	return m;
}

/*
 * Each reading bounds the difference from both sides. What is known is kept while it lies within these
 * bounds: engines that begin at different times, in one process or in several, have the same.
 */
static void sample_wall(void)
{
	int64_t low = INT64_MIN, high = INT64_MAX, is = atomic_load(&wall);
	struct timespec before, real, after;

	for (int i = 0; i < 8; i++) {
		int64_t least, most;

		clock_gettime(CLOCK_MONOTONIC, &before);
		clock_gettime(CLOCK_REALTIME, &real);
		clock_gettime(CLOCK_MONOTONIC, &after);
		least = (int64_t)(ns_of(&real) - ns_of(&after));
		most = (int64_t)(ns_of(&real) - ns_of(&before));
		if (least > high || most < low) /* the clock has been set meanwhile */
			low = INT64_MIN, high = INT64_MAX;
		low = least > low ? least : low;
		high = most < high ? most : high;
	}
	if (is < low || is > high)
		atomic_store(&wall, low + (high - low) / 2);
}

/* The next three are called with the lock held. */
static bool counting(void)
{
	return (atomic_load(&en_clock.version) & 1) == 0;
}

static void stop_counting(void)
{
	atomic_fetch_or(&en_clock.version, 1);
}

static void publish(uint64_t tsc, uint64_t ns, uint64_t per)
{
	uint64_t v = atomic_fetch_or(&en_clock.version, 1) | 1;

	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&en_clock.start, tsc, memory_order_relaxed);
	atomic_store_explicit(&en_clock.base, ns, memory_order_relaxed);
	atomic_store_explicit(&en_clock.rate, per, memory_order_relaxed);
	atomic_store_explicit(&en_clock.version, v + 1, memory_order_release);
}

static uint64_t rate_between(const struct moment *a, const struct moment *b)
{
	return (uint64_t)(((unsigned __int128)(b->ns - a->ns) << 60) / (b->tsc - a->tsc));
}

/* The first sample is taken when an engine is made; compiling takes up most of the wait. */
void clock_init(bool fast)
{
	struct moment m;

	pthread_mutex_lock(&lock);
	sample_wall();
	if (usable < 0)
		usable = is_usable();
	if (!usable || counting())
		goto out;
	if (first.ns == 0)
		first = sample();
	if (!fast)
		goto out;
	do {
		m = sample();
	} while (m.ns - first.ns < SETTLE);
	publish(m.tsc, m.ns, rate_between(&first, &m));
	last_check = m.ns;
out:
	pthread_mutex_unlock(&lock);
}

PROBE_PATH static inline uint64_t convert(uint64_t tsc, uint64_t from, uint64_t ns, uint64_t per)
{
	if (tsc < from) /* another CPU's counter, slightly behind */
		return ns;
	return ns + clock_ns(tsc - from, per);
}

void clock_check(void)
{
	struct moment m;
	uint64_t now, per;
	int64_t off, slew;

	if (system_now() - last_check < EVERY || pthread_mutex_trylock(&lock) != 0)
		return;
	sample_wall();
	m = sample();
	last_check = m.ns;
	if (!counting())
		goto out;
	now = convert(m.tsc, atomic_load(&en_clock.start), atomic_load(&en_clock.base),
		atomic_load(&en_clock.rate));
	off = (int64_t)(m.ns - now);
	if (m.tsc <= first.tsc || off > LOST || off < -LOST) { /* suspended, or migrated */
		usable = 0;
		stop_counting();
		goto out;
	}
	/* The rate over all the time so far, and what corrects the error within a second. */
	per = rate_between(&first, &m);
	slew = (int64_t)((__int128)per * off / 1000000000);
	publish(m.tsc, now, (uint64_t)((int64_t)per + slew));
out:
	pthread_mutex_unlock(&lock);
}

/* The clock is being corrected, another CPU's counter is slightly behind, or none is used. */
PROBE_PATH __attribute__((noinline)) uint64_t clock_now_slow(void)
{
	for (int i = 0; i < 4; i++) {
		uint64_t v = atomic_load_explicit(&en_clock.version, memory_order_acquire);
		uint64_t from = atomic_load_explicit(&en_clock.start, memory_order_relaxed);
		uint64_t ns = atomic_load_explicit(&en_clock.base, memory_order_relaxed);
		uint64_t per = atomic_load_explicit(&en_clock.rate, memory_order_relaxed);

		atomic_thread_fence(memory_order_acquire);
		if (!(v & 1) &&
			atomic_load_explicit(&en_clock.version, memory_order_relaxed) == v)
			return convert(clock_counter(), from, ns, per);
	}
	return system_now();
}

PROBE_PATH uint64_t en_now(void)
{
	return clock_now();
}

int64_t clock_wall(void)
{
	return atomic_load_explicit(&wall, memory_order_relaxed);
}

/* The only clock that costs a system call; only scripts that read vtimestamp pay for it. */
PROBE_PATH uint64_t clock_thread(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* From the thread's rseq area (glibc 2.35 and later) or the vDSO: no system call. */
PROBE_PATH unsigned en_cpu(void)
{
	int cpu = sched_getcpu();

	return cpu < 0 ? 0 : (unsigned)cpu;
}
