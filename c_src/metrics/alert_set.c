/* SPDX-License-Identifier: Apache-2.0 */
#include "alert_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

static void alert_free(const struct alert_set *all, struct alert *a)
{
	if (all->free != NULL)
		all->free(a);
	free(a->name);
	free(a->script);
	free(a->node);
	free(a->text);
	free(a);
}

struct alert *alerts_new(
	struct alert_set *all, const char *name, const char *script, const char *node)
{
	struct alert *a = calloc(1, all->size > sizeof(*a) ? all->size : sizeof(*a));

	if (a == NULL)
		return NULL;
	a->name = strdup(name);
	a->script = strdup(script);
	a->node = strdup(node);
	if (a->name == NULL || a->script == NULL || a->node == NULL) {
		alert_free(all, a);
		return NULL;
	}
	a->next = all->list;
	all->list = a;
	all->n++;
	return a;
}

void alerts_remove(struct alert_set *all, struct alert **at)
{
	struct alert *a = *at;

	*at = a->next;
	all->n--;
	alert_free(all, a);
}

void alerts_remove_all(struct alert_set *all)
{
	while (all->list != NULL)
		alerts_remove(all, &all->list);
}

static void cut_name(char to[ALERTS_NAME_MAX + 1], const char *name)
{
	snprintf(to, ALERTS_NAME_MAX + 1, "%.*s", (int)utf8_cut(name, ALERTS_NAME_MAX), name);
}

static struct alert *find(
	const struct alert_set *all, const char *name, const char *script, const char *node)
{
	struct alert *a = all->list;

	while (a != NULL && (strcmp(a->name, name) != 0 || strcmp(a->script, script) != 0 ||
				    strcmp(a->node, node) != 0))
		a = a->next;
	return a;
}

struct alert *alerts_find(
	const struct alert_set *all, const char *name, const char *script, const char *node)
{
	char cut[ALERTS_NAME_MAX + 1];

	cut_name(cut, name);
	return find(all, cut, script, node);
}

void alert_set_text(struct alert *a, const char *text)
{
	size_t len = utf8_cut(text, ALERTS_TEXT_MAX);
	char *copy;

	if (a->text != NULL && strncmp(a->text, text, len) == 0 && a->text[len] == '\0')
		return;
	copy = strndup(text, len);
	if (copy == NULL)
		return;
	free(a->text);
	a->text = copy;
}

unsigned alerts_minute(struct alert_set *all, int64_t now)
{
	unsigned left_out = all->left_out;

	if (now - all->minute < 60000)
		return 0;
	all->minute = now;
	all->begun = all->left_out = 0;
	return left_out;
}

enum alert_is alerts_call(struct alert_set *all, const char *script, const char *node,
	const char *called, const char *text, int64_t now, bool spare, struct alert **a)
{
	char name[ALERTS_NAME_MAX + 1];
	enum alert_is is = ALERT_GOES_ON;

	if (called[0] == '\0')
		return ALERT_NONE;
	cut_name(name, called);
	all->calls++;
	*a = find(all, name, script, node);
	if (*a == NULL || !(*a)->on) {
		alerts_minute(all, now);
		if (all->n >= ALERTS_MAX || all->begun >= all->most || !spare) {
			all->dropped++;
			all->left_out++;
			return ALERT_LEFT_OUT;
		}
		if (*a == NULL && (*a = alerts_new(all, name, script, node)) == NULL)
			return ALERT_NONE;
		all->begun++;
		is = ALERT_BEGINS;
	}
	(*a)->on = true;
	(*a)->last = now;
	alert_set_text(*a, text);
	return is;
}

bool alert_ends(struct alert *a, int64_t now, int64_t hold)
{
	if (!a->on || now - a->last < hold)
		return false;
	a->on = false;
	return true;
}
