/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the consumer's files share; nobody outside this folder includes it.
 *
 * Text is built in a struct co_buf and handed on in pieces (co_flush). Text of the traced world
 * enters it through cb_data() and cb_padded() only: there it is made harmless for terminals.
 */
#ifndef CO_INTERNAL_H
#define CO_INTERNAL_H

#include "consume.h"
#include "engine/probe.h"
#include "symbols/symbols.h"

/* ---- text.c: growing text ------------------------------------------------------------- */

#define CO_FLUSH_AT  (64u << 10) /* text waiting before it is handed on */
#define CO_MAX_FIELD (64u << 10) /* widths and precisions beyond this are cut */

struct co_buf {
	char *p;
	size_t len, cap;
	bool terminal; /* control characters in values become \xNN */
	bool nomem;    /* something is missing */
};
void cb_put(struct co_buf *b, const void *p, size_t len);
void cb_str(struct co_buf *b, const char *s);
void cb_fill(struct co_buf *b, char c, size_t n);
void cb_fmt(struct co_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for formats that are put together: the caller answers for them. */
void cb_spec(struct co_buf *b, const char *fmt, ...);
void cb_utf8(struct co_buf *b, uint32_t c);
/* Bytes of the traced world: as they are, or made harmless where the text goes to a terminal. */
void cb_data(struct co_buf *b, const void *p, size_t len);
/* The same in a field: width < 0 is left-aligned; columns are bytes, as in C's printf. */
void cb_padded(struct co_buf *b, const void *p, size_t len, int width);
/* Push what was put since start into a field. */
void cb_field(struct co_buf *b, size_t start, int width);
/* As C writes it in a string: \n, \", \ooo. */
void cb_escaped(struct co_buf *b, const void *p, size_t len);
void cb_free(struct co_buf *b);

/* ---- value.c: values of records and keys ---------------------------------------------- */

struct co_val {
	const struct prog_val *v; /* what it is */
	int64_t i;		  /* V_INT: extended by its sign; V_SYM: the address */
	const uint8_t *p;	  /* V_STR: the text; V_FLOAT, V_BYTES, V_STACK: the bytes */
	size_t len;
	bool null; /* V_STR: no string */
};
/* 0, or -1 where the record is shorter than its tables say. */
int cv_record(const struct rec_head *rec, const struct prog_val *v, struct co_val *out);
/* All parts of an aggregation's key: out has room for PROG_MAX_KEYS. */
int cv_keys(const struct prog_agg *a, const void *key, size_t keylen, struct co_val *out);
/*
 * The addresses of a key, of stacks and of what is printed as a symbol, changed in place by fn: 0,
 * or what it returned; -1 also where the key is too short.
 */
typedef int cv_map_fn(void *arg, const struct prog_val *v, uint64_t *addr);
int cv_map(const struct prog_agg *a, uint8_t *key, size_t len, cv_map_fn *fn, void *arg);
bool cv_has_addresses(const struct prog_agg *a);
enum sy_form cv_form_of(unsigned act); /* ACT_SYM ... */
enum sy_form cv_form(const struct prog_val *v); /* how an address of it is printed */
/*
 * Addresses in a key that stand for a function or a module: all of it is one key. Where engines are
 * joined every address is a name. *named: a copy of the key, to be freed, where there are such, or
 * NULL. -1: no room for a name.
 */
int cv_named(struct co *co, const struct prog_agg *a, const void *key, size_t len,
	uint8_t **named);
int cv_cmp(struct co *co, const struct co_val *a, const struct co_val *b);
unsigned cv_nframes(const struct co_val *v);
uint64_t cv_frame(const struct co_val *v, unsigned i);
long double cv_float(const struct co_val *v);

/* Memory that lives until the handlers have seen it. */
struct co_tmp;
void *co_tmp(struct co *co, size_t size);
void co_tmp_free(struct co *co);
/* Values as handlers see them, in temporary memory; NULL: memory is out. */
erltrace_value_t *cv_public(struct co *co, const struct co_val *vals, unsigned n);

/* ---- datum.c: values in dtrace's default layouts -------------------------------------- */

/* trace(): quiet has no widths. */
void da_trace(struct co *co, struct co_buf *b, const struct co_val *v, bool quiet);
/* A key in an aggregation's row; packed: in the layout of aggpack and agghist, texts so wide. */
void da_key(struct co *co, struct co_buf *b, const struct co_val *v, unsigned packed);
#define PACKED_TEXT 16 /* at least */
unsigned da_key_width(const struct prog_val *v); /* of a packed key, its space included */
void da_bytes(struct co_buf *b, const uint8_t *p, size_t len); /* raw: hexadecimal and ASCII */
/* A stack; indent < 0: as the option says; width: of each frame's text. */
void da_stack(struct co *co, struct co_buf *b, const struct co_val *v, int indent, int width);

/* ---- print.c -------------------------------------------------------------------------- */

void pr_value(struct co *co, struct co_buf *b, const struct co_val *v);

/* ---- aggs.c: the merged table --------------------------------------------------------- */

struct ag_part { /* -xaggpercpu: what one thread gave */
	struct ag_part *next;
	unsigned thread;
	uint64_t data[];
};
struct ag_ent {
	struct ag_ent *next; /* in its bucket */
	struct ag_part *parts;
	uint64_t hash;
	uint64_t seq; /* order of arrival */
	uint32_t keylen;
	uint16_t agg;
	bool empty; /* cleared: nothing came since */
	const uint8_t *key;
	uint64_t data[];
};
/* A value to print: of an entry, or 0 where a key is missing. */
struct ag_val {
	const struct prog_agg *a;
	const uint64_t *data; /* NULL: 0 */
	uint64_t normal;
};
struct ag_row {
	const struct ag_ent *ent;   /* whose key it is */
	const struct ag_ent **cols; /* one an aggregation; NULL: missing */
};
struct ag;
struct ag *ag_new(void);
void ag_free(struct ag *ag);
int ag_take(struct co *co);
void ag_add(struct co *co, unsigned agg, const void *key, size_t len, const uint64_t *data);
void ag_forget(struct co *co); /* all keys */
void ag_lost(struct co *co);   /* one more drop */
uint64_t ag_changes(const struct ag *ag); /* a number that grows with every change */
uint64_t ag_drops(const struct ag *ag); /* keys that found no room below aggmax */
void ag_clear(struct co *co, unsigned agg);
void ag_trunc(struct co *co, unsigned agg, bool all, int64_t n);
void ag_normalize(struct co *co, unsigned agg, uint64_t normal);
uint64_t ag_normal(struct co *co, unsigned agg);
bool ag_printed(struct co *co, unsigned agg);
void ag_set_printed(struct co *co, unsigned agg);
/* Rows of n aggregations joined by key, sorted as the options say. The caller frees *rows. */
int ag_rows(struct co *co, const uint16_t *aggs, unsigned n, struct ag_row **rows, size_t *nrows);
/* Every entry of one aggregation, or of all (-1), in no order; until fn returns anything but 0. */
int ag_each(struct co *co, int agg, int (*fn)(struct co *co, const struct ag_ent *e, void *arg),
	void *arg);
/* Of what came since (live): each is given and forgotten, until fn returns anything but 0. */
int ag_live_each(
	struct co *co, int (*fn)(struct co *co, const struct ag_ent *e, void *arg), void *arg);
struct ag_val ag_value(struct co *co, unsigned agg, const struct ag_ent *e);
/* count, sum, min, max, avg, stddev as the number that prints. */
int64_t ag_number(const struct ag_val *v);
const char *ag_function(const struct prog_agg *a); /* "count" ... */
bool ag_is_dist(const struct prog_agg *a);
int ag_public(struct co *co, const struct ag_ent *e, erltrace_agg_t *out);
/* The same as if nothing were normalized. */
int ag_public_whole(struct co *co, const struct ag_ent *e, erltrace_agg_t *out);

/* ---- dist.c --------------------------------------------------------------------------- */

/* The number that stands for a bucket: the bound nearer to zero. */
int64_t di_label(const struct prog_agg *a, unsigned i);
void di_print(struct co *co, struct co_buf *b, const struct ag_val *v);
struct di_scale {
	long double total; /* of all bars */
	bool positives, negatives;
	unsigned first, last; /* aggpack: buckets shown */
};
void di_scale_add(struct co *co, struct di_scale *s, int64_t v);
void di_bar(struct co_buf *b, const struct di_scale *s, int64_t v, uint64_t normal);
void di_hist_header(struct co_buf *b, unsigned width);
/* aggpack: which buckets rows of an aggregation show; the header; a row's bars. */
void di_pack_scale(struct co *co, const struct prog_agg *a, const struct ag_row *rows, size_t n,
	struct di_scale *s);
void di_pack_header(
	struct co_buf *b, const struct prog_agg *a, const struct di_scale *s, unsigned width);
void di_pack(struct co *co, struct co_buf *b, const struct ag_val *v, const struct di_scale *s);

/* ---- printa.c ------------------------------------------------------------------------- */

int pa_printa(struct co *co, const struct prog_action *act);
int pa_final(struct co *co); /* what no printa() printed */

/* ---- format.c ------------------------------------------------------------------------- */

void fm_printf(struct co *co, struct co_buf *b, const struct d_fmt *f, const struct co_val *vals,
	unsigned n);
void fm_printa(struct co *co, struct co_buf *b, const struct d_fmt *f, const struct co_val *keys,
	unsigned nkeys, const struct ag_val *vals, unsigned nvals);

/* ---- consume.c ------------------------------------------------------------------------ */

struct co_thread {
	uint64_t told[2];   /* drops of DROP_PRINCIPAL and DROP_AGGREGATION told so far */
	int indent;	    /* -F */
	uint32_t last_epid; /* -F: of its last record */
};

struct co {
	struct en *en;
	const struct prog *prog;
	struct et_options *opts;
	erltrace_handlers_t h; /* of the call under way; what it does not have is NULL */
	struct co_buf out;
	uint64_t flushes; /* how often out was handed on */
	int fd;		  /* freopen(): where text goes; -1: to the handler */
	int fd_error;	  /* of writing to it, not yet told */
	uint32_t fd_epid; /* who opened it */
	bool header;	  /* has been printed */
	int rv;		  /* what a handler returned */
	struct ag *ag;
	struct ag *live; /* --live: what came since the last tick; NULL: nobody asks */
	struct sy *sy;
	struct co_tmp *tmp;
	struct co_val *vals; /* of the action under way */
	size_t maxvals;
	struct co_thread *threads;
	unsigned nthreads;
	uint64_t told[DROP_KINDS]; /* drops of no thread */
	uint64_t agg_told;
	uint64_t last_status;
	enum co_role role;
	struct co_buf wishes, incoming; /* join.c */
	uint64_t previewed;
	bool telling; /* the text of an action stays whole: its record shows it */
};

/* A record under way. */
struct co_rec {
	struct co *co;
	const struct rec_head *head; /* NULL: none, something is said about the probe */
	const struct en_ecb *ecb;
	unsigned thread;
	erltrace_event_t ev;
	const char *prefix; /* -F */
};

static inline uint64_t co_opt(const struct co *co, enum et_opt o)
{
	return co->opts->val[o];
}
int co_flush(struct co *co);
struct co_thread *co_thread_of(struct co *co, unsigned thread);
/* Hand on what waits if it is much. != 0: stop. */
int co_room(struct co *co);
/* Nobody reads text but the handler of records, which sees that of each action. */
static inline bool co_text_unread(const struct co *co)
{
	return co->h.record != NULL && co->h.text == NULL && co->h.aggregation == NULL &&
	       co->fd < 0;
}

/* ---- act.c ---------------------------------------------------------------------------- */

/* Perform the actions of a record, in order. */
int ac_perform(struct co_rec *r);
/* clear(), trunc(), normalize(), denormalize() */
int ac_agg(struct co *co, const struct prog_action *a, const struct co_val *v);

/* ---- join.c --------------------------------------------------------------------------- */

bool jo_silent(const struct co_rec *r); /* the first engine prints it */
bool jo_elsewhere(struct co_rec *r, const struct prog_action *a, const struct co_val *v);
void jo_take(struct co *co);

/* ---- tell.c: faults, errors, drops ---------------------------------------------------- */

int te_fault(struct co_rec *r); /* a REC_ERROR */
int te_error(struct co_rec *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int te_drops(struct co *co, bool final);

#endif
