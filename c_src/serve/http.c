/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /metrics, by libwebsockets' loop. It watches one more descriptor, the epoll of what else
 * wakes it, and a timer for the folder.
 */
#include "serve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "job.h"
#include "metrics/exposition.h"
#include "own_metrics.h"
#include "saved.h"
#include "web/log.h"

struct conn {
	struct conn *next;
	struct lws *wsi;
	bool leaving; /* it is being closed */
	char *text;   /* the reply; NULL: it waits for a request */
	size_t at, len;
};

/* ---- connections ------------------------------------------------------------------------ */

static struct conn *find(const struct serve *v, const struct lws *wsi)
{
	struct conn *c = v->conns;

	while (c != NULL && c->wsi != wsi)
		c = c->next;
	return c;
}

/* The oldest that waits; if none does, the oldest. */
static void displace(struct serve *v)
{
	struct conn *waits = NULL, *any = NULL;

	for (struct conn *c = v->conns; c != NULL; c = c->next) {
		if (c->leaving)
			continue;
		any = c;
		if (c->text == NULL)
			waits = c;
	}
	any = waits != NULL ? waits : any;
	any->leaving = true;
	v->nconns--;
	v->displaced++;
	lws_set_timeout(any->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
}

/* Who opens many and stays silent must not keep Prometheus out. */
static int opened(struct serve *v, struct lws *wsi)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return -1;
	c->wsi = wsi;
	c->next = v->conns;
	v->conns = c;
	if (++v->nconns > SERVE_MAX_CONNS)
		displace(v);
	return 0;
}

static void closed(struct serve *v, struct lws *wsi)
{
	for (struct conn **at = &v->conns, *c; (c = *at) != NULL; at = &c->next)
		if (c->wsi == wsi) {
			*at = c->next;
			v->nconns -= !c->leaving;
			free(c->text);
			free(c);
			return;
		}
}

/* ---- replies ---------------------------------------------------------------------------- */

static int reply(
	struct lws *wsi, struct conn *c, unsigned status, const char *type, char *text, size_t len)
{
	unsigned char buf[LWS_PRE + 1024], *p = buf + LWS_PRE, *start = p, *end = buf + sizeof(buf);

	free(c->text);
	c->text = text;
	c->at = 0;
	c->len = len;
	if (text == NULL || lws_add_http_common_headers(wsi, status, type, len, &p, end) ||
		lws_finalize_write_http_header(wsi, start, &p, end))
		return -1;
	lws_callback_on_writable(wsi);
	return 0;
}

static int reply_text(struct lws *wsi, struct conn *c, unsigned status, const char *text)
{
	return reply(wsi, c, status, "text/plain; charset=utf-8", strdup(text), strlen(text));
}

static int metrics(struct serve *v, struct lws *wsi, struct conn *c)
{
	int64_t began = lws_now_usecs();
	char accept[1024] = "", *text;
	bool openmetrics;
	size_t len;

	if (lws_hdr_copy(wsi, accept, sizeof(accept), WSI_TOKEN_HTTP_ACCEPT) < 0)
		accept[0] = '\0';
	openmetrics = strstr(accept, "application/openmetrics-text") != NULL;
	serve_lock();
	text = own_metrics_text(v, openmetrics, &len);
	serve_unlock();
	v->scrape_seconds = (double)(lws_now_usecs() - began) / 1e6;
	v->scrapes++;
	return reply(
		wsi, c, 200, openmetrics ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT, text, len);
}

static int on_http(struct serve *v, struct lws *wsi, struct conn *c, const char *path)
{
	if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0) { /* its body is not waited for */
		lws_return_http_status(wsi, 405, NULL);
		return -1;
	}
	if (strcmp(path, "/metrics") == 0)
		return metrics(v, wsi, c);
	if (strcmp(path, "/") == 0)
		return reply_text(wsi, c, 200, "erltrace serve: see /metrics\n");
	return reply_text(wsi, c, 404, "there is /metrics\n");
}

static int write_rest(struct lws *wsi, struct conn *c)
{
	unsigned char buf[LWS_PRE + 16384];
	size_t left = c->len - c->at, n = left < 16384 ? left : 16384;

	if (c->text == NULL || n == 0)
		return 0;
	memcpy(buf + LWS_PRE, c->text + c->at, n);
	if (lws_write(wsi, buf + LWS_PRE, n, n == left ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
		return -1;
	c->at += n;
	if (n < left) {
		lws_callback_on_writable(wsi);
		return 0;
	}
	free(c->text);
	c->text = NULL;
	return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int on_client(
	struct lws *wsi, enum lws_callback_reasons why, void *user, void *in, size_t len)
{
	struct serve *v = lws_context_user(lws_get_context(wsi));
	struct conn *c;

	switch (why) {
	case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED: return opened(v, wsi);
	case LWS_CALLBACK_WSI_DESTROY: closed(v, wsi); return 0;
	case LWS_CALLBACK_HTTP: c = find(v, wsi); return c != NULL ? on_http(v, wsi, c, in) : -1;
	case LWS_CALLBACK_HTTP_WRITEABLE:
		c = find(v, wsi);
		return c != NULL ? write_rest(wsi, c) : -1;
	case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return -1;
	default: return lws_callback_http_dummy(wsi, why, user, in, len);
	}
}

static int on_events(
	struct lws *wsi, enum lws_callback_reasons why, void *user, void *in, size_t len)
{
	(void)user, (void)in, (void)len;
	if (why != LWS_CALLBACK_RAW_RX_FILE)
		return 0;
	serve_lock();
	sources_events(lws_context_user(lws_get_context(wsi)));
	serve_unlock();
	return 0;
}

static void on_timer(lws_sorted_usec_list_t *sul)
{
	struct serve *v = lws_container_of(sul, struct serve, timer);

	serve_lock();
	if (!v->ending) {
		folder_look(v);
		members_look(v);
	}
	jobs_look(v);
	alerts_look(v);
	otlp_look(v);
	saved_look(v);
	if (v->ending)
		serve_check_end(v);
	serve_unlock();
	lws_sul_schedule(v->context, 0, &v->timer, on_timer,
		(v->closing ? SERVE_LOOK_MS / 10 : SERVE_LOOK_MS) * LWS_USEC_PER_SEC / 1000);
}

static const struct lws_protocols protocols[] = {
	{"metrics", on_client, 0, 16384, 0, NULL, 0},
	{"events", on_events, 0, 0, 0, NULL, 0},
	{"post", post_callback, 0, 4096, 0, NULL, 0},
	{NULL, NULL, 0, 0, 0, NULL, 0},
};

static void on_log(int level, const char *line)
{
	(void)level;
	web_library_says("serve", line);
}

int http_open(struct serve *v)
{
	struct lws_context_creation_info info = {
		.port = v->port,
		.iface = v->listen,
		.protocols = protocols,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
		.user = v,
		.fd_limit_per_thread = SERVE_MAX_FDS,
		.timeout_secs = SERVE_HEADER_S,
		.keepalive_timeout = 60,
		.server_string = "erltrace",
		.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
			   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
			   (v->alerts.manager.tls || v->alerts.webhook.tls || v->otlp.post.tls
					   ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT
					   : 0) |
			   (strchr(v->listen, ':') == NULL ? LWS_SERVER_OPTION_DISABLE_IPV6 : 0),
	};
	lws_sock_file_fd_type fd;

	lws_set_log_level(0, NULL); /* that it cannot listen is told below */
	v->events = epoll_create1(EPOLL_CLOEXEC);
	v->context = v->events >= 0 ? lws_create_context(&info) : NULL;
	if (v->context != NULL)
		v->vhost = lws_create_vhost(v->context, &info);
	if (v->vhost == NULL) {
		serve_say("cannot listen on %s, port %d: is another server there?", v->listen,
			v->port);
		return -1;
	}
	lws_set_log_level(LLL_ERR, on_log);
	v->posts.context = v->context;
	v->posts.vhost = v->vhost;
	v->port = lws_get_vhost_listen_port(v->vhost);
	fd.filefd = v->events;
	if (lws_adopt_descriptor_vhost(v->vhost, LWS_ADOPT_RAW_FILE_DESC, fd, "events", NULL) !=
		NULL)
		return 0;
	serve_say("out of memory");
	return -1;
}

void http_serve(struct serve *v)
{
	on_timer(&v->timer);
	while (!v->ended && lws_service(v->context, 0) >= 0)
		;
}

void http_close(struct serve *v)
{
	if (v->context != NULL)
		lws_context_destroy(v->context);
	else if (v->events >= 0)
		close(v->events);
}
