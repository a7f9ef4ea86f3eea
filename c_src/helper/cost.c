/* SPDX-License-Identifier: Apache-2.0 */
#include "cost.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "api/in_node.h"
#include "erltrace.h"

#define IDLE 2 /* half of one processor's time at least counts as busy */
#define MS   1000000ULL
enum { LEAST_MS = 100, MOST_MS = 1000 };
#define LEAST_PATIENCE (1000 * MS)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t ns_of(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000 + (uint64_t)tv.tv_usec * 1000;
}

/* The helper runs one script: whatever it has used is the script's. */
uint64_t cost_spent(struct erltrace *h)
{
	struct rusage ru = {0};

	getrusage(RUSAGE_SELF, &ru);
	return ns_of(ru.ru_utime) + ns_of(ru.ru_stime) + api_kernel_cost(h);
}

/* ns that all processors have been busy since the machine started; 0: it is not told here. */
static uint64_t busy_time(void)
{
	uint64_t user = 0, nice = 0, system = 0, idle, iowait, irq = 0, softirq = 0;
	uint64_t tick = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	char line[512];
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;

	if (fd >= 0)
		close(fd);
	line[n > 0 ? n : 0] = '\0';
	if (sscanf(line,
		    "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		    " %" SCNu64,
		    &user, &nice, &system, &idle, &iowait, &irq, &softirq) != 7)
		return 0;
	return (user + nice + system + irq + softirq) * tick;
}

static uint64_t watchtime(struct erltrace *h)
{
	return api_option(h, OPT_WATCHTIME);
}

/* On a busy machine a process may wait for a while. */
static uint64_t patience(struct erltrace *h)
{
	return watchtime(h) > LEAST_PATIENCE ? watchtime(h) : LEAST_PATIENCE;
}

void cost_go(struct cost *c, struct erltrace *h)
{
	uint64_t now = now_ns();

	api_beat(h, patience(h));
	*c = (struct cost){.window[0] = {now, cost_spent(h), busy_time()},
		.n = 1,
		.read = now,
		.next = now,
		.ms = LEAST_MS};
}

void cost_read(struct cost *c, struct erltrace *h)
{
	c->read = now_ns();
	c->drops = api_lost(h);
}

static struct cost_window *window(struct cost *c, unsigned n)
{
	return &c->window[n % (COST_WINDOWS + 1)];
}

static unsigned permille(const struct cost_window *then, const struct cost_window *now)
{
	uint64_t ns = now->at - then->at, busy = now->busy - then->busy;

	if (now->busy == 0) /* it is not known: as if all were */
		busy = ns * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (busy < ns / IDLE)
		busy = ns / IDLE;
	return busy == 0 ? 0 : (unsigned)((now->cost - then->cost) * 1000 / busy);
}

/* Has it taken more than it may, for a watchtime? */
static bool is_too_much(struct cost *c, struct erltrace *h, uint64_t now)
{
	uint64_t limit = api_option(h, OPT_WATCHDOG);
	struct cost_window here;
	bool over;

	if (now - window(c, c->n - 1)->at < watchtime(h) / COST_WINDOWS)
		return false; /* this window is not over */
	here = (struct cost_window){now, cost_spent(h), busy_time()};
	c->permille = permille(window(c, c->n - 1), &here);
	c->mean =
		c->n > COST_WINDOWS ? permille(window(c, c->n), &here) : 0; /* from the oldest on */
	over = limit != 0 && c->mean > 10 * limit;
	*window(c, c->n++) = here;
	return over;
}

static bool is_unread(const struct cost *c, struct erltrace *h, uint64_t now)
{
	uint64_t silence = api_option(h, OPT_SILENCE);

	return silence != 0 && now - c->read > silence && api_lost(h) > c->drops;
}

/* Few looks where little happens, but ten in a watchtime. */
static void look_again(struct cost *c, struct erltrace *h, uint64_t now, bool news)
{
	uint64_t most = watchtime(h) / COST_WINDOWS / MS;

	c->ms = news ? LEAST_MS : 2 * c->ms < MOST_MS ? 2 * c->ms : MOST_MS;
	if (c->ms > most)
		c->ms = most > 10 ? (unsigned)most : 10;
	c->next = now + c->ms * MS;
}

enum cost_look cost_look(struct cost *c, struct erltrace *h, char *why, size_t size)
{
	uint64_t now = now_ns(), fired = api_fired(h);
	bool news = fired != c->fired;

	if (!api_beat(h, patience(h))) {
		snprintf(why, size,
			"Abort due to systemic unresponsiveness: the helper for probes of the kernel "
			"did not get to run for %.3g s (watchtime)",
			(double)patience(h) / 1e9);
		return COST_ABORT;
	}
	if (now < c->next)
		return COST_NOT_YET;
	c->fired = fired;
	look_again(c, h, now, news);
	if (is_too_much(c, h, now)) {
		snprintf(why, size,
			"Abort due to systemic unresponsiveness: probes took %u %% of the "
			"processors' "
			"busy time for %.3g s, more than watchdog=%u allows",
			c->mean / 10, (double)watchtime(h) / 1e9,
			(unsigned)api_option(h, OPT_WATCHDOG));
		return COST_ABORT;
	}
	if (is_unread(c, h, now)) {
		snprintf(why, size,
			"Abort due to systemic unresponsiveness: records were dropped, and nobody "
			"read any for %.3g s (silence)",
			(double)api_option(h, OPT_SILENCE) / 1e9);
		return COST_ABORT;
	}
	return news ? COST_NEWS : COST_NOTHING;
}

unsigned cost_due(const struct cost *c)
{
	uint64_t now = now_ns();

	return now >= c->next ? 0 : (unsigned)((c->next - now) / MS) + 1;
}
