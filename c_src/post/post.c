/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST by libwebsockets' client, in the loop of who posts. One body is on its way at a time. When
 * it cannot be delivered it stays here and is sent again, after half a second at first and at most
 * half a minute; whoever has more to say keeps it until then, so that nothing piles up. Of an answer
 * only the status matters; who takes long over it, or never ends it, is not waited for. A
 * redirect is an error: what was counted is sent to nobody but those whom the user has named.
 */
#include "post.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	POST_FIRST_WAIT_MS = 500,
	POST_LONGEST_WAIT_MS = 30000,
	POST_TRY_MS = 20000,	    /* to connect, to send, and until the answer has ended */
	POST_ANSWER_MOST = 1 << 20, /* bytes of it: then it has ended for us */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int post_open(struct post *p, const struct post_loop *loop, const char *url, const char *suffix)
{
	const char *host, *end, *colon;
	size_t n;

	*p = (struct post){.loop = loop, .wait_ms = POST_FIRST_WAIT_MS};
	p->tls = strncmp(url, "https://", 8) == 0;
	if (!p->tls && strncmp(url, "http://", 7) != 0)
		return -1;
	host = url + (p->tls ? 8 : 7);
	end = host + strcspn(host, "/");
	colon = memchr(host, ':', (size_t)(end - host));
	n = (size_t)((colon != NULL ? colon : end) - host);
	p->port = colon != NULL ? atoi(colon + 1) : p->tls ? 443 : 80;
	if (n == 0 || p->port <= 0 || p->port > 65535)
		return -1;
	p->host = strndup(host, n);
	p->url = strdup(url);
	n = strlen(end);
	if (n > 0 && end[n - 1] == '/' && suffix[0] == '/')
		n--; /* no slash twice */
	if (asprintf(&p->path, "%.*s%s", (int)n, end, suffix) < 0)
		p->path = NULL;
	return p->path != NULL && p->host != NULL && p->url != NULL ? 0 : -1;
}

bool post_free_now(const struct post *p)
{
	return p->body == NULL;
}

/* ---- one try ---------------------------------------------------------------------------- */

static void failed(struct post *p, const char *why)
{
	p->wsi = NULL;
	p->failed++;
	if (!p->failing)
		p->loop->say("%s: %s; it is tried again", p->url, why);
	p->failing = true;
	p->due = now_ms() + p->wait_ms;
	p->wait_ms = p->wait_ms < POST_LONGEST_WAIT_MS / 2 ? 2 * p->wait_ms : POST_LONGEST_WAIT_MS;
}

static void delivered(struct post *p)
{
	if (p->failing)
		p->loop->say("%s: answers again", p->url);
	p->failing = false;
	p->wait_ms = POST_FIRST_WAIT_MS;
	p->wsi = NULL;
	p->sent++;
	free(p->body);
	p->body = NULL;
}

/* Refused for good (4xx): the same body would be refused again. */
static void refused(struct post *p)
{
	if (!p->failing)
		p->loop->say("%s: answers %u: what was sent is given up", p->url, p->status);
	p->failing = true;
	p->failed++;
	p->refused++;
	p->wsi = NULL;
	free(p->body);
	p->body = NULL;
}

static void try(struct post *p)
{
	struct lws_client_connect_info i = {
		.context = p->loop->context,
		.vhost = p->loop->vhost,
		.address = p->host,
		.host = p->host,
		.origin = p->host,
		.port = p->port,
		.path = p->path[0] != '\0' ? p->path : "/",
		.method = "POST",
		.protocol = "post",
		.local_protocol_name = "post",
		.ssl_connection = LCCSCF_HTTP_NO_FOLLOW_REDIRECT | (p->tls ? LCCSCF_USE_SSL : 0),
		.opaque_user_data = p,
		.pwsi = &p->wsi,
	};

	p->status = 0;
	p->answered = 0;
	p->until = now_ms() + POST_TRY_MS;
	p->due = INT64_MAX; /* until this one has ended */
	if (lws_client_connect_via_info(&i) == NULL && p->due == INT64_MAX)
		failed(p, "cannot be connected");
}

bool post_is_due(const struct post *p)
{
	return p->body != NULL && p->wsi == NULL && now_ms() >= p->due;
}

void post_send(struct post *p, char *body)
{
	free(p->body);
	p->body = body;
	p->len = strlen(body);
	p->due = 0;
	post_look(p);
}

/*
 * How long a try may take is for us to say. libwebsockets sets a time of its own at each step,
 * that of the context, in which our clients' requests must come: it is put off as long as the
 * try goes on.
 */
void post_look(struct post *p)
{
	if (post_is_due(p)) {
		try(p);
	} else if (p->wsi != NULL && p->until != INT64_MAX) {
		bool over = now_ms() >= p->until;

		if (over)
			p->until = INT64_MAX;
		lws_set_timeout(p->wsi, PENDING_TIMEOUT_USER_OK,
			over ? LWS_TO_KILL_ASYNC : POST_TRY_MS / 1000 + 5);
	}
}

void post_close(struct post *p)
{
	free(p->host);
	free(p->path);
	free(p->url);
	free(p->body);
}

/* ---- libwebsockets ---------------------------------------------------------------------- */

static int headers(struct post *p, struct lws *wsi, unsigned char **at, unsigned char *end)
{
	static const unsigned char type[] = "application/json";
	char len[24];
	int n = snprintf(len, sizeof(len), "%zu", p->len);

	if (lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_CONTENT_TYPE, type,
		    sizeof(type) - 1, at, end) ||
		lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH,
			(unsigned char *)len, n, at, end))
		return -1;
	lws_client_http_body_pending(wsi, 1);
	lws_callback_on_writable(wsi);
	return 0;
}

static int write_body(struct post *p, struct lws *wsi)
{
	unsigned char *copy = malloc(LWS_PRE + p->len);
	int rc;

	if (copy == NULL)
		return -1;
	memcpy(copy + LWS_PRE, p->body, p->len);
	lws_client_http_body_pending(wsi, 0);
	rc = lws_write(wsi, copy + LWS_PRE, p->len, LWS_WRITE_HTTP_FINAL);
	free(copy);
	return rc < 0 ? -1 : 0;
}

/* An answer is complete, then its connection is closed; by then the next one may be on its way. */
static void ended(struct post *p, const struct lws *wsi)
{
	if (p->wsi != wsi || *p->loop->ended)
		return;
	if (p->status >= 200 && p->status < 300)
		delivered(p);
	else if (p->status >= 400 && p->status < 500 && p->status != 429)
		refused(p);
	else
		failed(p, p->status / 100 == 3
				  ? "answers with a redirect, which is not followed"
			  : p->status != 0	   ? "answers with an error"
			  : p->until == INT64_MAX ? "does not answer in time"
						  : "closes the connection");
}

static int read_answer(struct lws *wsi)
{
	char buf[LWS_PRE + 1024], *at = buf + LWS_PRE;
	int n = 1024;

	return lws_http_client_read(wsi, &at, &n) < 0 ? -1 : 0;
}

int post_callback(struct lws *wsi, enum lws_callback_reasons why, void *user, void *in, size_t len)
{
	struct post *p = lws_get_opaque_user_data(wsi);

	(void)user;
	if (p == NULL || p->body == NULL)
		return 0;
	switch (why) {
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		failed(p, in != NULL ? in : "cannot be connected");
		return 0;
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		return headers(p, wsi, in, *(unsigned char **)in + len);
	case LWS_CALLBACK_CLIENT_HTTP_WRITEABLE: return write_body(p, wsi);
	case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
		p->status = lws_http_client_http_response(wsi);
		return 0;
	case LWS_CALLBACK_RECEIVE_CLIENT_HTTP: return read_answer(wsi);
	case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
		p->answered += len;
		return p->answered > POST_ANSWER_MOST ? -1 : 0;
	case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
	case LWS_CALLBACK_CLOSED_CLIENT_HTTP: ended(p, wsi); return 0;
	default: return 0;
	}
}
