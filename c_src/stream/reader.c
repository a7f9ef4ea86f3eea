/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "consume/percentile.h"
#include "consume/value.h"
#include "engine/clock.h"
#include "permitted.h"
#include "prog/aggfn.h"
#include "source.h"

enum {
	MOST_EPIDS = 1 << 20,
	MOST_THREADS = 1 << 16,
	MOST_WAITING = 1 << 23, /* words of a stream: behind an END that waits comes little */
};

#define WAIT_NS (ERLTRACE_FEED_WAIT_MS * UINT64_C(1000000))

struct probe {
	struct co_at at;
	bool is_common; /* probes of all nodes fire at the same time */
	bool is_end;
};

struct sr {
	struct et_options *opts;
	struct st_permits permits;
	struct sr_source *v[SR_SOURCES];
	unsigned n;
	const struct prog *prog; /* of the stream that came first; NULL: none has */
	struct probe *probes; /* by epid - 1 */
	size_t nprobes;
	uint64_t (*drops)[2]; /* by thread: PRINCIPAL and AGGREGATION */
	struct owner {
		struct sr_source *of;
		uint32_t cpu; /* as it is called there */
	} *owners; /* by thread */
	size_t ndrops;
	struct sr_source *current; /* whose record or key is under way */
	struct sy *sy;		   /* of the consumer; NULL: none yet */
};

struct sr *sr_new(struct et_options *opts, unsigned streams)
{
	struct sr *r = streams > 0 && streams <= SR_SOURCES ? calloc(1, sizeof(*r)) : NULL;

	if (r == NULL)
		return NULL;
	r->opts = opts;
	for (; r->n < streams; r->n++) {
		r->v[r->n] = calloc(1, sizeof(*r->v[0]));
		if (r->v[r->n] == NULL) {
			sr_free(r);
			return NULL;
		}
		r->v[r->n]->code = -1;
	}
	return r;
}

void sr_free(struct sr *r)
{
	if (r == NULL)
		return;
	for (unsigned i = 0; i < r->n; i++) {
		struct sr_source *s = r->v[i];

		free(s->node);
		st_free(&s->mem);
		cb_free(&s->in);
		st_names_free(&s->names);
		st_news_free(&s->news);
		free(s->epids);
		free(s->threads);
		sq_free(s);
		free(s);
	}
	st_permits_free(&r->permits);
	free(r->probes);
	free(r->drops);
	free(r->owners);
	free(r);
}

int sr_permit(struct sr *r, const char *action, const char *format)
{
	return st_permit(&r->permits, action, format);
}

int sr_name(struct sr *r, unsigned n, const char *node)
{
	struct sr_source *s = n < r->n ? r->v[n] : NULL;

	if (s != NULL && s->node == NULL)
		s->node = strdup(node);
	return s != NULL && s->node == NULL ? -1 : 0;
}

const struct prog *sr_program(const struct sr *r)
{
	return r->prog;
}

unsigned sr_streams(const struct sr *r)
{
	return r->n;
}

uint64_t sr_fired(const struct sr *r, unsigned n)
{
	return n < r->n ? r->v[n]->fired : 0;
}

double sr_cost(const struct sr *r, unsigned n)
{
	return n < r->n ? r->v[n]->permille / 10.0 : -1;
}

uint64_t sr_gathered(const struct sr *r, unsigned n)
{
	return n < r->n ? r->v[n]->gathered : 0;
}

bool sr_came(const struct sr *r, unsigned n)
{
	return n < r->n && r->v[n]->came;
}

void sr_ticked(struct sr *r, unsigned n)
{
	if (n < r->n)
		r->v[n]->came = false;
}

/* ---- frames ------------------------------------------------------------------------------- */

enum { BAD = -EINVAL, OTHER = -EXDEV, NEWER = -EPROTO, REFUSED = -EPERM };

static int get_head(struct sr *r, struct sr_source *s, struct sb *b)
{
	bool nomem = false;
	struct st_mem *mem = NULL;
	char *node;

	(void)r;
	if (s->begun || sb_get32(b) != STREAM_MAGIC)
		return BAD;
	if (sb_get16(b) != STREAM_VERSION)
		return b->bad ? BAD : NEWER;
	node = st_text(&mem, b, &nomem);
	if (s->node == NULL && node != NULL)
		s->node = strdup(node);
	st_free(&mem);
	s->begun = true;
	return nomem ? -ENOMEM : b->bad || s->node == NULL ? BAD : 0;
}

static int get_program(struct sr *r, struct sr_source *s, struct sb *b)
{
	int rc;

	if (s->has_program)
		return BAD;
	s->has_program = true;
	rc = st_get_program(b, &s->prog, r->prog == NULL ? r->opts : NULL, &s->mem);
	if (rc != 0)
		return rc;
	if (!st_is_permitted(&r->permits, &s->prog))
		return REFUSED;
	if (r->prog == NULL)
		r->prog = &s->prog;
	return st_same_script(r->prog, &s->prog) ? 0 : OTHER;
}

static bool is_common(const struct co_at *at)
{
	return strcmp(at->probe.provider, "profile") == 0 ||
	       (strcmp(at->probe.provider, "dtrace") == 0 &&
		       strcmp(at->probe.name, "ERROR") != 0);
}

static bool is_end(const struct co_at *at)
{
	return strcmp(at->probe.provider, "dtrace") == 0 && strcmp(at->probe.name, "END") == 0;
}

static int get_probe(struct sr *r, struct sr_source *s, struct sb *b)
{
	struct co_at at = {0};
	uint32_t epid = sb_get32(b), clause = sb_get32(b), n;
	const char **types = NULL;
	size_t was = s->nepids;
	bool nomem = false;

	at.probe.id = sb_get32(b);
	at.probe.provider = st_text(&s->mem, b, &nomem);
	at.probe.module = st_text(&s->mem, b, &nomem);
	at.probe.function = st_text(&s->mem, b, &nomem);
	at.probe.name = st_text(&s->mem, b, &nomem);
	n = sb_get32(b);
	at.probe.nargs = (int32_t)n < 0 ? -1 : (int)n;
	if (b->bad || epid == 0 || epid > MOST_EPIDS || clause >= s->prog.nclauses ||
		at.probe.nargs > 10 || at.probe.provider == NULL || at.probe.module == NULL ||
		at.probe.function == NULL || at.probe.name == NULL)
		return nomem ? -ENOMEM : BAD;
	if (at.probe.nargs > 0 && (types = st_alloc(&s->mem, n * sizeof(*types))) == NULL)
		return -ENOMEM;
	for (int i = 0; i < at.probe.nargs; i++)
		types[i] = st_text(&s->mem, b, &nomem);
	at.probe.argtypes = types;
	if (b->bad)
		return BAD;
	if (nomem || !ARRAY_RESERVE(s->epids, s->nepids, (size_t)epid + 1))
		return -ENOMEM;
	memset(s->epids + was, 0, (s->nepids - was) * sizeof(*s->epids));
	if (s->epids[epid] != 0 || r->nprobes >= UINT32_MAX)
		return BAD;
	if (!ARRAY_ROOM(r->probes, r->nprobes))
		return -ENOMEM;
	at.epid = r->n > 1 ? (uint32_t)r->nprobes + 1 : epid;
	at.clause = s->prog.clauses[clause];
	at.node = r->n > 1 ? s->node : NULL;
	r->probes[r->nprobes++] = (struct probe){at, is_common(&at), is_end(&at)};
	s->epids[epid] = (uint32_t)r->nprobes;
	return 0;
}

/* NAME or PROCESS, when what has it is next. Without room for it an address is a number. */
static void learn(struct sr_source *s, struct sr_item *item)
{
	struct sb b = {sq_contents(item), item->len, false};
	uint64_t of = sb_get64(&b);
	uint8_t form = item->kind == STREAM_PROCESS ? ST_PROCESS : sb_get8(&b);
	uint32_t len = sb_get_count(&b, 1);
	const char *text = sb_get(&b, len);

	if (!b.bad && s->names.n < ST_NAMES && st_name(&s->names, of, form) == NULL)
		st_name_add(&s->names, of, form, text != NULL ? text : "", len);
}

static bool add_thread(struct sr *r, struct sr_source *s, uint32_t thread)
{
	if (!ARRAY_ROOM(r->drops, r->ndrops) || !ARRAY_ROOM(r->owners, r->ndrops))
		return false;
	r->owners[r->ndrops] = (struct owner){s, thread};
	r->drops[r->ndrops][0] = r->drops[r->ndrops][1] = 0;
	s->threads[thread] = (uint32_t)++r->ndrops;
	return true;
}

/* Its number here + 1: of one stream its own, of several they are in the order in which they come. 0: out of memory. */
static uint32_t thread_of(struct sr *r, struct sr_source *s, uint32_t thread)
{
	size_t was = s->nthreads;

	if (!ARRAY_RESERVE(s->threads, s->nthreads, (size_t)thread + 1))
		return 0;
	memset(s->threads + was, 0, (s->nthreads - was) * sizeof(*s->threads));
	if (s->threads[thread] != 0)
		return s->threads[thread];
	for (uint32_t i = r->n == 1 ? (uint32_t)r->ndrops : thread; i <= thread; i++)
		if (!add_thread(r, s, i))
			return 0;
	return s->threads[thread];
}

static int merged_drops(struct sr_source *s, uint64_t total)
{
	uint64_t more = total - s->merged_drops;
	char text[160];
	int n = snprintf(text, sizeof(text),
		"%" PRIu64 " aggregation drop%s of the merged table: -x aggmax=SIZE makes it larger",
		more, more == 1 ? "" : "s");

	n = st_news_add(&s->news, text, (size_t)n);
	if (n == 0)
		s->merged_drops = total;
	return n < 0 ? n : 0;
}

static int get_drops(struct sr *r, struct sr_source *s, struct sb *b)
{
	uint32_t thread = sb_get32(b), kind = sb_get32(b), at;
	uint64_t total = sb_get64(b);

	if (b->bad || kind >= DROP_KINDS)
		return BAD;
	if (thread == UINT32_MAX && kind == DROP_AGGREGATION)
		return merged_drops(s, total);
	if (kind > DROP_AGGREGATION) {
		s->other_drops[kind] = total;
		return 0;
	}
	if (thread >= MOST_THREADS)
		return BAD;
	at = thread_of(r, s, thread);
	if (at == 0)
		return -ENOMEM;
	r->drops[at - 1][kind] = total;
	return 0;
}

static int get_seen(struct sr_source *s, struct sb *b)
{
	s->seen.ns = sb_get64(b);
	s->seen.events = sb_get64(b);
	s->seen.looks.rounds = sb_get64(b);
	s->seen.looks.whole = sb_get64(b);
	s->seen.looks.things = sb_get64(b);
	s->seen.looks.now = sb_get64(b);
	s->seen.looks.there = sb_get64(b);
	return 0;
}

static int get_time(struct sr_source *s, struct sb *b)
{
	struct sr_time t = {sb_get64(b), sb_get64(b)};

	s->fired = sb_get64(b);
	sb_get32(b); /* threads */
	s->permille = sb_get32(b);
	if (b->bad)
		return BAD;
	if (s->time.wall == 0)
		s->time = t;
	s->upto = t.wall;
	if (s->late)
		s->late_upto = t.wall;
	s->late = false;
	s->came = true;
	return sq_put(s, STREAM_TIME, &t, sizeof(t)) ? 0 : -ENOMEM;
}

static bool is_record(const struct sr_source *s, const struct rec_head *h, size_t left)
{
	size_t least = sizeof(*h) + (h->flags & REC_PROCESS ? sizeof(struct rec_process) : 0);

	return h->size >= least && h->size <= left && h->size % 8 == 0 &&
	       (h->kind == REC_DATA || h->kind == REC_ERROR) && h->epid < s->nepids &&
	       s->epids[h->epid] != 0;
}

/* Records are what they say they are. */
static int get_records(struct sr_source *s, struct sb *b)
{
	uint32_t thread = sb_get32(b);
	const uint8_t *p = b->p;
	size_t len = b->left, at = 0;
	struct rec_head h;

	if (b->bad || thread >= MOST_THREADS)
		return BAD;
	if (!sq_put(s, STREAM_RECORDS, p, len))
		return -ENOMEM;
	for (; at < len; at += h.size) {
		if (len - at < sizeof(h))
			break;
		memcpy(&h, p + at, sizeof(h));
		if (!is_record(s, &h, len - at))
			break;
		/* the thread stands where a record of a speculation has the number of that */
		h.spec = thread;
		memcpy((uint8_t *)(s->queue.words + s->queue.n) - (len + 7) / 8 * 8 + at, &h,
			sizeof(h));
	}
	if (at == len && len > 0)
		return 0;
	sq_take_back(s, len);
	return BAD;
}

static int get_frame(struct sr *r, struct sr_source *s, enum stream_frame kind, struct sb *b)
{
	int rc;

	if (kind == STREAM_HEAD)
		return get_head(r, s, b);
	if (!s->begun || s->ended || (kind != STREAM_PROGRAM && !s->has_program))
		return BAD;
	switch (kind) {
	case STREAM_PROGRAM: return get_program(r, s, b);
	case STREAM_PROBE: return get_probe(r, s, b);
	case STREAM_NAME:
	case STREAM_PROCESS:
	case STREAM_FORGET: return sq_put(s, kind, b->p, b->left) ? 0 : -ENOMEM;
	case STREAM_AGGREGATION:
		s->came = true;
		s->gathered = en_now();
		return sq_put(s, kind, b->p, b->left) ? 0 : -ENOMEM;
	case STREAM_RECORDS: return get_records(s, b);
	case STREAM_DROPS: return get_drops(r, s, b);
	case STREAM_NEWS: {
		uint32_t len = sb_get_count(b, 1);

		rc = b->bad ? BAD : st_news_add(&s->news, (const char *)b->p, len);
		return rc < 0 ? rc : 0;
	}
	case STREAM_SEEN: return get_seen(s, b);
	case STREAM_TIME: return get_time(s, b);
	case STREAM_END:
		s->code = (int)sb_get32(b);
		s->ended = true;
		return 0;
	default: return 0; /* of a later minor version */
	}
}

static int fail(struct sr_source *s, int rc, struct et_error *e)
{
	const char *node = s->node != NULL ? s->node : "the other end";

	s->closed = true;
	switch (rc) {
	case -ENOMEM: et_err(e, ET_NOMEM, "out of memory"); break;
	case OTHER:
		et_err(e, ET_NODE,
			"%s runs another script, or has compiled it in another way: the results of "
			"both cannot be joined",
			node);
		break;
	case NEWER:
		et_err(e, ET_AGENT, "the stream of %s is of another version of erltrace", node);
		break;
	case REFUSED:
		et_err(e, ET_DESTRUCTIVE,
			"%s has a command or a file that no script asked for (-w): refused", node);
		break;
	default:
		et_err(e, ET_AGENT, "what %s has sent is not a stream of results", node);
		break;
	}
	return -1;
}

/* The frames that are whole; *done: the bytes that they take. */
static int get_frames(struct sr *r, struct sr_source *s, const char *p, size_t len, size_t *done)
{
	uint32_t n;
	int rc = 0;

	for (*done = 0; rc == 0 && len - *done >= 5; *done += 4 + (size_t)n) {
		struct sb b;

		memcpy(&n, p + *done, sizeof(n));
		if (n == 0 || n > STREAM_MAX_FRAME)
			return BAD;
		if (len - *done - 4 < n)
			break;
		b = (struct sb){(const uint8_t *)p + *done + 5, n - 1, false};
		rc = get_frame(r, s, (uint8_t)p[*done + 4], &b);
		if (rc == 0 && b.bad)
			rc = BAD;
	}
	return rc;
}

/* What all print others have printed, up to the end of the batch that comes. */
static void goes_on(const struct sr *r, struct sr_source *s)
{
	for (unsigned i = 0; s->hangs && i < r->n; i++)
		s->late |= r->v[i] != s && !r->v[i]->closed && !r->v[i]->hangs;
	s->hangs = false;
}

int sr_feed(struct sr *r, unsigned n, const void *bytes, size_t len, struct et_error *e)
{
	struct sr_source *s = n < r->n ? r->v[n] : NULL;
	size_t done;
	int rc;

	if (s == NULL) {
		et_err(e, ET_AGENT, "there is no stream %u", n);
		return -1;
	}
	if (s->closed)
		return 0;
	goes_on(r, s);
	if (s->in.len == 0) { /* mostly whole frames come */
		rc = get_frames(r, s, bytes, len, &done);
		cb_put(&s->in, (const char *)bytes + done, rc == 0 ? len - done : 0);
	} else {
		cb_put(&s->in, bytes, len);
		rc = get_frames(r, s, s->in.p, s->in.len, &done);
		if (rc == 0 && done > 0) {
			s->in.len -= done;
			memmove(s->in.p, s->in.p + done, s->in.len);
		}
	}
	if (rc == 0 && s->in.nomem)
		rc = -ENOMEM;
	return rc == 0 ? 0 : fail(s, rc, e);
}

void sr_hangs(struct sr *r, unsigned n)
{
	if (n < r->n)
		r->v[n]->hangs = true;
}

void sr_close(struct sr *r, unsigned n)
{
	if (n < r->n)
		r->v[n]->closed = true;
}

/* ---- the order of records ----------------------------------------------------------------- */

static bool lives(const struct sr_source *s)
{
	return !s->ended && !s->closed;
}

/* What stands between records and aggregations is for those that follow. */
static struct sr_item *front(struct sr_source *s)
{
	struct sr_item *i;

	for (; (i = sq_front(s)) != NULL; sq_pop(s))
		switch (i->kind) {
		case STREAM_TIME: memcpy(&s->time, sq_contents(i), sizeof(s->time)); break;
		case STREAM_FORGET: st_names_free(&s->names); break;
		case STREAM_NAME:
		case STREAM_PROCESS: learn(s, i); break;
		default: return i;
		}
	return NULL;
}

static struct rec_head *record(struct sr_item *i)
{
	return (void *)((char *)sq_contents(i) + i->taken);
}

static void pop_record(struct sr_source *s, struct sr_item *i)
{
	i->taken += record(i)->size;
	if (i->taken == i->len)
		sq_pop(s);
}

static uint64_t wall_of(const struct sr_source *s, uint64_t mono)
{
	return s->time.wall + (mono - s->time.mono);
}

static const struct probe *probe_of(const struct sr *r, const struct sr_source *s, uint32_t epid)
{
	return &r->probes[s->epids[epid] - 1];
}

#define LAST UINT64_MAX

/* END is behind all that any node has gathered: it may print it. */
static uint64_t time_of(const struct sr *r, struct sr_source *s, struct sr_item *i)
{
	const struct rec_head *rec = record(i);
	bool waits = r->n > 1 && probe_of(r, s, rec->epid)->is_end &&
		     s->queue.n - s->queue.at < MOST_WAITING;

	return waits ? LAST : wall_of(s, rec->ts);
}

/* The source whose record is next; *at: its time. NULL: there is none, or aggregations come first. */
static struct sr_source *next(struct sr *r, uint64_t *at)
{
	struct sr_source *s = NULL;

	for (unsigned i = 0; i < r->n; i++) {
		struct sr_item *item = front(r->v[i]);
		uint64_t t;

		if (item == NULL)
			continue;
		if (item->kind == STREAM_AGGREGATION)
			return NULL; /* the time of the records behind it is not known yet */
		t = time_of(r, r->v[i], item);
		if (s == NULL || t < *at) {
			s = r->v[i];
			*at = t;
		}
	}
	return s;
}

/* May a stream still have records from before that? END is behind all, also of those that hang. */
static bool waits_for_others(struct sr *r, const struct sr_source *s, uint64_t at)
{
	for (unsigned i = 0; r->n > 1 && i < r->n; i++)
		if (r->v[i] != s && lives(r->v[i]) && (!r->v[i]->hangs || at == LAST) &&
			front(r->v[i]) == NULL && r->v[i]->upto < at)
			return true;
	return false;
}

/* The source of the oldest record. NULL: there is none now. */
static struct sr_source *oldest(struct sr *r, uint64_t now)
{
	uint64_t at = 0;
	struct sr_source *s = next(r, &at);

	if (s == NULL)
		return NULL;
	if (!waits_for_others(r, s, at)) {
		s->waits_since = 0;
		return s;
	}
	if (at == LAST) /* all of them are stopped by now */
		return NULL;
	if (s->waits_since == 0)
		s->waits_since = now;
	return now - s->waits_since < WAIT_NS ? NULL : s;
}

bool sr_ready(struct sr *r, uint64_t now)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct sr_item *item = front(r->v[i]);

		if (item != NULL && item->kind == STREAM_AGGREGATION)
			return true;
	}
	return oldest(r, now) != NULL;
}

bool sr_has_news(const struct sr *r)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->v[i]->news.n > 0)
			return true;
	return false;
}

bool sr_ended(const struct sr *r)
{
	for (unsigned i = 0; i < r->n; i++)
		if (lives(r->v[i]) || front(r->v[i]) != NULL)
			return false;
	return r->n > 0;
}

/* What another source says as well: the first does that has not died before, nor hangs. */
static bool is_silent(
	const struct sr *r, const struct sr_source *s, const struct probe *p, uint64_t at)
{
	if (r->n == 1 || p->at.clause->uses.script_vars || !p->is_common)
		return false;
	for (unsigned i = 0; r->v[i] != s; i++)
		if (r->v[i]->ended || (!r->v[i]->closed && (!r->v[i]->hangs || p->is_end)))
			return true;
	return !p->is_end && (s->late || at <= s->late_upto); /* another did while it hung */
}

static int records(void *of, en_rec_cb cb, void *arg)
{
	struct sr *r = of;
	uint64_t now = en_now();
	struct sr_source *s;
	int rc = 0;

	while (rc == 0 && (s = oldest(r, now)) != NULL) {
		struct sr_item *item = front(s);
		struct rec_head *rec = record(item);
		const struct probe *p = probe_of(r, s, rec->epid);
		uint32_t thread = thread_of(r, s, rec->spec);

		if (thread == 0)
			return -ENOMEM;
		rec->epid = p->at.epid;
		r->current = s;
		if (!is_silent(r, s, p, wall_of(s, rec->ts)))
			rc = cb(arg, thread - 1, rec);
		pop_record(s, item);
	}
	return rc;
}

static bool at(void *of, uint32_t epid, struct co_at *out)
{
	const struct sr *r = of;

	if (r->n == 1) /* its numbers are ours */
		epid = epid < r->v[0]->nepids ? r->v[0]->epids[epid] : 0;
	if (epid == 0 || epid > r->nprobes)
		return false;
	*out = r->probes[epid - 1].at;
	return true;
}

/* ---- aggregations ------------------------------------------------------------------------- */

static const char *text_of(const struct sr *r, uint64_t of, uint8_t form)
{
	const struct st_name *n = r->current != NULL ? st_name(&r->current->names, of, form) : NULL;

	return n != NULL ? n->text : NULL;
}

/* An address means something else in another node. 1: there is no room for its name. */
static int to_name(void *arg, enum sy_form form, uint64_t *addr)
{
	struct sr *r = arg;
	const char *text = text_of(r, *addr, (uint8_t)form);
	char number[24];

	if (text == NULL) {
		snprintf(number, sizeof(number), "0x%" PRIx64, *addr);
		text = number;
	}
	*addr = nm_word(sy_names(r->sy), text);
	return *addr != 0 ? 0 : 1;
}

static int give(struct sr *r, struct sb *b, en_agg_cb cb, void *arg)
{
	unsigned agg = sb_get16(b);
	uint32_t thread = sb_get32(b), keylen = sb_get32(b), n = sb_get_count(b, 12), words;
	const void *from = sb_get(b, keylen);
	struct co_val keys[PROG_MAX_KEYS];
	const struct prog_agg *a;
	uint64_t *data;
	uint8_t *key;
	int rc = 0;

	if (b->bad || agg >= r->prog->naggs || thread >= MOST_THREADS)
		return 0; /* get_frame() has not looked into it */
	a = r->prog->aggs[agg];
	words = a->fn == AGG_PERCENTILE ? PC_WORDS : aggfn_words(a);
	data = malloc((size_t)words * 8 + keylen + 8);
	if (data == NULL)
		return -ENOMEM;
	key = (uint8_t *)(data + words);
	if (keylen > 0)
		memcpy(key, from, keylen);
	aggfn_init(a, data);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t word = sb_get32(b);
		uint64_t value = sb_get64(b);

		if (b->bad || word >= words)
			break;
		if (a->fn == AGG_PERCENTILE)
			pc_set_word((struct hist *)(void *)data, word, value);
		else
			data[word] = value;
	}
	if (!b->bad && cv_keys(a, key, keylen, keys) == 0 &&
		(r->n == 1 || cv_map(a, key, keylen, to_name, r) == 0)) {
		thread = thread_of(r, r->current, thread);
		rc = thread == 0 ? -ENOMEM : cb(arg, thread - 1, agg, key, keylen, data);
	}
	free(data);
	return rc;
}

static int aggregations(void *of, en_agg_cb cb, void *arg)
{
	struct sr *r = of;
	struct sr_item *item;
	int rc = 0;

	for (unsigned i = 0; i < r->n; i++)
		while (rc == 0 && (item = front(r->v[i])) != NULL &&
			item->kind == STREAM_AGGREGATION) {
			struct sb b = {sq_contents(item), item->len, false};

			r->current = r->v[i];
			rc = give(r, &b, cb, arg);
			sq_pop(r->v[i]);
		}
	return rc;
}

/* ---- what else an origin says ------------------------------------------------------------- */

static uint64_t wall(void *of, uint64_t mono)
{
	const struct sr *r = of;

	return r->current != NULL ? wall_of(r->current, mono) : 0;
}

static int address(void *of, uint64_t *addr)
{
	(void)of, (void)addr;
	return 0;
}

static void process_text(void *of, uint64_t term, char *buf, size_t size)
{
	const char *text = text_of(of, term, ST_PROCESS);

	snprintf(buf, size, "%s", text != NULL ? text : "");
}

static unsigned threads(void *of)
{
	return (unsigned)((struct sr *)of)->ndrops;
}

static uint64_t drops(void *of, unsigned i, enum en_drop kind)
{
	const struct sr *r = of;

	if (kind <= DROP_AGGREGATION)
		return i < r->ndrops ? r->drops[i][kind] : 0;
	return i < r->n ? r->v[i]->other_drops[kind] : 0;
}

static unsigned number(const struct sr *r, const struct sr_source *s)
{
	unsigned i = 0;

	while (i < r->n && r->v[i] != s)
		i++;
	return i;
}

static bool news(void *of, char *buf, size_t size, unsigned *stream)
{
	struct sr *r = of;

	for (*stream = 0; *stream < r->n; ++*stream)
		if (st_news_next(&r->v[*stream]->news, buf, size))
			return true;
	return false;
}

static bool exited(void *of, int *code)
{
	const struct sr *r = of;

	for (unsigned i = 0; i < r->n; i++)
		if (r->v[i]->code >= 0) {
			*code = r->v[i]->code;
			return true;
		}
	return false;
}

static void seen(void *of, struct en_seen *out)
{
	const struct sr *r = of;

	*out = (struct en_seen){0};
	for (unsigned i = 0; i < r->n; i++) {
		const struct en_seen *s = &r->v[i]->seen;

		out->engines++;
		out->ns = s->ns > out->ns ? s->ns : out->ns;
		out->events += s->events;
		out->looks.rounds += s->looks.rounds;
		out->looks.whole += s->looks.whole;
		out->looks.things += s->looks.things;
		out->looks.now += s->looks.now;
		out->looks.there += s->looks.there;
	}
}

/* Of an address that a stream has not named nothing is known: it is none of this process. */
static bool frame(const void *arg, uint64_t pc, enum sy_form form, char *buf, size_t size)
{
	const char *text = text_of(arg, pc, (uint8_t)form);

	if (text != NULL)
		snprintf(buf, size, "%s", text);
	else
		snprintf(buf, size, "0x%" PRIx64, pc);
	return true;
}

static unsigned stream(void *of)
{
	const struct sr *r = of;

	return number(r, r->current);
}

static unsigned streams(void *of)
{
	return sr_streams(of);
}

static const char *node(void *of, unsigned i)
{
	const struct sr *r = of;

	return r->n > 1 && i < r->n ? r->v[i]->node : NULL;
}

static unsigned cpu(void *of, unsigned thread, unsigned *i)
{
	const struct sr *r = of;

	if (thread >= r->ndrops)
		return thread;
	*i = number(r, r->owners[thread].of);
	return r->owners[thread].cpu;
}

static struct sy *symbols(void *of)
{
	struct sr *r = of;

	r->sy = sy_new(0, &(struct sy_origin){.frame = frame, .arg = r});
	if (r->sy != NULL && r->n > 1 && sy_keep_names(r->sy, r->opts->val[OPT_AGGMAX]) != 0) {
		sy_free(r->sy);
		r->sy = NULL;
	}
	return r->sy;
}

const struct co_origin sr_origin = {
	.at = at,
	.records = records,
	.aggregations = aggregations,
	.wall = wall,
	.address = address,
	.process_text = process_text,
	.threads = threads,
	.drops = drops,
	.news = news,
	.exited = exited,
	.seen = seen,
	.streams = streams,
	.stream = stream,
	.node = node,
	.cpu = cpu,
	.symbols = symbols,
};
