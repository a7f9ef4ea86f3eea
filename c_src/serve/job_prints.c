/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a script prints. It goes to the log, as lines that say whose they are, with control
 * characters escaped. So many a second: a script that prints without end fills no disk, and what is
 * left out is counted. The last lines are kept for alerts.
 */
#include "job.h"
#include "serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

enum {
	PRINTS_AT_ONCE = 200,
	PRINTS_EACH_MS = 100, /* then one each */
	PRINTS_TOLD_MS = 60000,
};

void job_prints_init(struct job_prints *p)
{
	p->rate = (struct web_rate){.n = PRINTS_AT_ONCE, .each_ms = PRINTS_EACH_MS};
}

/* ---- the log ---------------------------------------------------------------------------- */

/* What could move the cursor or set a title, for those who read the log on a terminal, is \xNN. */
static void put_escaped(const char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_len((const unsigned char *)text + i, len - i);
		if (n > 0) {
			fwrite(text + i, 1, n, stdout);
		} else {
			printf("\\x%02x", (unsigned char)text[i]);
			n = 1;
		}
	}
}

/* SCRIPT: TEXT, or SCRIPT NODE: TEXT */
static void put_line(const struct job *j, const char *text, size_t len)
{
	put_escaped(j->script, strlen(j->script));
	if (j->v->nmembers > 1)
		printf(" %s", j->target);
	fputs(": ", stdout);
	put_escaped(text, len);
	putchar('\n');
}

static void end_line(struct job *j)
{
	struct job_prints *p = &j->prints;

	if (web_allowed(&p->rate)) {
		put_line(j, p->line, p->n);
	} else {
		p->left_out++;
		p->untold++;
	}
	p->n = 0;
}

/* A line that is too long becomes several; no character of UTF-8 is parted. */
static void put_text(struct job *j, const char *text)
{
	struct job_prints *p = &j->prints;

	for (; *text != '\0'; text++) {
		bool begins = !utf8_is_tail(*text);

		if (*text == '\n' || p->n == JOB_PRINT_MAX || (begins && p->n > JOB_PRINT_MAX - 4))
			end_line(j);
		if (*text != '\n')
			p->line[p->n++] = *text;
	}
	fflush(stdout);
}

void job_print_rest(struct job *j)
{
	if (j->prints.n > 0)
		end_line(j);
	fflush(stdout);
}

void job_tell_left_out(struct job *j, int64_t now)
{
	struct job_prints *p = &j->prints;

	if (p->untold == 0 || (p->told_at != 0 && now - p->told_at < PRINTS_TOLD_MS))
		return;
	serve_say("%s: %s: %" PRIu64 " lines that it printed are left out: they are more than %d a "
		  "second",
		j->path, j->target, p->untold, 1000 / PRINTS_EACH_MS);
	p->untold = 0;
	p->told_at = now;
}

/* ---- for alerts ------------------------------------------------------------------------- */

void job_keep_line(struct job *j, const char *text)
{
	struct job_line *l = &j->lines_kept[j->nlines++ % JOB_LINES];
	size_t line = strcspn(text, "\n"), room = utf8_cut(text, sizeof(l->text) - 1);

	l->at = serve_ms();
	snprintf(l->text, sizeof(l->text), "%.*s", (int)(line < room ? line : room), text);
}

char *job_recorded(const struct job *j)
{
	unsigned first = j->nlines > JOB_LINES ? j->nlines - JOB_LINES : 0;
	int64_t since = serve_ms() - JOB_RECORDED_MS;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (unsigned i = first; f != NULL && i < j->nlines; i++)
		if (j->lines_kept[i % JOB_LINES].at >= since)
			fprintf(f, "%s\n", j->lines_kept[i % JOB_LINES].text);
	if (f != NULL && fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

void job_prints(struct job *j, const char *text)
{
	put_text(j, text);
	job_keep_line(j, text);
}
