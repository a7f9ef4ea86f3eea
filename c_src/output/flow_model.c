/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of flows are put together (flow_model.h). They come from nodes in any order: what is known
 * only later is filled in then, and a flow is complete a moment after its end came. Nodes are not
 * trusted: what flows may take in memory is bounded, and texts are cleaned.
 *
 */
#include "flow_model.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "utf8.h"

enum {
	MAX_HOPS = 20000,	 /* of a flow; the option flowhops has 10,000 */
	MAX_TEXT = 512,
	MAX_FLOWS = 100000,
	MAX_NODES = 1000,
	GRACE_MS = 1000, /* what other nodes have still to say */
	DROPS_MS = 1500, /* drops are told of by then: statusrate is a second */
};

struct flows *flows_new(size_t most, void (*done)(void *arg, struct flow *f), void *arg)
{
	struct flows *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->most = most;
	s->nslots = 4096;
	s->slots = calloc(s->nslots, sizeof(struct flow *));
	s->done = done;
	s->arg = arg;
	if (s->slots != NULL)
		return s;
	free(s);
	return NULL;
}

void flow_free(struct flow *f)
{
	if (f == NULL || f->kept-- > 0)
		return;
	for (int i = 0; i < f->nprocs; i++) {
		free(f->procs[i].pid);
		free(f->procs[i].name);
	}
	for (int i = 0; i < f->nhops; i++) {
		free(f->hops[i].text);
		free(f->hops[i].label);
		free(f->hops[i].exit);
		free(f->hops[i].peer);
	}
	free(f->procs);
	free(f->hops);
	free(f->function);
	free(f->why);
	free(f);
}

void flows_free(struct flows *s)
{
	struct flow *f, *next;

	for (size_t i = 0; i < s->nslots; i++)
		for (f = s->slots[i]; f != NULL; f = next) {
			next = f->next;
			flow_free(f);
		}
	for (int i = 0; i < s->nnodes; i++)
		free(s->nodes[i]);
	free(s->nodes);
	free(s->slots);
	free(s);
}

/* ---- what events are about --------------------------------------------------------------- */

/* A copy of the text, at most so long, with a mark for each byte that cannot be shown. */
static char *text_of(const struct flow_event *e, enum flow_text t)
{
	const unsigned char *p = (const unsigned char *)e->text[t].p;
	size_t len = e->text[t].len < MAX_TEXT ? e->text[t].len : MAX_TEXT, n;
	char *copy = malloc(len + 1), *to = copy;

	for (size_t i = 0; copy != NULL && i < len; i += n ? n : 1) {
		n = p[i] == '\t' ? 0 : utf8_len(p + i, len - i);
		if (n > 0)
			memcpy(to, p + i, n);
		else
			*to = '?';
		to += n ? n : 1;
	}
	if (copy != NULL)
		*to = '\0';
	return copy;
}

static void set_text(char **to, const struct flow_event *e, enum flow_text t)
{
	if (e->text[t].len == 0 || *to != NULL)
		return;
	*to = text_of(e, t);
}

static int node_of(struct flows *s, const struct flow_event *e)
{
	char *name;

	for (int i = 0; i < s->nnodes; i++)
		if (strcmp(s->nodes[i], e->node) == 0)
			return i;
	name = strdup(e->node);
	if (name == NULL || s->nnodes >= MAX_NODES || !ARRAY_ROOM(s->nodes, (size_t)s->nnodes)) {
		free(name);
		s->nomem = true;
		return -1;
	}
	s->nodes[s->nnodes] = name;
	return s->nnodes++;
}

/*
 * The nodes have brought their clocks together (c_src/beam/flow/flow_clock.c). What that time line
 * is in ns since 1970 is taken from the first event. One that a node has not yet been told of the
 * others' time for has its own wall clock.
 *
 */
static uint64_t time_of(struct flows *s, const struct flow_event *e)
{
	uint64_t at = (uint64_t)e->number[FN_AT];

	if (at == 0)
		return e->wall;
	if (s->epoch == 0)
		s->epoch = (int64_t)(e->wall - at);
	return at + (uint64_t)s->epoch;
}

static uint64_t hash_of(uint64_t id)
{
	return id * 0x9e3779b97f4a7c15 >> 32;
}

static struct flow *flow_of(struct flows *s, uint64_t id)
{
	struct flow **at = &s->slots[hash_of(id) & (s->nslots - 1)], *f;

	for (f = *at; f != NULL; f = f->next)
		if (f->id == id)
			return f;
	if (s->over[hash_of(id) % FLOW_OVER] == id)
		return NULL; /* another node goes on in it */
	if (s->nflows >= MAX_FLOWS || (f = calloc(1, sizeof(*f))) == NULL) {
		s->lost++;
		return NULL;
	}
	f->id = id;
	f->next = *at;
	*at = f;
	s->nflows++;
	return f;
}

/* The process that calls itself so in its node; its first name that is not its pid. */
static int proc_of(struct flow *f, int node, const struct flow_event *e, enum flow_text pid,
	enum flow_text name)
{
	char *text = text_of(e, pid);
	int i = 0;

	if (text == NULL)
		return -1;
	while (i < f->nprocs && (f->procs[i].node != node || strcmp(f->procs[i].pid, text) != 0))
		i++;
	if (i < f->nprocs) {
		free(text);
	} else if (ARRAY_ROOM(f->procs, (size_t)f->nprocs)) {
		f->procs[f->nprocs++] = (struct flow_proc){.node = node, .pid = text};
	} else {
		free(text);
		return -1;
	}
	if (e->text[name].len > 0 && e->text[name].p[0] != '<' && f->procs[i].name == NULL)
		f->procs[i].name = text_of(e, name);
	return i;
}

int flow_hop_of(const struct flow *f, int64_t number)
{
	int i = f->nhops - 1;

	while (i >= 0 && f->hops[i].number != number)
		i--;
	return i;
}

static struct flow_hop *hop_of(struct flows *s, struct flow *f, int64_t number)
{
	int i = flow_hop_of(f, number);

	if (i >= 0)
		return &f->hops[i];
	if (f->nhops >= MAX_HOPS || s->nhops >= s->most || !ARRAY_ROOM(f->hops, (size_t)f->nhops)) {
		s->lost++;
		return NULL;
	}
	s->nhops++;
	f->hops[f->nhops] = (struct flow_hop){.number = number, .cause = -1, .from = -1, .to = -1};
	return &f->hops[f->nhops++];
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Behind the term at p, as far as brackets say it; NULL: it has no end. */
static const char *behind_term(const char *p)
{
	int depth = 0;
	char quote = 0;

	for (; *p != '\0'; p++) {
		if (quote != 0) {
			if (*p == '\\' && p[1] != '\0')
				p++;
			else if (*p == quote)
				quote = 0;
		} else if (*p == '"' || *p == '\'') {
			quote = *p;
		} else if (strchr("{[(", *p) != NULL) {
			depth++;
		} else if (strchr("}])", *p) != NULL && --depth < 0) {
			return p;
		} else if (*p == ',' && depth == 0) {
			return p;
		}
	}
	return NULL;
}

#define EXIT_BEGIN "{'EXIT',"

/* What OTP puts around calls, casts and replies says less than its name. */
static char *label_of(const char *text)
{
	static const struct {
		const char *begin, *name;
		bool tag; /* who asks, or of which call, comes first */
	} kinds[] = {{"{'$gen_call',", "call", true}, {"{'$gen_cast',", "cast", false},
		{"{[alias|#Ref<", "reply", true}, {"{#Ref<", "reply", true},
		{"{'DOWN',", "DOWN", true}, {EXIT_BEGIN, "exit", true}};
	char *label = NULL;

	for (size_t i = 0; text != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].begin);
		const char *p, *end;

		if (strncmp(text, kinds[i].begin, n) != 0)
			continue;
		/* the tag of a reply is a part of what it begins with */
		p = strcmp(kinds[i].name, "reply") == 0 ? text + 1 : text + n;
		if (kinds[i].tag && ((p = behind_term(p)) == NULL || *p++ != ','))
			continue;
		end = behind_term(p);
		if (asprintf(&label, "%s %.*s%s", kinds[i].name,
			    (int)(end != NULL ? (size_t)(end - p) : strlen(p)), p,
			    end != NULL ? "" : "...") < 0)
			label = NULL;
		break;
	}
	return label != NULL ? label : text != NULL ? strdup(text) : NULL;
}

/* The reason of an exit signal: what its label has behind "exit "; NULL: it is another message. */
static char *exit_of(const char *text, const char *label)
{
	if (text == NULL || label == NULL || strncmp(text, EXIT_BEGIN, strlen(EXIT_BEGIN)) != 0 ||
		strncmp(label, "exit ", 5) != 0)
		return NULL;
	return strdup(label + 5);
}

/* ---- events ------------------------------------------------------------------------------ */

/* What the process does belongs to the visit by which it came. */
static void visit_goes_on(struct flow *f, int64_t hop, uint64_t at)
{
	int i = flow_hop_of(f, hop);

	if (i >= 0 && f->hops[i].until < at)
		f->hops[i].until = at;
}

static void take(struct flow_hop *h, int proc, uint64_t at)
{
	h->to = proc;
	h->taken = true;
	h->start = at;
	if (h->until < at)
		h->until = at;
}

static void on_begin(
	struct flows *s, struct flow *f, const struct flow_event *e, int node, uint64_t at)
{
	int proc = proc_of(f, node, e, FT_FROM, FT_PROC);
	struct flow_hop *h = hop_of(s, f, 0);

	set_text(&f->function, e, FT_FUNCTION);
	f->begun = true;
	if (h == NULL)
		return;
	h->sent = at;
	take(h, proc, at);
}

static void on_sent(
	struct flows *s, struct flow *f, const struct flow_event *e, int node, uint64_t at)
{
	int proc = proc_of(f, node, e, FT_FROM, FT_PROC);
	struct flow_hop *h = hop_of(s, f, e->number[FN_HOP]);

	visit_goes_on(f, e->number[FN_CAUSE], at);
	if (h == NULL)
		return;
	h->cause = e->number[FN_CAUSE];
	h->from = proc;
	h->sent = at;
	h->words = (uint64_t)e->number[FN_WORDS];
	h->spawn = e->kind == FLOW_SPAWN;
	if (!h->taken)
		h->start = h->until = at;
	set_text(&h->text, e, FT_MESSAGE);
	if (h->label == NULL) {
		h->label = label_of(h->text);
		h->exit = h->spawn ? NULL : exit_of(h->text, h->label);
	}
	set_text(&h->peer, e, e->text[FT_PEER].len > 0 ? FT_PEER : FT_TO);
}

/* The child is there at once, unless it is of another node, which says so itself. */
static void on_spawn(
	struct flows *s, struct flow *f, const struct flow_event *e, int node, uint64_t at)
{
	struct flow_hop *h;
	int child;

	on_sent(s, f, e, node, at);
	if (e->text[FT_TO].len == 0 || e->text[FT_TO].p[0] != '<')
		return;
	child = proc_of(f, node, e, FT_TO, FT_FUNCTION);
	h = hop_of(s, f, e->number[FN_HOP]);
	if (h != NULL && !h->taken)
		take(h, child, at);
}

static void on_received(
	struct flows *s, struct flow *f, const struct flow_event *e, int node, uint64_t at)
{
	int proc = proc_of(f, node, e, FT_TO, FT_PROC);
	struct flow_hop *h = hop_of(s, f, e->number[FN_HOP]);

	if (h == NULL)
		return;
	if (h->sent == 0)
		h->sent = at;
	take(h, proc, at);
}

/* A child of another node is known by the function that was asked for. */
static void name_children(struct flow *f)
{
	for (int i = 0; i < f->nhops; i++) {
		const struct flow_hop *h = &f->hops[i];
		char **name = h->to >= 0 ? &f->procs[h->to].name : NULL;

		if (!h->spawn || h->text == NULL || name == NULL ||
			(*name != NULL && strcmp(*name, "erts_internal:dist_spawn_init/1") != 0))
			continue;
		free(*name);
		*name = strdup(h->text);
	}
}

static void on_end(struct flow *f, const struct flow_event *e, int64_t now_ms)
{
	f->ended_at = now_ms;
	set_text(&f->function, e, FT_FUNCTION);
	set_text(&f->why, e, FT_WHY);
	f->depth = (unsigned)e->number[FN_DEPTH];
	f->end_wall = e->wall;
	f->elapsed = (uint64_t)e->number[FN_ELAPSED];
	f->all_messages = (uint64_t)e->number[FN_MESSAGES];
	f->all_spawns = (uint64_t)e->number[FN_SPAWNS];
}

void flows_add(struct flows *s, const struct flow_event *e, int64_t now_ms)
{
	int node = node_of(s, e);
	struct flow *f = node >= 0 ? flow_of(s, (uint64_t)e->number[FN_FLOW]) : NULL;
	uint64_t at;

	if (f == NULL)
		return;
	at = time_of(s, e);
	switch (e->kind) {
	case FLOW_BEGIN: on_begin(s, f, e, node, at); break;
	case FLOW_SEND: on_sent(s, f, e, node, at); break;
	case FLOW_SPAWN: on_spawn(s, f, e, node, at); break;
	case FLOW_RECEIVE: on_received(s, f, e, node, at); break;
	default: on_end(f, e, now_ms); break;
	}
}

/* ---- the end ----------------------------------------------------------------------------- */

static bool is_why(const struct flow *f, const char *why)
{
	return f->why != NULL && strcmp(f->why, why) == 0;
}

/* Of its beginning, or of a message, only what came later is known. */
static bool has_stray(const struct flow *f)
{
	for (int i = 0; i < f->nhops; i++)
		if (f->hops[i].number != 0 && f->hops[i].from < 0)
			return true;
	return !f->begun;
}

static bool has_untaken(const struct flow *f)
{
	for (int i = 0; i < f->nhops; i++)
		if (!f->hops[i].taken)
			return true;
	return false;
}

void flow_end_text(const struct flow *f, char *buf, size_t size)
{
	if (f->why == NULL)
		snprintf(buf, size, ", not ended yet");
	else if (is_why(f, "waits") && f->quiet > 0)
		snprintf(buf, size, ", nothing in the last %.1f s", (double)f->quiet / 1e9);
	else if (is_why(f, "idle") && f->quiet > 0)
		snprintf(buf, size, ", then nothing for %.1f s", (double)f->quiet / 1e9);
	else if (is_why(f, "idle") || is_why(f, "waits"))
		snprintf(buf, size, ", then nothing");
	else if (is_why(f, "aged"))
		snprintf(buf, size, ", and goes on (aged)");
	else
		buf[0] = '\0';
}

void flow_lack_text(const struct flow *f, char *buf, size_t size)
{
	if (is_why(f, "cut"))
		snprintf(buf, size,
			"it had more messages and spawns than are followed (option flowhops)");
	else if (f->messages < f->all_messages || f->spawns < f->all_spawns)
		snprintf(buf, size, "%u of %llu messages and %u of %llu spawns were seen",
			f->messages, (unsigned long long)f->all_messages, f->spawns,
			(unsigned long long)f->all_spawns);
	else if (f->why == NULL)
		snprintf(buf, size, "its end was not seen");
	else if (has_stray(f))
		snprintf(buf, size, "not all of its events were seen");
	else
		snprintf(buf, size,
			"events were dropped, and some of its messages were not seen to be taken");
}

static int by_time(const void *a, const void *b)
{
	const struct flow_hop *x = a, *y = b;

	if ((x->number == 0) != (y->number == 0))
		return x->number == 0 ? -1 : 1;
	if (x->sent != y->sent)
		return x->sent < y->sent ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* From the visit that ends last back to the beginning. */
static void mark_critical(struct flow *f)
{
	int i = -1;

	for (int k = 0; k < f->nhops; k++)
		if (i < 0 || f->hops[k].until >= f->hops[i].until)
			i = k;
	for (int steps = 0; i >= 0 && steps <= f->nhops; steps++) {
		f->hops[i].critical = true;
		i = f->hops[i].number == 0 ? -1 : flow_hop_of(f, f->hops[i].cause);
	}
}

static unsigned depth_of(const struct flow *f, int i)
{
	unsigned depth = 0;

	while (i >= 0 && f->hops[i].number != 0 && depth < (unsigned)f->nhops) {
		i = flow_hop_of(f, f->hops[i].cause);
		depth++;
	}
	return depth;
}

/* Nothing is taken before it was sent: wall clocks do not promise that. */
static void not_before(struct flow_hop *h)
{
	if (h->start < h->sent)
		h->start = h->sent;
	if (h->until < h->start)
		h->until = h->start;
}

/*
 * Has it events that have not come? Its end says how many messages and spawns there were. Where
 * events were dropped a message that nobody has taken may have been.
 *
 */
static bool lacks(const struct flows *s, const struct flow *f)
{
	return has_stray(f) || f->messages < f->all_messages || f->spawns < f->all_spawns ||
	       is_why(f, "cut") || (f->why == NULL && (s->dropped || s->lost > 0)) ||
	       (s->dropped && has_untaken(f));
}

/*
 * What its end says of the time is more than what events do, if some are missing or somebody still
 * waits.
 */
static void set_elapsed(struct flow *f)
{
	const uint64_t last = f->end, hour = 3600000000000;

	if (!f->incomplete && f->end_wall > last && f->end_wall - last < hour)
		f->quiet = f->end_wall - last;
	if (f->begun && f->elapsed < UINT64_MAX - f->start && f->start + f->elapsed > f->end &&
		(f->incomplete || is_why(f, "waits") || is_why(f, "aged")))
		f->end = f->start + f->elapsed;
}

static void complete(struct flows *s, struct flow *f)
{
	for (int i = 0; i < f->nhops; i++)
		not_before(&f->hops[i]);
	qsort(f->hops, (size_t)f->nhops, sizeof(*f->hops), by_time);
	f->start = f->hops[0].sent;
	for (int i = 0; i < f->nhops; i++) {
		const struct flow_hop *h = &f->hops[i];

		f->messages += h->number != 0 && !h->spawn;
		f->spawns += h->spawn;
		if (h->sent < f->start)
			f->start = h->sent;
		if (h->until > f->end)
			f->end = h->until;
	}
	f->incomplete = lacks(s, f);
	set_elapsed(f);
	name_children(f);
	mark_critical(f);
	for (int i = f->nhops - 1; f->why == NULL && f->depth == 0 && i >= 0; i--)
		if (f->hops[i].critical)
			f->depth = depth_of(f, i);
	s->done(s->arg, f);
}

/*
 * A message of a flow that is over was taken, or nobody will take it. If that was not seen, the
 * event may have been dropped, and the node tells of drops a moment later.
 *
 */
static bool is_complete(const struct flows *s, const struct flow *f, int64_t now_ms)
{
	const int64_t ago = now_ms - f->ended_at;

	if (f->ended_at == 0 || (s->nnodes > 1 && ago < GRACE_MS))
		return false;
	return ago >= DROPS_MS || s->dropped || is_why(f, "waits") || !has_untaken(f);
}

void flows_look(struct flows *s, int64_t now_ms, bool all)
{
	for (size_t i = 0; i < s->nslots; i++)
		for (struct flow **at = &s->slots[i], *f; (f = *at) != NULL;) {
			if (!all && !is_complete(s, f, now_ms)) {
				at = &f->next;
				continue;
			}
			*at = f->next;
			if (f->ended_at > 0)
				s->over[hash_of(f->id) % FLOW_OVER] = f->id;
			s->nflows--;
			s->nhops -= (size_t)f->nhops;
			if (f->nhops > 0)
				complete(s, f);
			else
				flow_free(f);
		}
}
