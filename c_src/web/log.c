/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said: the audit log, a line a login and two a run, and of refusals so many that nobody
 * fills a disk by them; messages for who started us; time.
 */
#include "web.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "utf8.h"

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

void web_to_utf8(char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_valid((unsigned char *)text + i, len - i);
		if (n == 0 || text[i] == '\0') {
			text[i] = '?';
			n = 1;
		}
	}
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

void web_library_says(const char *who, const char *line)
{
	static struct web_told told = {
		.rate = {.n = WEB_LIBRARY_LINES, .each_ms = WEB_LIBRARY_EACH_MS}};
	int len = (int)strcspn(line, "\n");

	if (!web_allowed(&told.rate)) {
		told.more++;
		return;
	}
	if (told.more > 0)
		web_say("%s: %.*s (%lu more lines were left out before)", who, len, line,
			told.more);
	else
		web_say("%s: %.*s", who, len, line);
	told.more = 0;
}

static void log_line(struct web *w, const char *fmt, va_list ap, unsigned long more)
{
	char when[32];
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(w->log, "%s ", when);
	vfprintf(w->log, fmt, ap);
	if (more > 0)
		fprintf(w->log, " more=%lu", more);
	fputc('\n', w->log);
	if (fflush(w->log) == 0) {
		w->log_fails = false;
	} else if (!w->log_fails) { /* said once */
		web_say("the log cannot be written: %s", strerror(errno));
		w->log_fails = true;
	}
}

void web_log(struct web *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(w, fmt, ap, 0);
	va_end(ap);
}

void web_tell(struct web *w, struct web_told *t, const char *fmt, ...)
{
	va_list ap;

	if (!web_allowed(&t->rate)) {
		t->more++;
		return;
	}
	va_start(ap, fmt);
	log_line(w, fmt, ap, t->more);
	va_end(ap);
	t->more = 0;
}

void web_tell_more(struct web *w)
{
	if (w->log != NULL && w->refusals.more > 0)
		web_log(w, "refused more=%lu", w->refusals.more);
	if (w->log != NULL && w->displaced.more > 0)
		web_log(w, "displaced more=%lu", w->displaced.more);
}
