/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constants of percentile(x, 50, 99, 99.9): integers or decimals above 0, up to 100. They are
 * the one place where a decimal may be. Without any there are four that people ask for.
 */
#include "check.h"
#include "prog/aggfn.h"
#include "prog/hist.h"

#define DECIMALS 6 /* PERCENT has that many zeros */

static const uint32_t usual[] = {50 * PERCENT, 90 * PERCENT, 99 * PERCENT, 999 * PERCENT / 10};

static void add(uint64_t param[5], unsigned i, uint32_t percent)
{
	param[i / 2] |= (uint64_t)percent << 32 * (i % 2);
}

/* A decimal in millionths; UINT64_MAX: too large, or too many digits after the point. */
static uint64_t decimal(const char *s, uint32_t len)
{
	unsigned places = 0;
	bool behind = false;
	uint64_t v = 0;

	for (uint32_t i = 0; i < len; i++) {
		if (s[i] == '.') {
			behind = true;
			continue;
		}
		if (behind && places == DECIMALS) {
			if (s[i] != '0')
				return UINT64_MAX;
			continue;
		}
		places += behind;
		v = 10 * v + (uint64_t)(s[i] - '0');
		if (v > 1000ull * PERCENT)
			return UINT64_MAX;
	}
	for (; places < DECIMALS; places++)
		v *= 10;
	return v;
}

/* 0: an error. */
static uint32_t percent_of(struct d_comp *c, struct d_node *a)
{
	uint64_t v;

	if (a->kind == N_DECIMAL) {
		v = decimal(a->text, a->len);
	} else {
		if (chk_expr(c, a, CX_VALUE))
			return 0;
		if (a->kind != N_INT || !d_is_int(a->type)) {
			CHK_ERR(c, D_PERCENTILE_TYPE, a,
				"a percentage of percentile() must be a constant such as 99 or "
				"99.9");
			return 0;
		}
		v = a->value <= 100 ? a->value * PERCENT : UINT64_MAX;
	}
	if (v == 0 || v > 100 * PERCENT) {
		CHK_ERR(c, D_PERCENTILE_VAL, a,
			"a percentage of percentile() must be above 0 and at most 100, with at "
			"most %d digits after the point",
			DECIMALS);
		return 0;
	}
	return (uint32_t)v;
}

int chk_percents(struct d_comp *c, const struct d_node *f, uint64_t param[5])
{
	struct d_node *a = f->list->next;
	uint32_t percent;

	if (a == NULL)
		for (unsigned i = 0; i < sizeof(usual) / sizeof(*usual); i++)
			add(param, i, usual[i]);
	for (unsigned i = 0; a != NULL; i++, a = a->next) {
		percent = percent_of(c, a);
		if (percent == 0)
			return -1;
		add(param, i, percent);
	}
	return 0;
}

static const char *texts(const uint64_t param[5], char *buf, size_t size)
{
	char one[PERCENT_TEXT];
	size_t n = 0;

	for (unsigned i = 0; i < AGGFN_PERCENTS; i++) {
		uint32_t percent = aggfn_percent(param, i);

		if (percent == 0)
			break;
		hist_percent_text(percent, one);
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? ", " : "", one);
	}
	return buf;
}

int chk_same_percents(struct d_comp *c, const struct d_node *f, const struct d_ident *id,
	const uint64_t param[5])
{
	char here[AGGFN_PERCENTS * PERCENT_TEXT], there[AGGFN_PERCENTS * PERCENT_TEXT];

	if (memcmp(param, id->aggparam, sizeof(id->aggparam)) == 0)
		return 0;
	return CHK_ERR(c, D_PERCENTILE_MATCH, f,
		"the percentages of percentile() for @%s are %s here and %s at line %d: all uses "
		"must agree",
		id->name, texts(param, here, sizeof(here)),
		texts(id->aggparam, there, sizeof(there)), id->line);
}
