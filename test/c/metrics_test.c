/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of structs as they come from the library: labels of every kind, limits, buckets,
 * quantiles, names that conflict; then the same as Prometheus' text, as OpenMetrics and as OTLP.
 * Alerts: which begin, go on, are over or left out.
 */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "metrics/alert_set.h"
#include "metrics/exposition.h"
#include "metrics/labels.h"
#include "metrics/otlp_json.h"
#include "metrics/totals.h"

static struct totals totals = {.max_series = 1000};
static unsigned shown, hidden;
static const struct own_metric own[] = {{"up", "gauge"}, {NULL, NULL}};

static void on_shown(const struct metric *m)
{
	shown += m->shown;
	hidden += !m->shown;
}

static erltrace_value_t text(const char *s, size_t len)
{
	return (erltrace_value_t){.kind = ERLTRACE_STRING, .bytes = s, .len = len};
}

static erltrace_value_t number(int64_t i, int is_signed)
{
	return (erltrace_value_t){.kind = ERLTRACE_INT, .i = i, .is_signed = is_signed};
}

static struct metric *metric_of(const char *script, const char *name, const char *function,
	unsigned nkeys, const erltrace_metric_t *said)
{
	const erltrace_shape_t shape = {
		.name = name, .function = function, .nkeys = nkeys, .metric = said};
	const char *why;

	return totals_metric(&totals, script, &shape, &why);
}

static void add(struct metric *m, const char *node, const erltrace_value_t *keys, unsigned nkeys,
	int64_t value)
{
	const erltrace_agg_t change = {
		.keys = keys, .nkeys = nkeys, .value = value, .is_signed = 1};

	CHECK(metric_add(&totals, m, node, &change) == 0);
}

/* To be freed. */
static char *exposed(bool openmetrics)
{
	char *out = NULL;
	size_t len;
	struct expo x = {open_memstream(&out, &len), openmetrics};

	expo_totals(&x, &totals);
	expo_end(&x);
	fclose(x.f);
	return out;
}

#define HAS(part, openmetrics)                                                                     \
	do {                                                                                       \
		char *all = exposed(openmetrics);                                                  \
		CHECK(strstr(all, part) != NULL, "%s in\n%s", part, all);                          \
		free(all);                                                                         \
	} while (0)

static void test_labels(void)
{
	static const char stack[] = "a`b+0x1\nmain\n", bytes[] = {0x00, 0x7f, (char)0xfe};
	struct metric *m = metric_of("s", "kinds", "count", 7, NULL);
	const erltrace_value_t keys[] = {number(-1, 1), number(-1, 0), text("a\"b\\c\nd", 7),
		text("\xff\0z", 3),
		{.kind = ERLTRACE_STACK, .bytes = stack, .len = sizeof(stack) - 1},
		{.kind = ERLTRACE_BYTES, .bytes = bytes, .len = sizeof(bytes)},
		{.kind = ERLTRACE_FLOAT, .f = 0.004}};
	const char *line =
		"erltrace_s_kinds_total{node=\"n@h\",key0=\"-1\","
		"key1=\"18446744073709551615\",key2=\"a\\\"b\\\\c\\nd\","
		"key3=\"\xef\xbf\xbd\xef\xbf\xbdz\",key4=\"a`b+0x1;main\",key5=\"007ffe\","
		"key6=\"0.004\"} 5\n";

	add(m, "n@h", keys, 7, 2);
	add(m, "n@h", keys, 7, 3);
	CHECK(m->nseries == 1);
	HAS(line, false);
	HAS(line, true);
	totals_forget(&totals, "s");
	CHECK(totals.metrics == NULL);
}

/* What is longer is cut, between two characters, and added up. */
static void test_long_labels(void)
{
	struct metric *m = metric_of("s", "_", "sum", 1, NULL);
	char *long_text = malloc(LABEL_MAX + 10);
	erltrace_value_t key;
	struct label l;

	memset(long_text, 'x', LABEL_MAX + 10);
	memcpy(long_text + LABEL_MAX - 1, "\xc3\xa4\xc3\xb6", 4);
	key = text(long_text, LABEL_MAX + 10);
	add(m, "", &key, 1, 1);
	key.len--;
	add(m, "", &key, 1, 1);
	CHECK(m->nseries == 1);
	for (size_t i = 0; i < m->nchains; i++)
		if (m->chains[i] != NULL) {
			label_first(&l, m, m->chains[i]);
			CHECK(strcmp(l.name, "key0") == 0 && strlen(l.value) == LABEL_MAX + 2 &&
					strcmp(l.value + LABEL_MAX - 2, "x...") == 0,
				"%zu", strlen(l.value));
			label_next(&l);
			CHECK(l.value == NULL);
		}
	free(long_text);
	totals_forget(&totals, "s");
}

/* Two keys are two series, also if one is the other's end. */
static void test_keys_are_apart(void)
{
	const char *labels[] = {"kind"};
	const erltrace_metric_t said = {.labels = labels, .nlabels = 1};
	struct metric *m = metric_of("s", "x", "count", 2, &said);
	erltrace_value_t ab[] = {text("a", 1), text("bc", 2)},
			 abc[] = {text("ab", 2), text("c", 1)};

	add(m, "", ab, 2, 1);
	add(m, "", abc, 2, 2);
	HAS("erltrace_s_x_total{kind=\"a\",key1=\"bc\"} 1\n", false);
	HAS("erltrace_s_x_total{kind=\"ab\",key1=\"c\"} 2\n", false);
	totals_forget(&totals, "s");
}

static void test_too_many_series(void)
{
	struct metric *m = metric_of("s", "x", "count", 1, NULL);

	totals.max_series = 10;
	for (int i = 0; i < 100; i++) {
		erltrace_value_t key = number(i, 1);

		add(m, "n", &key, 1, 1);
	}
	CHECK(m->nseries == 11 && m->to_other == 90);
	HAS("{node=\"n\",key0=\"other\"} 90\n", false);
	totals.max_series = 1000;
	totals_forget(&totals, "s");
}

static void test_units(void)
{
	const erltrace_metric_t said = {.name = "took", .help = "A \"b\" \\ c\nd", .unit = "ns"};
	struct metric *m = metric_of("s", "t", "sum", 0, &said);

	add(m, "", NULL, 0, 1500000000);
	HAS("# HELP took_seconds_total A \"b\" \\\\ c\\nd\n# TYPE took_seconds_total counter\n"
	    "took_seconds_total 1.5\n",
		false);
	HAS("# HELP took_seconds A \\\"b\\\" \\\\ c\\nd\n# TYPE took_seconds counter\n"
	    "# UNIT took_seconds seconds\ntook_seconds_total 1.5\n# EOF\n",
		true);
	add(m, "", NULL, 0, -1500000001);
	HAS("took_seconds -0.000000001\n", false); /* it goes down: a gauge */
	totals_forget(&totals, "s");
}

/* A counter does not go back: 1,000 requests that wait have 2^63 ns together after 106 days. */
static void test_sums_do_not_overflow(void)
{
	const erltrace_metric_t said = {.name = "waited", .unit = "ns"};
	const erltrace_agg_t most = {.value = INT64_MAX, .is_signed = 1, .sum = INT64_MIN, .count = 1},
			     unsigned_most = {.value = -1};
	struct metric *m = metric_of("s", "t", "sum", 0, &said),
		      *a = metric_of("s", "a", "avg", 0, NULL),
		      *least = metric_of("s", "l", "min", 0, NULL);

	for (int i = 0; i < 4; i++)
		CHECK(metric_add(&totals, m, "", &most) == 0 &&
			metric_add(&totals, a, "", &most) == 0);
	CHECK(metric_add(&totals, m, "", &unsigned_most) == 0);
	CHECK(metric_add(&totals, least, "", &unsigned_most) == 0);
	HAS("waited_seconds_total 55340232221.128654843\n", false);
	HAS("erltrace_s_a_sum -36893488147419103232\n", false);
	HAS("erltrace_s_l 18446744073709551615\n", false);
	totals_forget(&totals, "s");
}

static void test_buckets(void)
{
	const erltrace_bucket_t buckets[] = {{INT64_MIN, 0, 1}, {4, 8, 2}, {100, INT64_MAX, 3}};
	const erltrace_agg_t change = {.buckets = buckets, .nbuckets = 3};
	struct metric *m = metric_of("s", "q", "lquantize", 0, NULL);

	CHECK(metric_add(&totals, m, "", &change) == 0);
	HAS("erltrace_s_q_bucket{le=\"-1\"} 1\nerltrace_s_q_bucket{le=\"3\"} 1\n"
	    "erltrace_s_q_bucket{le=\"7\"} 3\nerltrace_s_q_bucket{le=\"99\"} 3\n"
	    "erltrace_s_q_bucket{le=\"+Inf\"} 6\nerltrace_s_q_count 6\n",
		false);
	HAS("erltrace_s_q_bucket{le=\"7.0\"} 3\n", true);
	totals_forget(&totals, "s");
}

static void test_quantiles_and_averages(void)
{
	static const double percents[] = {50, 99.9};
	const erltrace_shape_t shape = {
		.name = "p", .function = "percentile", .percents = percents, .npercents = 2};
	const erltrace_bucket_t buckets[] = {{10, 11, 1}, {20, 21, 1}, {30, 31, 1}};
	const erltrace_agg_t values = {.buckets = buckets, .nbuckets = 3},
			     mean = {.sum = -7, .count = 2}, large = {.value = -1};
	const char *why;
	struct metric *p = totals_metric(&totals, "s", &shape, &why);
	struct metric *a = metric_of("s", "a", "avg", 0, NULL),
		      *x = metric_of("s", "x", "max", 0, NULL);

	CHECK(metric_add(&totals, p, "", &values) == 0 && metric_add(&totals, a, "", &mean) == 0);
	CHECK(metric_add(&totals, x, "", &large) == 0); /* beyond 63 bits */
	HAS("erltrace_s_p{quantile=\"0.5\"} 20\nerltrace_s_p{quantile=\"0.999\"} 30\n"
	    "erltrace_s_p_count 3\n",
		false);
	HAS("erltrace_s_a_sum -7\nerltrace_s_a_count 2\n", false);
	HAS("erltrace_s_x 18446744073709551615\n", false);
	totals_forget(&totals, "s");
}

static void test_conflicts(void)
{
	const erltrace_metric_t said = {.name = "up"}, count = {.name = "a_count"},
				a = {.name = "a"};
	struct metric *m;

	totals.on_shown = on_shown;
	totals.own = own;
	totals.owner = "the server itself";
	m = metric_of("one", "x", "max", 0, &said);
	CHECK(!m->shown && strcmp(m->why, "the server itself has a metric up") == 0, "%s", m->why);
	metric_of("one", "h", "quantize", 0, &a);
	m = metric_of("two", "c", "max", 0, &count);
	CHECK(!m->shown && strcmp(m->why, "a_count has samples of the same names as a, of @h in "
					  "one.d") == 0,
		"%s", m->why);
	CHECK(hidden == 2 && shown == 0);
	totals_forget(&totals, "one");
	CHECK(m->shown && shown == 1);
	CHECK(metric_of("two", "d", "stddev", 0, NULL) == NULL);
	totals_keep(&totals, "two", NULL, 0);
	CHECK(totals.metrics == NULL);
}

/* Names of the server and of the application in a release: of both, wherever a script runs. */
static void test_own_names(void)
{
	static const char *const names[] = {"erltrace_script_up", "erltrace_scrapes_total",
		"erltrace_script_armed_ratio", "erltrace_script_spent_seconds"};
	erltrace_metric_t said = {.name = NULL};

	totals.own = own_metrics;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		said.name = names[i];
		CHECK(!metric_of("s", "x", "count", 0, &said)->shown, "%s", names[i]);
	}
	totals_forget(&totals, "s");
	totals.own = own;
}

/* What the script was does not add up with what it is now. */
static void test_changed(void)
{
	struct metric *m = metric_of("s", "x", "count", 0, NULL);

	add(m, "", NULL, 0, 5);
	CHECK(metric_of("s", "x", "count", 0, NULL) == m && m->nseries == 1);
	CHECK(metric_of("s", "x", "sum", 0, NULL) == m && m->nseries == 0);
	totals_forget(&totals, "s");
}

static void test_otlp(void)
{
	static const char *const parts[] = {
		"{\"resourceMetrics\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",",
		"\"scope\":{\"name\":\"erltrace\",\"version\":\"1\"}",
		"\"name\":\"erltrace_s_x\",\"description\":\"\",\"unit\":\"\",\"sum\":{\"dataPoints\":[{",
		"[{\"attributes\":[{\"key\":\"node\",\"value\":{\"stringValue\":\"n\"}},",
		"{\"key\":\"key0\",\"value\":{\"stringValue\":\"a",
		"\"value\":{\"stringValue\":\"a\\\"\\\\\\n\\u0001\"}}],",
		"\"asInt\":\"5\"}],\"isMonotonic\":true,\"aggregationTemporality\":2}}",
		"\"name\":\"q_seconds\",\"description\":\"\",\"unit\":\"s\",\"histogram\":",
		"\"count\":\"3\",\"explicitBounds\":[0.0030000000000000001,1.0],",
		"\"bucketCounts\":[\"0\",\"1\",\"2\"]",
	};
	const erltrace_bucket_t buckets[] = {{4, 1001, 1}, {1001, INT64_MAX, 2}};
	const erltrace_agg_t change = {.buckets = buckets, .nbuckets = 2};
	const erltrace_metric_t said = {.name = "q", .unit = "ms"};
	struct metric *m = metric_of("s", "x", "count", 1, NULL),
		      *q = metric_of("s", "q", "quantize", 0, &said);
	erltrace_value_t key = text("a\"\\\n\1", 5);
	char *json;

	add(m, "n", &key, 1, 5);
	CHECK(metric_add(&totals, q, "", &change) == 0);
	json = otlp_json(&totals, "1");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		CHECK(strstr(json, parts[i]) != NULL, "%s in\n%s", parts[i], json);
	free(json);
	totals_forget(&totals, "s");
}

/* ---- alerts ----------------------------------------------------------------------------- */

static enum alert_is called(struct alert_set *all, const char *name, const char *text, int64_t now)
{
	struct alert *a;

	return alerts_call(all, "s", "n", name, text, now, true, &a);
}

static void test_alert_goes_on_while_it_is_called(void)
{
	struct alert_set all = {.most = 10};
	struct alert *a;

	CHECK(called(&all, "", "x", 60000) == ALERT_NONE && all.calls == 0);
	CHECK(called(&all, "slow", "1", 60000) == ALERT_BEGINS);
	CHECK(called(&all, "slow", "2", 61000) == ALERT_GOES_ON);
	a = alerts_find(&all, "slow", "s", "n");
	CHECK(a != NULL && strcmp(a->text, "2") == 0 && a->on);
	CHECK(alerts_find(&all, "slow", "s", "m") == NULL);
	CHECK(!alert_ends(a, 61999, 1000) && alert_ends(a, 62000, 1000) && !a->on);
	CHECK(!alert_ends(a, 99000, 1000)); /* once */
	CHECK(called(&all, "slow", "3", 62001) == ALERT_BEGINS && all.n == 1);
	CHECK(all.calls == 3 && all.begun == 2);
	alerts_remove_all(&all);
	CHECK(all.n == 0 && all.list == NULL);
}

static void test_alerts_of_a_minute(void)
{
	struct alert_set all = {.most = 2};
	struct alert *a;

	CHECK(called(&all, "a", "", 60000) == ALERT_BEGINS);
	CHECK(alerts_call(&all, "s", "n", "b", "", 60001, false, &a) == ALERT_LEFT_OUT);
	CHECK(called(&all, "b", "", 60002) == ALERT_BEGINS);
	CHECK(called(&all, "c", "", 60003) == ALERT_LEFT_OUT);
	CHECK(called(&all, "b", "", 60004) == ALERT_GOES_ON); /* which is none that begins */
	CHECK(alerts_minute(&all, 119999) == 0 && all.left_out == 2);
	CHECK(alerts_minute(&all, 120000) == 2 && all.left_out == 0);
	CHECK(called(&all, "c", "", 120001) == ALERT_BEGINS && all.dropped == 2);
	alerts_remove_all(&all);
}

static unsigned freed;

static void on_free(struct alert *a)
{
	freed += ((unsigned char *)a)[sizeof(*a)] == 7;
}

/* Names and texts are cut between two characters; the owner's part of an alert is its own. */
static void test_alert_parts(void)
{
	struct alert_set all = {.most = 10, .size = sizeof(struct alert) + 1, .free = on_free};
	char name[ALERTS_NAME_MAX + 10], text[ALERTS_TEXT_MAX + 10];
	struct alert *a;

	memset(name, 'n', sizeof(name) - 1);
	memset(text, 't', sizeof(text) - 1);
	name[sizeof(name) - 1] = text[sizeof(text) - 1] = '\0';
	memcpy(name + ALERTS_NAME_MAX - 1, "\xc3\xa4", 2);
	CHECK(called(&all, name, text, 60000) == ALERT_BEGINS);
	a = alerts_find(&all, name, "s", "n");
	CHECK(a != NULL && strlen(a->name) == ALERTS_NAME_MAX - 1 &&
		strlen(a->text) == ALERTS_TEXT_MAX);
	((unsigned char *)a)[sizeof(*a)] = 7;
	name[ALERTS_NAME_MAX + 5] = 'x'; /* beyond what is kept */
	CHECK(called(&all, name, "", 60000) == ALERT_GOES_ON && all.n == 1);
	alerts_remove_all(&all);
	CHECK(freed == 1);
}

static void test_too_many_alerts(void)
{
	struct alert_set all = {.most = ALERTS_MAX + 10};
	char name[16];

	for (int i = 0; i < ALERTS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "a%d", i);
		CHECK(called(&all, name, "", 60000) ==
			(i < ALERTS_MAX ? ALERT_BEGINS : ALERT_LEFT_OUT));
	}
	CHECK(all.n == ALERTS_MAX && all.dropped == 5);
	alerts_remove_all(&all);
}

int main(void)
{
	test_labels();
	test_long_labels();
	test_keys_are_apart();
	test_too_many_series();
	test_units();
	test_sums_do_not_overflow();
	test_buckets();
	test_quantiles_and_averages();
	test_conflicts();
	test_own_names();
	test_changed();
	test_otlp();
	test_alert_goes_on_while_it_is_called();
	test_alerts_of_a_minute();
	test_alert_parts();
	test_too_many_alerts();
	totals_free(&totals);
	return finish();
}
