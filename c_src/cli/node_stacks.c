/* SPDX-License-Identifier: Apache-2.0 */
/* What aggregations by stack have gathered in a node, decoded from what its agent sends. */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "node/decode.h"

enum { MAX_KEYS = 32 };

/* A row under way: the texts of its stacks, one frame a line, behind each other. */
struct row {
	erltrace_value_t keys[MAX_KEYS];
	size_t begins[MAX_KEYS]; /* of stacks: in text */
	char *text;
	size_t len, room;
};

static int put_text(struct row *r, const char *text, size_t len)
{
	if (!ARRAY_RESERVE(r->text, r->room, r->len + len))
		return -1;
	memcpy(r->text + r->len, text, len);
	r->len += len;
	return 0;
}

/* [Frame] */
static int get_frames(const ei_x_buff *x, int *at, struct row *r, unsigned key)
{
	const char *text;
	long len;
	int n = 0;

	if (ei_decode_list_header(x->buff, at, &n) < 0)
		return -1;
	r->begins[key] = r->len;
	for (int i = 0; i < n; i++)
		if (nd_get_text(x, at, &text, &len) < 0 || put_text(r, text, (size_t)len) < 0 ||
			put_text(r, "\n", 1) < 0)
			return -1;
	if (n > 0)
		nd_skip(x, at); /* the list's end */
	r->keys[key].kind = ERLTRACE_STACK;
	r->keys[key].len = r->len - r->begins[key];
	return 0;
}

/* Binary | Integer | Float | [Frame] | undefined */
static int get_key(const ei_x_buff *x, int *at, struct row *r, unsigned key)
{
	erltrace_value_t *v = &r->keys[key];
	unsigned long long u;
	long long i;
	const char *text;
	char atom[16];
	long len;

	*v = (erltrace_value_t){.kind = ERLTRACE_STRING};
	if (nd_get_text(x, at, &text, &len) == 0) {
		v->bytes = text;
		v->len = (size_t)len;
	} else if (ei_decode_longlong(x->buff, at, &i) == 0) {
		*v = (erltrace_value_t){.kind = ERLTRACE_INT, .is_signed = 1, .i = i};
	} else if (ei_decode_ulonglong(x->buff, at, &u) == 0) {
		*v = (erltrace_value_t){.kind = ERLTRACE_INT, .i = (int64_t)u};
	} else if (ei_decode_double(x->buff, at, &v->f) == 0) {
		v->kind = ERLTRACE_FLOAT;
	} else if (nd_get_atom(x, at, atom, sizeof(atom)) < 0) {
		return get_frames(x, at, r, key);
	}
	return 0;
}

/* {Name, Function, Keys, Value} */
static int get_stack(const ei_x_buff *x, int *at, struct row *r, erltrace_agg_cb *cb, void *arg)
{
	char name[256], function[16];
	erltrace_agg_t a = {.name = name, .function = function, .keys = r->keys, .normal = 1};
	const char *text;
	long long value;
	long len;
	int n = 0;

	r->len = 0;
	if (nd_get_tuple(x, at, 4) < 0 || nd_get_text(x, at, &text, &len) < 0 ||
		nd_get_atom(x, at, function, sizeof(function)) < 0 ||
		ei_decode_list_header(x->buff, at, &n) < 0 || n > MAX_KEYS)
		return -1;
	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	for (int i = 0; i < n; i++)
		if (get_key(x, at, r, (unsigned)i) < 0)
			return -1;
	if (n > 0)
		nd_skip(x, at);
	if (ei_decode_longlong(x->buff, at, &value) < 0)
		return -1;
	for (int i = 0; i < n; i++)
		if (r->keys[i].kind == ERLTRACE_STACK)
			r->keys[i].bytes = r->text + r->begins[i];
	a.nkeys = (unsigned)n;
	a.value = value;
	return cb(arg, &a);
}

int node_get_stacks(const ei_x_buff *x, int at, erltrace_agg_cb *cb, void *arg)
{
	struct row r = {.text = NULL};
	int n = 0, rc = ei_decode_list_header(x->buff, &at, &n);

	for (int i = 0; i < n && rc == 0; i++)
		rc = get_stack(x, &at, &r, cb, arg);
	free(r.text);
	return rc;
}
