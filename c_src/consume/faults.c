/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults, errors and drops told in DTrace's words. Messages have no prefix and no newline: the
 * command adds them.
 */
#include "consumer.h"

#include <stdarg.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggs.h"
#include "faults.h"

/* "error on enabled probe ID E (ID P: a:b:c:d): ..." to the fault handler. */
static int tell_fault(struct co_rec *r, erltrace_fault_t *f, const char *what)
{
	struct co *co = r->co;
	const erltrace_probe_info_t *p = &r->ev.probe;
	struct co_buf msg = {.terminal = true}; /* people read it on one, mostly */

	if (co->h.fault == NULL || co->rv != 0)
		return co->rv;
	cb_fmt(&msg, "error on enabled probe ID %u (ID %u: ", r->at.epid, p->id);
	cb_data(&msg, p->provider, strlen(p->provider));
	cb_str(&msg, ":");
	cb_data(&msg, p->module, strlen(p->module));
	cb_str(&msg, ":");
	cb_data(&msg, p->function, strlen(p->function));
	cb_str(&msg, ":");
	cb_data(&msg, p->name, strlen(p->name));
	cb_str(&msg, "): ");
	cb_data(&msg, what, strlen(what));
	cb_put(&msg, "", 1);
	f->event = r->ev;
	f->file = r->at.clause->file;
	f->message = msg.nomem ? what : msg.p;
	co_flush(co); /* text before it comes first */
	if (co->rv == 0)
		co->rv = co->h.fault(co->h.arg, f);
	cb_free(&msg);
	return co->rv;
}

int te_error(struct co_rec *r, const char *fmt, ...)
{
	erltrace_fault_t f = {.fault = "library-level fault", .line = r->at.clause->line};
	char what[1400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return tell_fault(r, &f, what);
}

static const char *fault_words(const struct rec_error *err)
{
#define X(id, n, text) [n] = text,
	static const char *const words[] = {FAULTS(X)};
	static const char *const of_terms[] = {TERM_FAULTS(X)};
#undef X
	const char *w = NULL;

	if (err->fault == FAULT_TERM &&
		TERM_WHAT(err->addr) < sizeof(of_terms) / sizeof(of_terms[0]))
		w = of_terms[TERM_WHAT(err->addr)];
	else if (err->fault < sizeof(words) / sizeof(words[0]))
		w = words[err->fault];
	return w != NULL ? w : words[0];
}

/* " (why)": which address, or who looked for the term. */
static void say_why(const struct rec_error *err, char *buf, size_t size)
{
#define X(id, n, text) [n] = text,
	static const char *const from[] = {TERM_FROM(X)};
#undef X
	uint64_t i = TERM_WHENCE(err->addr);

	buf[0] = '\0';
	if (err->fault == FAULT_BADADDR || err->fault == FAULT_BADALIGN ||
		err->fault == FAULT_BADSTACK)
		snprintf(buf, size, " (0x%llx)", (unsigned long long)err->addr);
	else if (err->fault == FAULT_TERM && i > 0 && i < sizeof(from) / sizeof(from[0]))
		snprintf(buf, size, " (%s)", from[i]);
}

/* " (line N of FILE)", but for the one line of -n: that is all there is. */
static void say_where(const struct prog_clause *c, int line, char *buf, size_t size)
{
	buf[0] = '\0';
	if (c->file != NULL && c->file[0] != '\0')
		snprintf(buf, size, " (line %d of %s)", line, c->file);
	else if (line > 1)
		snprintf(buf, size, " (line %d)", line);
}

int te_fault(struct co_rec *r)
{
	const struct prog_clause *c = r->at.clause;
	struct rec_error err;
	erltrace_fault_t f = {0};
	char what[640], why[80], where[32] = "predicate", line[320];

	if (r->head->size < sizeof(*r->head) + sizeof(err))
		return 0;
	memcpy(&err, r->head + 1, sizeof(err));
	f.fault = fault_words(&err);
	f.address = err.fault != FAULT_TERM ? err.addr : 0;
	f.pc = err.pc;
	f.line = c->lines != NULL && err.pc < c->ninsns ? c->lines[err.pc] : c->line;
	say_why(&err, why, sizeof(why));
	say_where(c, f.line, line, sizeof(line));
	if (err.action != 0)
		snprintf(where, sizeof(where), "action #%u", err.action);
	snprintf(
		what, sizeof(what), "%s%s in %s at BPF pc %u%s", f.fault, why, where, err.pc, line);
	return tell_fault(r, &f, what);
}

/* ---- drops ---------------------------------------------------------------------------- */

#define CLEAN_HELP                                                                                 \
	"-x cleanrate=RATE frees deleted variables sooner, -x dynvarsize=SIZE makes more room"

static const struct {
	const char *kind, *one, *more; /* "N " one "s"; what follows */
	const char *help;	       /* the option that helps, or NULL */
} drop_words[DROP_KINDS] = {
	[DROP_PRINCIPAL] = {"PRINCIPAL", "drop", "", "-x bufsize=SIZE makes the buffers larger"},
	[DROP_AGGREGATION] = {"AGGREGATION", "aggregation drop", "",
		"-x aggsize=SIZE makes the tables larger"},
	[DROP_DYNAMIC] = {"DYNAMIC", "dynamic variable drop", "",
		"-x dynvarsize=SIZE makes more room"},
	[DROP_DYNRINSE] = {"DYNRINSE", "dynamic variable drop", " with non-empty rinsing list",
		CLEAN_HELP},
	[DROP_DYNDIRTY] = {"DYNDIRTY", "dynamic variable drop", " with non-empty dirty list",
		CLEAN_HELP},
	[DROP_SPEC] = {"SPEC", "speculative drop", "", "-x specsize=SIZE makes the buffers larger"},
	[DROP_SPECBUSY] = {"SPECBUSY", "failed speculation", " (available buffer(s) still busy)",
		"-x nspec=N makes more"},
	[DROP_SPECUNAVAIL] = {"SPECUNAVAIL", "failed speculation",
		" (no speculative buffer available)", "-x nspec=N makes more"},
	[DROP_DBLERROR] = {"DBLERROR", "error", " in ERROR probe enabling", NULL},
	[DROP_STKSTROVERFLOW] = {"STKSTROVERFLOW", "jstack()/ustack() string table overflow", "",
		"-x jstackstrsize=SIZE makes more room"},
	[DROP_THREADS] = {"THREADS", "drop", " of threads beyond maxthreads",
		"-x maxthreads=N allows more"},
	[DROP_FLOWS] = {"FLOWS", "flow drop", " for want of room", "-x flows=N makes more"},
	[DROP_FLOWHOPS] = {"FLOWHOPS", "flow drop",
		" of messages and spawns beyond those that a request may have",
		"-x flowhops=N allows more"},
	[DROP_FLOWTOKENS] = {"FLOWTOKENS", "request",
		" not followed: the process has a sequential trace token of its own", NULL},
	[DROP_TIMERS] = {"TIMERS", "timer", " without room: how late they were is not known", NULL},
	[DROP_SAMPLES] = {"SAMPLES", "sample drop", "", "fewer a second, as profile-97, fit"},
	[DROP_MISSED] = {"MISSED", "firing",
		" left out by the kernel: tracing itself had called the function, or had been "
		"interrupted",
		NULL},
	[DROP_RATE] = {"RATE", "drop", "",
		"-x maxrate=N sets another bound"}, /* te_drops says how many are too many */
};

static const char *node_of(const struct co *co, unsigned stream)
{
	return co->from->node != NULL ? co->from->node(co->of, stream) : NULL;
}

/* cpu -1: of no thread. */
static int tell_drop(struct co *co, enum en_drop kind, unsigned stream, int cpu, uint64_t total,
	uint64_t *told, const char *more, const char *help)
{
	char msg[256], where[32] = "";
	erltrace_drop_t d = {.kind = drop_words[kind].kind, .cpu = cpu, .total = total};

	d.node = node_of(co, stream);
	d.drops = total - *told;
	if (d.drops == 0 || co->rv != 0)
		return co->rv;
	*told = total;
	if (co->h.drop == NULL)
		return 0;
	if (cpu >= 0)
		snprintf(where, sizeof(where), " on CPU %d", cpu);
	snprintf(msg, sizeof(msg), "%llu %s%s%s%s%s%s", (unsigned long long)d.drops,
		drop_words[kind].one, d.drops > 1 ? "s" : "", where, more, help ? ": " : "",
		help ? help : "");
	d.message = msg;
	if (co_flush(co) == 0)
		co->rv = co->h.drop(co->h.arg, &d);
	return co->rv;
}

/* What providers have heard of elsewhere, and what has no names. */
static void tell_news(struct co *co)
{
	char line[512];
	erltrace_drop_t d = {.kind = "NODE", .cpu = -1, .message = line};
	unsigned stream;

	while (co->rv == 0 && co->from->news(co->of, line, sizeof(line), &stream)) {
		d.node = node_of(co, stream);
		if (co->h.drop != NULL && co_flush(co) == 0)
			co->rv = co->h.drop(co->h.arg, &d);
	}
	d.kind = "SYMBOLS";
	d.node = NULL;
	while (co->rv == 0 && sy_news(co->sy, line, sizeof(line)))
		if (co->h.drop != NULL && co_flush(co) == 0)
			co->rv = co->h.drop(co->h.arg, &d);
}

static void drops_of_thread(struct co *co, unsigned thread)
{
	struct co_thread *t = co_thread_of(co, thread);
	unsigned stream, cpu = co_cpu(co, thread, &stream);

	for (unsigned kind = DROP_PRINCIPAL; t != NULL && kind <= DROP_AGGREGATION; kind++)
		tell_drop(co, kind, stream, (int)cpu, co->from->drops(co->of, thread, kind),
			&t->told[kind], "", drop_words[kind].help);
}

static void drops_of_stream(struct co *co, unsigned stream)
{
	char rate[96];

	snprintf(rate, sizeof(rate), " beyond %llu records a second",
		(unsigned long long)co_opt(co, OPT_MAXRATE));
	for (unsigned kind = DROP_DYNAMIC; kind < DROP_KINDS; kind++)
		tell_drop(co, kind, stream, -1, co->from->drops(co->of, stream, kind),
			&co->told[stream][kind], kind == DROP_RATE ? rate : drop_words[kind].more,
			drop_words[kind].help);
}

/* Those of the table that all are merged into. */
static int merge_drops(struct co *co)
{
	return tell_drop(co, DROP_AGGREGATION, UINT_MAX, -1, ag_drops(co->ag), &co->agg_told,
		" of the merged table", "-x aggmax=SIZE makes it larger");
}

int te_drops(struct co *co, bool final)
{
	uint64_t now = en_now();
	unsigned n = co->from->threads(co->of), streams = co_streams(co);

	if (!final && co->last_status != 0 && now - co->last_status < co_opt(co, OPT_STATUSRATE))
		return co->rv;
	co->last_status = now;
	for (unsigned i = 0; i < n && co->rv == 0; i++)
		drops_of_thread(co, i);
	tell_news(co);
	for (unsigned i = 0; i < streams && co->rv == 0; i++)
		drops_of_stream(co, i);
	return merge_drops(co);
}
