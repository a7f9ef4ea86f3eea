/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: bytes as a file of events. Whatever they are, the answer is a file whose events
 * are in order and whose fields are what they should be, or an error with a tag, a text and a line.
 * What is a term in it is read as one, printed, matched, and compared with itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"
#include "replay/file_terms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_into(struct rp_file *f, struct rp_term *t)
{
	struct term_value v = {.kind = VALUE_TERM, .term = {t, 0}};
	struct term_value var[PAT_VARS];
	unsigned steps = SAME_STEPS;
	char text[300];
	int same;

	if (t->text->len == 0 || rp_term_read(f, t) != NULL)
		return;
	rp_print(f, &v, text, sizeof(text));
	if (strlen(text) >= sizeof(text))
		abort();
	rp_chars(f, &v, text, 16);
	rp_chars_are(f, &v, "abc", 3);
	rp_match(f, &t->pat, &v, var); /* keys may be there twice: then it does not match itself */
	same = rp_same(f, &v, &v, &steps);
	if (same != 1)
		abort();
}

static void check(struct rp_file *f)
{
	uint64_t last = 0;

	for (size_t i = 0; i < f->nevents; i++) {
		const struct rp_event *ev = &f->events[i];

		if (ev->at < last || ev->at > f->end || ev->probe == NULL)
			abort();
		last = ev->at;
		for (unsigned k = 0; k < ev->nfields; k++) {
			const struct rp_field *v = &ev->fields[k];

			if (rp_field(ev, v->what, v->n) == NULL)
				abort();
			if (v->what == RP_STACK)
				for (uint32_t n = 1; n <= v->frames[0]; n++)
					if (v->frames[n] == 0 || v->frames[n] > f->nframes)
						abort();
			if (v->what == RP_ERLARG)
				look_into(f, v->term);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct et_error e = {.tag = ""};
	char *text = malloc(size + 1);
	struct rp_file *f;

	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	f = rp_file_parse("x.events", text, size, &e);
	if (f != NULL)
		check(f);
	else if (e.tag[0] == '\0' || e.text[0] == '\0' ||
		 (e.line == 0 && strcmp(e.tag, "ET_NOMEM") != 0))
		abort();
	rp_file_free(f);
	free(text);
	return 0;
}
