/* SPDX-License-Identifier: Apache-2.0 */
/* What is said: the audit log, a line a login and two a run; messages for who started us; time. */
#include "web.h"

#include <stdarg.h>
#include <time.h>

int64_t web_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

bool web_allowed(struct web_rate *r)
{
	int64_t now = web_ms(), more;

	if (r->at == 0) {
		r->at = now;
		r->left = r->n;
	}
	more = (now - r->at) / r->each_ms;
	if (more > 0) {
		r->left = r->left + more > r->n ? r->n : r->left + (int)more;
		r->at += more * r->each_ms;
	}
	if (r->left == 0)
		return false;
	r->left--;
	return true;
}

void web_say(const char *fmt, ...)
{
	va_list ap;

	fputs("erltrace: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void web_log(struct web *w, const char *fmt, ...)
{
	char when[32];
	time_t now = time(NULL);
	struct tm tm;
	va_list ap;

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(w->log, "%s ", when);
	va_start(ap, fmt);
	vfprintf(w->log, fmt, ap);
	va_end(ap);
	fputc('\n', w->log);
	fflush(w->log);
}
