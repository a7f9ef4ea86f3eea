/* SPDX-License-Identifier: Apache-2.0 */
/* A term and a pattern, two terms: as match.c and same.c of beam/term, on the nodes that terms are
 * here. */
#include <string.h>

#include "events.h"
#include "replay_terms.h"

enum { DEEP = 64, STEPS = 10000 };

/* ---- are two the same? ---------------------------------------------------------------- */

struct walk {
	unsigned left;
};

static int same(struct walk *w, const struct rp_value *a, const struct rp_value *b, unsigned deep);

static int same_bits(struct walk *w, const struct rp_bits *a, const struct rp_bits *b)
{
	if (a->n != b->n)
		return 0;
	if (a->n / 8 / 64 > w->left)
		return -1;
	w->left -= (unsigned)(a->n / 8 / 64);
	for (uint64_t i = 0; i < a->n; i++) {
		unsigned ba = a->data[(a->off + i) / 8] >> (7 - (a->off + i) % 8) & 1;
		unsigned bb = b->data[(b->off + i) / 8] >> (7 - (b->off + i) % 8) & 1;

		if (ba != bb)
			return 0;
	}
	return 1;
}

static int same_maps(
	struct walk *w, const struct rp_value *a, const struct rp_value *b, unsigned deep)
{
	const struct pat_node *na = a->of->pat.nodes, *nb = b->of->pat.nodes;
	unsigned n = node_of(a)->n, at = a->node + 1;

	if (n != node_of(b)->n)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		struct rp_value key = part_of(a, at), value = part_of(a, na[at].end);
		unsigned bt = b->node + 1, k = 0;
		int is = 0;

		for (; k < n && is == 0; k++) {
			struct rp_value other = part_of(b, bt), its = part_of(b, nb[bt].end);

			is = same(w, &key, &other, deep);
			if (is > 0)
				is = same(w, &value, &its, deep) > 0 ? 1 : -2;
			bt = nb[nb[bt].end].end;
		}
		if (is != 1)
			return is == -2 ? 0 : is;
		at = na[na[at].end].end;
	}
	return 1;
}

/* Of funs, and of what was cut, the text does not say it. */
static int same_opaque(const struct pat_node *a, const struct pat_node *b)
{
	if (a->len != b->len || memcmp(a->text, b->text, a->len) != 0)
		return 0;
	return strncmp(a->text, "#Fun", 4) == 0 || strstr(a->text, "...") != NULL ? -1 : 1;
}

static int same_terms(
	struct walk *w, const struct rp_value *a, const struct rp_value *b, unsigned deep)
{
	const struct pat_node *na = node_of(a), *nb = node_of(b);
	unsigned at, bt;
	int is = 1;

	if (na->op != nb->op)
		return 0;
	switch (na->op) {
	case PAT_INT: return na->num == nb->num;
	case PAT_FLOAT: return na->real == nb->real;
	case PAT_BIG:
		return na->n == nb->n && na->len == nb->len &&
		       memcmp(na->text, nb->text, na->len) == 0;
	case PAT_ATOM: return na->len == nb->len && memcmp(na->text, nb->text, na->len) == 0;
	case PAT_OPAQUE: return same_opaque(na, nb);
	case PAT_MAP: return same_maps(w, a, b, deep + 1);
	case PAT_NIL: return 1;
	case PAT_CONS:
	case PAT_TUPLE: break;
	default: return 0;
	}
	if (na->op == PAT_TUPLE && na->n != nb->n)
		return 0;
	at = a->node + 1;
	bt = b->node + 1;
	for (unsigned i = 0, n = na->op == PAT_TUPLE ? na->n : 2; i < n && is > 0; i++) {
		struct rp_value pa = part_of(a, at), pb = part_of(b, bt);

		/* the last one is not deeper than the whole */
		is = same(w, &pa, &pb, i + 1 < n ? deep + 1 : deep);
		at = a->of->pat.nodes[at].end;
		bt = b->of->pat.nodes[bt].end;
	}
	return is;
}

static int same(struct walk *w, const struct rp_value *a, const struct rp_value *b, unsigned deep)
{
	struct rp_bits ba, bb;

	if (deep >= DEEP || w->left == 0)
		return -1;
	w->left--;
	if (is_term(a) && is_term(b) && a->of == b->of && a->node == b->node)
		return 1;
	if (rp_bits_of(a, &ba))
		return rp_bits_of(b, &bb) ? same_bits(w, &ba, &bb) : 0;
	if (rp_bits_of(b, &bb))
		return 0;
	if (is_term(a) && is_term(b))
		return same_terms(w, a, b, deep);
	if (!is_term(a) && !is_term(b))
		return a->kind == b->kind && a->num == b->num;
	if (is_term(a)) {
		const struct rp_value *t = a;

		a = b;
		b = t;
	}
	if (a->kind == VALUE_INT)
		return node_of(b)->op == PAT_INT && node_of(b)->num == a->num;
	return node_of(b)->op == PAT_BIG && node_of(b)->n == 0 &&
	       node_of(b)->len == sizeof(a->num) &&
	       memcmp(node_of(b)->text, &a->num, sizeof(a->num)) == 0;
}

int rp_same(const struct rp_value *a, const struct rp_value *b)
{
	struct walk w = {STEPS};

	return same(&w, a, b, 0);
}

/* ---- patterns ------------------------------------------------------------------------- */

struct match {
	const struct pat_node *node;
	struct rp_value *var;
	uint32_t bound;
	struct walk walk;
};

static bool match(struct match *m, unsigned i, const struct rp_value *v);

static bool bind(struct match *m, unsigned n, const struct rp_value *v)
{
	if (m->bound >> n & 1)
		return same(&m->walk, &m->var[n], v, 0) > 0;
	m->bound |= 1u << n;
	m->var[n] = *v;
	return true;
}

static struct rp_bits part_of_bits(const struct rp_bits *b, uint64_t from, uint64_t n)
{
	uint64_t at = b->off + from;

	return (struct rp_bits){b->data + at / 8, (unsigned)(at % 8), n};
}

static struct rp_value integer_of(const struct pat_node *seg, const struct rp_bits *b)
{
	unsigned up = 64 - (unsigned)b->n;
	uint64_t v = 0;

	if (seg->num & SEG_LITTLE)
		for (uint64_t i = 0; i < b->n / 8; i++)
			v |= (uint64_t)octet(b, i) << 8 * i;
	else
		for (uint64_t i = 0; i < b->n; i++)
			v = v << 1 | (b->data[(b->off + i) / 8] >> (7 - (b->off + i) % 8) & 1);
	if ((seg->num & SEG_SIGNED) && b->n > 0)
		v = (uint64_t)((int64_t)(v << up) >> up);
	else if (v > INT64_MAX)
		return (struct rp_value){.kind = VALUE_UINT, .num = (int64_t)v};
	return (struct rp_value){.kind = VALUE_INT, .num = (int64_t)v};
}

static bool match_bits(struct match *m, unsigned i, const struct rp_bits *b)
{
	unsigned end = m->node[i].end;
	uint64_t at = 0;

	for (i++; i < end; i = m->node[i].end) {
		const struct pat_node *seg = &m->node[i];
		uint64_t left = b->n - at, n = seg->op == SEG_BYTES  ? (uint64_t)seg->len * 8
					       : seg->op == SEG_REST ? left
								     : seg->n;
		struct rp_value v = {.kind = VALUE_BITS};

		if (n > left || (seg->op == SEG_REST && n % seg->n != 0))
			return false;
		v.bits = part_of_bits(b, at, n);
		at += n;
		if (seg->op == SEG_BYTES) {
			for (uint32_t k = 0; k < seg->len; k++)
				if (octet(&v.bits, k) != (uint8_t)seg->text[k])
					return false;
			continue;
		}
		if (seg->op == SEG_INT)
			v = integer_of(seg, &v.bits);
		if (seg[1].op == PAT_VAR ? !bind(m, seg[1].n, &v)
					 : seg[1].op != PAT_ANY &&
						   (v.kind != VALUE_INT || v.num != seg[1].num))
			return false;
	}
	return at == b->n;
}

/* The value of the key that is node i of the pattern. */
static bool find_key(
	struct match *m, unsigned i, const struct rp_value *map, struct rp_value *value)
{
	const struct pat_node *nodes = map->of->pat.nodes;
	unsigned at = map->node + 1;

	for (unsigned k = 0; k < node_of(map)->n; k++) {
		struct rp_value key = part_of(map, at);

		*value = part_of(map, nodes[at].end);
		/* a map that is a key matches no larger one */
		if (match(m, i, &key) && (m->node[i].op != PAT_MAP || m->node[i].n == nodes[at].n))
			return true;
		at = nodes[nodes[at].end].end;
	}
	return false;
}

static bool match_parts(struct match *m, unsigned i, const struct rp_value *v)
{
	const struct pat_node *p = &m->node[i], *n = node_of(v);
	unsigned at = v->node + 1, count = p->op == PAT_CONS ? 2 : p->n;

	if (n->op != p->op || (p->op == PAT_TUPLE && n->n != p->n))
		return false;
	i++;
	for (unsigned k = 0; k < count; k++, i = m->node[i].end, at = v->of->pat.nodes[at].end) {
		struct rp_value part = part_of(v, at);

		if (!match(m, i, &part))
			return false;
	}
	return true;
}

static bool match_map(struct match *m, unsigned i, const struct rp_value *v)
{
	unsigned n = m->node[i].n;
	struct rp_value value;

	if (node_of(v)->op != PAT_MAP)
		return false;
	i++;
	for (unsigned k = 0; k < n; k++, i = m->node[m->node[i].end].end)
		if (!find_key(m, i, v, &value) || !match(m, m->node[i].end, &value))
			return false;
	return true;
}

static bool match(struct match *m, unsigned i, const struct rp_value *v)
{
	const struct pat_node *p = &m->node[i], *n = is_term(v) ? node_of(v) : NULL;
	struct rp_bits b;

	switch (p->op) {
	case PAT_ANY: return true;
	case PAT_VAR: return bind(m, p->n, v);
	case PAT_BOTH: return match(m, i + 1, v) && match(m, m->node[i + 1].end, v);
	case PAT_BINARY: return rp_bits_of(v, &b) && match_bits(m, i, &b);
	case PAT_INT:
		return n != NULL ? n->op == PAT_INT && n->num == p->num
				 : v->kind == VALUE_INT && v->num == p->num;
	case PAT_BIG:
		if (n == NULL)
			return v->kind == VALUE_UINT && p->n == 0 && p->len == sizeof(v->num) &&
			       memcmp(p->text, &v->num, p->len) == 0;
		return n->op == PAT_BIG && n->n == p->n && n->len == p->len &&
		       memcmp(n->text, p->text, p->len) == 0;
	default: break;
	}
	if (n == NULL)
		return false;
	switch (p->op) {
	case PAT_ATOM:
		return n->op == PAT_ATOM && n->len == p->len &&
		       memcmp(n->text, p->text, p->len) == 0;
	case PAT_FLOAT: return n->op == PAT_FLOAT && n->real == p->real;
	case PAT_NIL: return n->op == PAT_NIL;
	case PAT_CONS:
	case PAT_TUPLE: return match_parts(m, i, v);
	case PAT_MAP: return match_map(m, i, v);
	default: return false;
	}
}

bool rp_match(const struct pat *pat, const struct rp_value *v, struct rp_value *var)
{
	struct match m = {.node = pat->nodes, .var = var, .walk = {STEPS}};

	return match(&m, 0, v);
}

bool rp_map_value(const struct rp_value *map, const struct pat *key, struct rp_value *value)
{
	struct match m = {.node = key->nodes, .walk = {STEPS}};

	return is_term(map) && node_of(map)->op == PAT_MAP && pat_is_ground(key) &&
	       find_key(&m, 0, map, value);
}
