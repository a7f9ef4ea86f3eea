/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of those who are not known. Anybody who reaches the port may open some and say
 * nothing: they get ten seconds each (server.c), there are so many of one address and in all, and
 * the next one displaces the oldest of the address that has the most. So who has a cookie to show,
 * which takes one request, always gets in. Those of users stay.
 */
#include "web.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "conn_limit.h"

struct conn_entry {
	struct conn_entry *next;
	struct lws *wsi;
	unsigned user; /* its number; 0: a stranger */
	bool leaving;  /* it has been told to go */
	char address[64];
};

static struct conn_entry *find(const struct web *w, const struct lws *wsi)
{
	struct conn_entry *p = w->conns;

	while (p != NULL && p->wsi != wsi)
		p = p->next;
	return p;
}

static void address_of(struct lws *wsi, char *address, size_t size)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getpeername(lws_get_socket_fd(wsi), (struct sockaddr *)&ss, &len) < 0 ||
		getnameinfo((struct sockaddr *)&ss, len, address, (socklen_t)size, NULL, 0,
			NI_NUMERICHOST) != 0)
		snprintf(address, size, "?");
}

static bool is_stranger(const struct conn_entry *p)
{
	return p->user == 0 && !p->leaving;
}

/* Strangers of an address; NULL: all. */
static unsigned strangers(const struct web *w, const char *address)
{
	unsigned n = 0;

	for (const struct conn_entry *p = w->conns; p != NULL; p = p->next)
		n += is_stranger(p) && (address == NULL || strcmp(p->address, address) == 0);
	return n;
}

/* The address with the most of them. */
static const char *busiest(const struct web *w)
{
	const char *best = NULL;
	unsigned most = 0;

	for (const struct conn_entry *p = w->conns; p != NULL; p = p->next) {
		unsigned n = is_stranger(p) ? strangers(w, p->address) : 0;

		if (n > most) {
			most = n;
			best = p->address;
		}
	}
	return best;
}

static void displace(struct web *w, const char *address)
{
	struct conn_entry *oldest = NULL;

	for (struct conn_entry *p = w->conns; p != NULL; p = p->next)
		if (is_stranger(p) && strcmp(p->address, address) == 0)
			oldest = p;
	if (oldest == NULL)
		return;
	oldest->leaving = true;
	web_tell(w, &w->displaced, "displaced peer=%s: too many have not logged in", address);
	lws_set_timeout(oldest->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
}

void conn_opened(struct web *w, struct lws *wsi)
{
	struct conn_entry *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return;
	p->wsi = wsi;
	address_of(wsi, p->address, sizeof(p->address));
	p->next = w->conns;
	w->conns = p;
	if (strangers(w, p->address) > WEB_PEER_STRANGERS)
		displace(w, p->address);
	else if (strangers(w, NULL) > WEB_STRANGERS)
		displace(w, busiest(w));
}

/* A user too has only so many for good: the others are as those of strangers. */
void conn_logged_in(struct web *w, struct lws *wsi, const struct web_user *u)
{
	struct conn_entry *p = find(w, wsi);
	unsigned n = 0;

	for (const struct conn_entry *o = w->conns; o != NULL; o = o->next)
		n += o->user == u->number;
	if (p != NULL && n < WEB_USER_CONNS)
		p->user = u->number;
}

void conn_closed(struct web *w, struct lws *wsi)
{
	for (struct conn_entry **at = &w->conns, *p; (p = *at) != NULL; at = &p->next)
		if (p->wsi == wsi) {
			*at = p->next;
			free(p);
			return;
		}
}
