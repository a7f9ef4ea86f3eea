/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a handle; see include/erltrace.h for what each call promises. */
#include "handle.h"
#include "engine/probe.h"
#include "engine/provider.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json/json.h"
#include "file.h"
#include "in_node.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* How often to look for records where switchrate does not say: soon enough for a person. */
#define POLL_NS 10000000ULL
#define LOOK_NS 1000000000ULL /* for libraries that were loaded */

int api_error(erltrace_error_t *err, const struct et_error *e)
{
	if (err != NULL)
		*err = *e;
	return -1;
}

int api_fail(erltrace_error_t *err, enum et_tag tag, const char *fmt, ...)
{
	va_list ap;

	if (err == NULL)
		return -1;
	et_err_clear(err);
	va_start(ap, fmt);
	et_verr(err, tag, fmt, ap);
	va_end(ap);
	return -1;
}

erltrace_t *erltrace_open(erltrace_error_t *err)
{
	struct et_error e = {.tag = ""};
	erltrace_t *h = calloc(1, sizeof(*h));
	struct d_registry reg;

	if (h == NULL) {
		api_fail(err, ET_NOMEM, "out of memory");
		return NULL;
	}
	et_options_init(&h->opts);
	if (h->opts.env.tag[0] != '\0')
		et_err_as(&e, &h->opts.env, "in the environment (DTRACE_OPT_*): %s",
			h->opts.env.text);
	else
		h->en = en_new(&h->opts, &e);
	if (h->en != NULL) {
		en_registry(h->en, &reg);
		h->comp = d_comp_new(&h->opts, &reg, &e);
	}
	if (h->comp == NULL) {
		api_error(err, &e);
		erltrace_close(h);
		return NULL;
	}
	return h;
}

void erltrace_close(erltrace_t *h)
{
	if (h == NULL)
		return;
	if (h->en != NULL && en_state(h->en) == EN_RUNNING)
		en_stop(h->en);
	api_snapshot_free(h);
	sw_free(h->writer);
	co_free(h->co);
	sr_free(h->reader);
	if (h->en != NULL && !en_free(h->en))
		return;
	d_comp_free(h->comp);
	api_scan_free(h->scan);
	et_options_free(&h->opts);
	free(h->tree);
	free(h->script);
	free(h);
}

int erltrace_setopt(erltrace_t *h, const char *name, const char *value, erltrace_error_t *err)
{
	struct et_error e = {.tag = ""};

	if (et_setopt(&h->opts, name, value, &e) < 0)
		return api_error(err, &e);
	api_scan_setopt(h->scan, name, value);
	return 0;
}

int erltrace_getopt(erltrace_t *h, const char *name, char *buf, size_t size, erltrace_error_t *err)
{
	struct et_error e = {.tag = ""};

	return et_getopt(&h->opts, name, buf, size, &e) < 0 ? api_error(err, &e) : 0;
}

void erltrace_set_target(erltrace_t *h, int64_t pid)
{
	h->comp->target = h->opts.target = pid;
}

int erltrace_set_record(
	erltrace_t *h, const char *name, const char *const *fields, erltrace_error_t *err)
{
	if (d_record_add(h->comp, name, fields) < 0)
		return api_fail(err, ET_NOMEM, "out of memory");
	return 0;
}

const char *api_no_record(const erltrace_t *h)
{
	return h->comp->no_record;
}

const char *api_no_probe(const erltrace_t *h)
{
	return h->comp->no_probe;
}

void erltrace_set_bridge(erltrace_t *h, const erltrace_bridge_t *bridge, void *arg)
{
	size_t size = bridge != NULL ? bridge->size : 0;

	if (en_state(h->en) != EN_IDLE) /* it may be in use */
		return;
	memset(&h->bridge, 0, sizeof(h->bridge));
	if (bridge != NULL) /* whole members only */
		memcpy(&h->bridge, bridge,
			size < sizeof(h->bridge) ? size & ~(sizeof(void *) - 1)
						 : sizeof(h->bridge));
	en_set_bridge(h->en, bridge != NULL ? &h->bridge : NULL, arg);
}

/* ---- compile --------------------------------------------------------------------------- */

unsigned api_flags(const erltrace_compile_opts_t *o)
{
	return (o->zero_matches ? D_C_ZDEFS : 0) | (o->default_action ? D_C_PSPEC : 0) |
	       (o->preprocess > 0 ? D_C_CPP : 0) | (o->preprocess < 0 ? D_C_NOCPP : 0) |
	       (o->empty ? D_C_EMPTY : 0) | (unsigned)(o->colons & 3) * D_C_COLONS;
}

const char **api_argv(const erltrace_compile_opts_t *o)
{
	const char **argv = calloc((size_t)o->argc + 1, sizeof(*argv));

	if (argv == NULL)
		return NULL;
	argv[0] = o->file != NULL ? o->file : "";
	for (int i = 0; i < o->argc; i++)
		argv[i + 1] = o->argv[i];
	return argv;
}

int erltrace_compile_n(erltrace_t *h, const char *text, size_t len,
	const erltrace_compile_opts_t *opts, erltrace_error_t *err)
{
	static const erltrace_compile_opts_t none;
	erltrace_compile_opts_t o = none;
	struct et_error e = {.tag = ""};
	const char **argv;
	size_t tree_len;
	int rc;

	if (opts != NULL)
		memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	if (en_state(h->en) != EN_IDLE)
		return api_fail(err, ET_RUNNING, "tracing has begun: compile before go");
	argv = api_argv(&o);
	if (argv == NULL)
		return api_fail(err, ET_NOMEM, "out of memory");
	if (h->script == NULL && o.file != NULL)
		h->script = strdup(o.file);
	free(h->tree);
	h->tree = NULL;
	if (h->opts.val[OPT_TREE] != 0)
		h->comp->trace = open_memstream(&h->tree, &tree_len);
	rc = d_compile(
		h->comp, text, len, argv[0], o.argc + 1, argv, api_flags(&o), &h->first_clause, &e);
	if (h->comp->trace != NULL)
		fclose(h->comp->trace);
	h->comp->trace = NULL;
	free(argv);
	h->matches = h->comp->matches;
	return rc < 0 ? api_error(err, &e) : 0;
}

int erltrace_compile(
	erltrace_t *h, const char *text, const erltrace_compile_opts_t *opts, erltrace_error_t *err)
{
	return erltrace_compile_n(h, text, strlen(text), opts, err);
}

int erltrace_compile_file(
	erltrace_t *h, const char *path, const erltrace_compile_opts_t *opts, erltrace_error_t *err)
{
	erltrace_compile_opts_t o = {.size = sizeof(o)};
	struct et_error e = {.tag = ""};
	size_t len;
	char *text = file_read_script(path, D_MAX_SOURCE, &len, &e);
	int rc;

	if (text == NULL)
		return api_error(err, &e);
	if (opts != NULL)
		memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	o.size = sizeof(o);
	if (o.file == NULL)
		o.file = path;
	rc = erltrace_compile_n(h, text, len, &o, err);
	free(text);
	return rc;
}

char *erltrace_preprocess(erltrace_t *h, const char *path, erltrace_error_t *err)
{
	struct et_error e = {.tag = ""};
	char *text, *out = NULL, *end;
	size_t len;

	text = file_read_script(path, D_MAX_SOURCE, &len, &e);
	if (text == NULL) {
		api_error(err, &e);
		return NULL;
	}
	et_err_clear(&h->comp->error);
	if (d_cpp(h->comp, path, text, len, &out, &len) < 0) {
		api_error(err, &h->comp->error);
		out = NULL;
	} else if ((end = realloc(out, len + 1)) != NULL) {
		out = end;
		out[len] = '\0';
	} else {
		free(out);
		out = NULL;
		api_fail(err, ET_NOMEM, "out of memory");
	}
	free(text);
	return out;
}

int erltrace_info(erltrace_t *h, erltrace_info_t *info)
{
	const struct prog *p = &h->comp->prog;
	const struct et_attr *least = p->nprograms > 0 ? &h->comp->attr : &et_attr_default;
	erltrace_info_t i = {.size = info->size,
		.clauses = p->nclauses,
		.matches = h->matches,
		.aggregations = p->naggs,
		.variables = p->nvars};

	for (unsigned c = h->first_clause; c < p->nclauses; c++)
		i.instructions += p->clauses[c]->ninsns;
	snprintf(i.stability, sizeof(i.stability), "%s/%s/%s", et_attr_word(least, 0),
		et_attr_word(least, 1), et_attr_word(least, 2));
	memcpy(info, &i, info->size < sizeof(i) ? info->size : sizeof(i));
	return 0;
}

char *erltrace_disassemble(erltrace_t *h)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL)
		return NULL;
	d_prog_dump(&h->comp->prog, h->first_clause, f);
	fclose(f);
	return text;
}

char *erltrace_tree(erltrace_t *h)
{
	return h->tree != NULL ? strdup(h->tree) : NULL;
}

/* ---- run ------------------------------------------------------------------------------- */

int erltrace_go(erltrace_t *h, erltrace_error_t *err)
{
	struct et_error e = {.tag = ""};

	if (en_state(h->en) != EN_IDLE)
		return api_fail(err, ET_RUNNING, "go was called before");
	if (api_snapshot_may(h, err) < 0)
		return -1;
	if (h->comp->prog.strsize == 0)
		h->comp->prog.strsize = d_str_bytes(&h->opts);
	h->co = co_new(&co_engine_origin, h->en, &h->comp->prog, &h->opts, &e);
	if (h->co == NULL || en_go(h->en, &h->comp->prog, &e) < 0) {
		co_free(h->co);
		h->co = NULL;
		return api_error(err, &e);
	}
	co_watch(h->co);
	h->opts.running = true;
	return 0;
}

int erltrace_stop(erltrace_t *h, erltrace_error_t *err)
{
	if (en_state(h->en) == EN_IDLE)
		return api_fail(err, ET_IDLE, "nothing has been started");
	if (en_state(h->en) == EN_RUNNING)
		en_stop(h->en);
	return 0;
}

bool api_ended(const erltrace_t *h)
{
	if (h->unread)
		return false;
	return en_state(h->en) == EN_STOPPED || en_exited(h->en, NULL) || en_filled(h->en);
}

/* The last round: END has run, everything is read out, aggregations are printed. */
static int finish(erltrace_t *h, const erltrace_handlers_t *handlers)
{
	int rc;

	if (en_state(h->en) == EN_RUNNING)
		en_stop(h->en);
	rc = co_look(h->co, handlers); /* before the buffers are emptied */
	if (rc == 0)
		rc = api_snapshots(h, handlers, true);
	if (rc == 0)
		rc = co_work(h->co, handlers, true);
	h->done = true;
	return rc != 0 ? rc : ERLTRACE_DONE;
}

int api_upkeep(erltrace_t *h, uint64_t now, erltrace_error_t *err)
{
	struct et_error e = {.tag = ""};

	if (now >= h->next_clean) {
		en_clean(h->en);
		h->next_clean = now + h->opts.val[OPT_CLEANRATE];
	}
	en_attend(h->en);
	if (now >= h->next_look) {
		if (h->next_look != 0 && en_look(h->en, &e) < 0)
			return api_error(err, &e);
		h->next_look = now + LOOK_NS;
	}
	return 0;
}

int erltrace_work(erltrace_t *h, const erltrace_handlers_t *handlers, erltrace_error_t *err)
{
	uint64_t now = en_now(), fired;
	int rc;

	if (h->reader != NULL)
		return api_read(h, handlers, err);
	fired = en_fired(h->en);
	if (h->co == NULL)
		return api_fail(err, ET_IDLE, "nothing to do: go has not been called");
	if (h->done)
		return ERLTRACE_DONE;
	if (!h->begun) {
		h->begun = true;
		rc = co_begin(h->co, handlers);
		if (rc != 0)
			return rc;
	}
	if (h->replay != NULL)
		return h->replay(h, handlers);
	if (api_ended(h))
		return finish(h, handlers);
	if (api_upkeep(h, now, err) < 0)
		return -1;
	if (now < h->next_switch)
		return ERLTRACE_OK;
	rc = co_work(h->co, handlers, false);
	if (rc == 0)
		rc = api_snapshots(h, handlers, false);
	if (rc != 0)
		return rc;
	h->worked = now;
	h->fired = fired;
	if (h->opts.val[OPT_SWITCHRATE] != 0)
		h->next_switch = now + h->opts.val[OPT_SWITCHRATE];
	return api_ended(h) ? finish(h, handlers) : ERLTRACE_OK;
}

void erltrace_sleep(erltrace_t *h)
{
	uint64_t now = en_now(), until = now + POLL_NS;
	struct timespec ts;

	if (h->done || h->replay != NULL || (h->co != NULL && api_ended(h)))
		return;
	if (h->next_switch > now && h->next_switch < until)
		until = h->next_switch;
	ts.tv_sec = (until - now) / 1000000000;
	ts.tv_nsec = (until - now) % 1000000000;
	nanosleep(&ts, NULL); /* a signal ends it early, as promised */
}

erltrace_status_t erltrace_status(erltrace_t *h, int *exit_code)
{
	int code = 0;

	if (exit_code != NULL)
		*exit_code = 0;
	if (h->reader != NULL)
		return api_reader_status(h, exit_code);
	if (en_exited(h->en, &code)) {
		if (exit_code != NULL)
			*exit_code = code;
		return ERLTRACE_EXITED;
	}
	if (en_filled(h->en))
		return ERLTRACE_FILLED;
	switch (en_state(h->en)) {
	case EN_IDLE: return ERLTRACE_IDLE;
	case EN_RUNNING: return ERLTRACE_RUNNING;
	default: return ERLTRACE_STOPPED;
	}
}

/* ---- aggregations ---------------------------------------------------------------------- */

static int need_consumer(erltrace_t *h, erltrace_error_t *err)
{
	if (h->reader != NULL && api_reader_begun(h, err) < 0)
		return -1;
	if (h->co != NULL)
		return 0;
	return api_fail(err, ET_IDLE, "no aggregations yet: go has not been called");
}

int erltrace_snapshot(erltrace_t *h, erltrace_error_t *err)
{
	return need_consumer(h, err) < 0 ? -1 : co_snapshot(h->co);
}

int erltrace_walk(
	erltrace_t *h, const char *name, erltrace_agg_cb *cb, void *arg, erltrace_error_t *err)
{
	return need_consumer(h, err) < 0 ? -1 : co_walk(h->co, name, cb, arg);
}

int erltrace_each(
	erltrace_t *h, const char *name, erltrace_agg_cb *cb, void *arg, erltrace_error_t *err)
{
	return need_consumer(h, err) < 0 ? -1 : co_each(h->co, name, cb, arg);
}

/* What it costs is not known. */
static erltrace_tick_t tick_of(const erltrace_t *h)
{
	return (erltrace_tick_t){.fired = h->en != NULL ? en_fired(h->en) : 0, .cost = -1};
}

int api_changes(erltrace_t *h, unsigned stream, unsigned nstreams, const erltrace_tick_t *tick,
	const erltrace_change_handlers_t *to)
{
	erltrace_change_handlers_t all = {0};
	int rc;

	memcpy(&all, to, to->size < sizeof(all) ? to->size : sizeof(all));
	rc = co_changes(h->co, stream, nstreams, tick, &all);
	return rc < 0 ? -1 : rc;
}

int erltrace_changes(
	erltrace_t *h, const erltrace_change_handlers_t *to, erltrace_error_t *err)
{
	erltrace_tick_t tick;

	if (need_consumer(h, err) < 0)
		return -1;
	tick = tick_of(h);
	return api_changes(h, 0, 1, &tick, to);
}

int erltrace_tick(erltrace_t *h, const char *node,
	int (*text)(void *arg, const char *s, size_t len), void *arg, erltrace_error_t *err)
{
	struct co_json j = {.text = text, .arg = arg};
	erltrace_tick_t tick;
	int rc;

	if (need_consumer(h, err) < 0)
		return -1;
	tick = tick_of(h);
	rc = co_json_tick(&j, h->co, 0, 1, node, &tick);
	co_json_free(&j);
	return rc;
}

int api_shapes(const erltrace_t *h,
	int (*cb)(void *arg, const erltrace_shape_t *shapes, unsigned n), void *arg)
{
	const struct prog *prog = h->reader != NULL ? sr_program(h->reader) : api_program(h);
	int rc = prog != NULL ? co_shapes(prog, cb, arg) : cb(arg, NULL, 0);

	return rc < 0 ? -1 : rc;
}

int api_changes_begin(erltrace_t *h)
{
	if (h->reader != NULL && api_reader_begun(h, NULL) < 0)
		return -1;
	return h->co != NULL ? co_changes_begin(h->co) : -1;
}

int erltrace_stacks(erltrace_t *h, erltrace_agg_cb *cb, void *arg, erltrace_error_t *err)
{
	return need_consumer(h, err) < 0 ? -1 : co_stacks(h->co, cb, arg);
}

int erltrace_clear(erltrace_t *h, const char *name, erltrace_error_t *err)
{
	return need_consumer(h, err) < 0 ? -1 : co_clear(h->co, name);
}

int erltrace_trunc(erltrace_t *h, const char *name, erltrace_error_t *err)
{
	return need_consumer(h, err) < 0 ? -1 : co_trunc(h->co, name);
}
