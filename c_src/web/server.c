/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: libwebsockets' loop, http, and who may open a web socket. The page's files are in
 * memory. libwebsockets watches one more descriptor, the epoll of the children (run.c): it would
 * close a pipe whose writer has ended, with what is still in it.
 */
#include "web.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn_limit.h"
#include "script_run.h"
#include "server.h"
#include "session.h"

/* One connection; http until it is a web socket. */
struct conn {
	struct session *session;
	const char *out; /* of a reply, still to be sent */
	size_t left;
	char *own; /* the reply's text, if it is ours to free */
	char body[WEB_MAX_BODY];
	size_t nbody;
	bool awaited, too_big; /* a body: it is wanted; it was too long */
};

/* ---- headers ---------------------------------------------------------------------------- */

static int add(struct lws *wsi, const char *name, const char *value, unsigned char **p,
	unsigned char *end)
{
	return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
		(const unsigned char *)value, (int)strlen(value), p, end);
}

static int add_safety(struct lws *wsi, const char *nonce, unsigned char **p, unsigned char *end)
{
	char csp[512], style[128] = "'self'";

	if (nonce[0] != '\0')
		snprintf(style, sizeof(style), "'self' 'nonce-%s'", nonce);
	snprintf(csp, sizeof(csp),
		"default-src 'none'; script-src 'self'; style-src %s; connect-src 'self'; "
		"img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'",
		style);
	return add(wsi, "content-security-policy:", csp, p, end) ||
	       add(wsi, "x-content-type-options:", "nosniff", p, end) ||
	       add(wsi, "x-frame-options:", "DENY", p, end) ||
	       add(wsi, "referrer-policy:", "no-referrer", p, end) ||
	       add(wsi, "cross-origin-opener-policy:", "same-origin", p, end) ||
	       add(wsi, "cross-origin-resource-policy:", "same-origin", p, end);
}

struct reply {
	unsigned status;
	const char *type, *text;
	size_t len;
	const char *etag, *cookie, *nonce; /* or NULL */
};

static int write_head(struct lws *wsi, const struct reply *r)
{
	unsigned char buf[LWS_PRE + 3072], *p = buf + LWS_PRE, *start = p, *end = buf + sizeof(buf);

	if (lws_add_http_common_headers(wsi, r->status, r->type, r->len, &p, end) ||
		add_safety(wsi, r->nonce != NULL ? r->nonce : "", &p, end) ||
		add(wsi, "cache-control:", r->etag != NULL ? "no-cache" : "no-store", &p, end) ||
		(r->etag != NULL && add(wsi, "etag:", r->etag, &p, end)) ||
		(r->cookie != NULL && add(wsi, "set-cookie:", r->cookie, &p, end)) ||
		lws_finalize_write_http_header(wsi, start, &p, end))
		return -1;
	return 0;
}

/* The head now, the rest as there is room. The text stays until it is sent. */
static int reply(struct lws *wsi, struct conn *c, const struct reply *r)
{
	if (write_head(wsi, r) < 0)
		return -1;
	if (r->len == 0)
		return lws_http_transaction_completed(wsi) ? -1 : 0;
	c->out = r->text;
	c->left = r->len;
	lws_callback_on_writable(wsi);
	return 0;
}

static int reply_text(struct lws *wsi, struct conn *c, unsigned status, const char *text)
{
	return reply(wsi, c,
		&(struct reply){.status = status,
			.type = "text/plain; charset=utf-8",
			.text = text,
			.len = strlen(text)});
}

static int write_rest(struct lws *wsi, struct conn *c)
{
	unsigned char buf[LWS_PRE + 16384];
	size_t n = c->left < 16384 ? c->left : 16384;
	enum lws_write_protocol how = n == c->left ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP;

	if (c->left == 0)
		return 0;
	memcpy(buf + LWS_PRE, c->out, n);
	if (lws_write(wsi, buf + LWS_PRE, n, how) < 0)
		return -1;
	c->out += n;
	c->left -= n;
	if (c->left > 0) {
		lws_callback_on_writable(wsi);
		return 0;
	}
	free(c->own);
	c->own = NULL;
	return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static void header(struct lws *wsi, enum lws_token_indexes which, char *buf, int size)
{
	buf[0] = '\0';
	if (lws_hdr_copy(wsi, buf, size, which) < 0)
		buf[0] = '\0';
}

static bool host_ok(struct web *w, struct lws *wsi)
{
	char host[300];

	header(wsi, WSI_TOKEN_HOST, host, sizeof(host));
	return web_host_ok(w, host);
}

static bool origin_ok(struct web *w, struct lws *wsi, bool needed)
{
	char host[300], origin[400];

	header(wsi, WSI_TOKEN_HOST, host, sizeof(host));
	header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof(origin));
	if (origin[0] == '\0' && lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) == 0)
		return !needed;
	return web_origin_ok(w, origin, host);
}

static struct web_user *user_of(struct web *w, struct lws *wsi)
{
	struct web_user *u;
	char cookies[4096];

	header(wsi, WSI_TOKEN_HTTP_COOKIE, cookies, sizeof(cookies));
	u = web_user_of(w, cookies);
	if (u != NULL)
		conn_logged_in(w, wsi, u);
	return u;
}

static void peer_of(struct lws *wsi, char *peer, size_t size)
{
	lws_get_peer_simple(wsi, peer, size);
}

/* ---- files ------------------------------------------------------------------------------ */

/* The page itself: each time with a word of its own for the styles that the editor makes. */
static int reply_page(struct lws *wsi, struct conn *c, const struct web_file *f)
{
	static const char mark[] = "name=\"csp-nonce\" content=\"";
	char nonce[WEB_HEX], *at = strstr(f->text, mark);
	size_t before, len;

	if (web_random(nonce) < 0)
		return -1;
	nonce[32] = '\0';
	if (at == NULL)
		return reply(wsi, c,
			&(struct reply){
				.status = 200, .type = f->type, .text = f->text, .len = f->len});
	before = (size_t)(at - f->text) + sizeof(mark) - 1;
	len = f->len + 32;
	free(c->own);
	c->own = malloc(len + 1);
	if (c->own == NULL)
		return -1;
	snprintf(c->own, len + 1, "%.*s%s%s", (int)before, f->text, nonce, f->text + before);
	return reply(wsi, c,
		&(struct reply){.status = 200,
			.type = f->type,
			.text = c->own,
			.len = len,
			.nonce = nonce});
}

/* Whether there would be a web socket: a browser does not tell a page why it got none. */
static int reply_may(struct web *w, struct lws *wsi, struct conn *c)
{
	const struct web_user *u = user_of(w, wsi);

	if (u == NULL)
		return reply_text(wsi, c, 401, "not logged in\n");
	if (session_count(w, NULL) >= WEB_MAX_SOCKETS || session_count(w, u) >= WEB_USER_SOCKETS)
		return reply_text(wsi, c, 429, "too many pages are open\n");
	return reply_text(wsi, c, 200, "logged in\n");
}

static int get(struct web *w, struct lws *wsi, struct conn *c, const char *path)
{
	const struct web_file *f = w->files;
	char known[64];

	if (strcmp(path, "/ws") == 0)
		return reply_text(wsi, c, 426, "this is a web socket\n");
	if (strcmp(path, "/login") == 0)
		return reply_may(w, wsi, c);
	path = strcmp(path, "/") == 0 ? "index.html" : path + 1;
	while (f != NULL && strcmp(f->name, path) != 0)
		f = f->next;
	if (f == NULL)
		return reply_text(wsi, c, 404, "there is no such page\n");
	if (strcmp(path, "index.html") == 0)
		return reply_page(wsi, c, f);
	header(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, known, sizeof(known));
	if (strcmp(known, f->etag) == 0)
		return reply(wsi, c,
			&(struct reply){.status = 304, .type = f->type, .etag = f->etag});
	return reply(wsi, c,
		&(struct reply){.status = 200,
			.type = f->type,
			.text = f->text,
			.len = f->len,
			.etag = f->etag});
}

/* ---- login ------------------------------------------------------------------------------ */

/* Before its body has come. */
static int post(struct web *w, struct lws *wsi, struct conn *c, const char *path)
{
	char length[32];

	if (strcmp(path, "/login") != 0)
		return reply_text(wsi, c, 404, "there is no such page\n");
	if (!origin_ok(w, wsi, false))
		return reply_text(wsi, c, 403, "from another page\n");
	header(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, length, sizeof(length));
	if (length[0] == '\0')
		return reply_text(wsi, c, 411, "a Content-Length is needed\n");
	if (atoll(length) > WEB_MAX_BODY || atoll(length) < 0)
		return reply_text(wsi, c, 413, "too long for a token\n");
	if (atoll(length) == 0)
		return reply_text(wsi, c, 401, "no token\n");
	c->nbody = 0;
	c->too_big = false;
	c->awaited = true;
	return 0;
}

static int login(struct web *w, struct lws *wsi, struct conn *c)
{
	char peer[64], name[32], secret[WEB_HEX], cookie[256];
	struct web_user *u;

	if (!c->awaited)
		return 0; /* of a request that was refused by its head */
	c->awaited = false;
	peer_of(wsi, peer, sizeof(peer));
	if (c->too_big)
		return reply_text(wsi, c, 413, "too long for a token\n");
	while (c->nbody > 0 && strchr("\r\n", c->body[c->nbody - 1]) != NULL)
		c->nbody--;
	if (!web_is_token(w, c->body, c->nbody)) {
		bool some = web_allowed(&w->logins);

		web_tell(w, &w->refusals, "login peer=%s refused", peer);
		return reply_text(wsi, c, some ? 401 : 429,
			some ? "this is not the token\n"
			     : "too many wrong tokens: wait a minute\n");
	}
	u = web_login(w, secret);
	if (u == NULL)
		return reply_text(wsi, c, 429, "too many users\n");
	web_log(w, "login peer=%s user=%u", peer, u->number);
	web_cookie_name(w, name, sizeof(name));
	snprintf(cookie, sizeof(cookie), "%s=%s; Path=/; HttpOnly; SameSite=Strict%s", name, secret,
		w->o.tls_cert != NULL ? "; Secure" : "");
	return reply(wsi, c,
		&(struct reply){.status = 200,
			.type = "text/plain; charset=utf-8",
			.text = "ok\n",
			.len = 3,
			.cookie = cookie});
}

static int on_body(struct conn *c, const char *p, size_t len)
{
	if (len > sizeof(c->body) - c->nbody) {
		c->too_big = true;
	} else if (c->awaited && len > 0) {
		memcpy(c->body + c->nbody, p, len);
		c->nbody += len;
	}
	return 0;
}

static int on_http(struct web *w, struct lws *wsi, struct conn *c, const char *path)
{
	c->awaited = false;
	user_of(w, wsi); /* whose cookie it has stays connected */
	if (!host_ok(w, wsi))
		return reply_text(wsi, c, 403, "not the name of this server\n");
	if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0)
		return get(w, wsi, c, path);
	if (lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI) > 0)
		return post(w, wsi, c, path);
	return reply_text(wsi, c, 405, "only GET and POST are supported\n");
}

/* ---- web sockets ------------------------------------------------------------------------ */

/* 0: yes; else the status that says why not. */
static unsigned refuse(struct web *w, struct lws *wsi)
{
	struct web_user *u;
	char path[64];

	header(wsi, WSI_TOKEN_GET_URI, path, sizeof(path));
	if (!host_ok(w, wsi) || !origin_ok(w, wsi, true))
		return 403;
	u = user_of(w, wsi);
	if (u == NULL)
		return 401;
	if (strcmp(path, "/ws") != 0)
		return 404;
	if (session_count(w, NULL) >= WEB_MAX_SOCKETS || session_count(w, u) >= WEB_USER_SOCKETS)
		return 429;
	return 0;
}

/* 0: it becomes a web socket; 1: it was refused. */
static int on_upgrade(struct web *w, struct lws *wsi)
{
	unsigned status = refuse(w, wsi);
	char peer[64];

	if (status == 0)
		return 0;
	peer_of(wsi, peer, sizeof(peer));
	web_tell(w, &w->refusals, "socket peer=%s refused status=%u", peer, status);
	lws_return_http_status(wsi, status, NULL);
	return 1;
}

static void look_later(struct lws *wsi)
{
	lws_set_timer_usecs(wsi, WEB_CUT_LOOK_MS * LWS_USEC_PER_SEC / 1000);
}

/*
 * Has the network been cut? A browser that is busy does not answer a ping for seconds, but its
 * machine still acknowledges what is sent. Where nothing is sent, the kernel's keepalive finds out.
 */
static bool is_cut(struct lws *wsi)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	return getsockopt(lws_get_socket_fd(wsi), IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_unacked > 0 && info.tcpi_last_ack_recv > WEB_CUT_MS;
}

static int on_timer(struct lws *wsi)
{
	if (is_cut(wsi))
		return -1;
	look_later(wsi);
	return 0;
}

static void keep_alive(struct lws *wsi)
{
	static const int option[][3] = {
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 1},
		{IPPROTO_TCP, TCP_KEEPINTVL, 1},
		{IPPROTO_TCP, TCP_KEEPCNT, 3},
	};

	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i++)
		setsockopt(lws_get_socket_fd(wsi), option[i][0], option[i][1], &option[i][2],
			sizeof(option[i][2]));
}

static int on_established(struct web *w, struct lws *wsi, struct conn *c)
{
	struct web_user *u = user_of(w, wsi);
	char peer[64];
	int size = WEB_SEND_BUFFER;

	if (u == NULL)
		return -1;
	setsockopt(lws_get_socket_fd(wsi), SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	keep_alive(wsi);
	look_later(wsi);
	peer_of(wsi, peer, sizeof(peer));
	c->session = session_new(w, wsi, u, peer);
	return c->session != NULL ? 0 : -1;
}

static int on_receive(struct lws *wsi, struct conn *c, const char *p, size_t len)
{
	if (c->session == NULL)
		return -1;
	if (lws_frame_is_binary(wsi)) {
		lws_close_reason(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, NULL, 0);
		return -1;
	}
	if (session_receive(c->session, p, len,
		    lws_is_final_fragment(wsi) && lws_remaining_packet_payload(wsi) == 0) == 0)
		return 0;
	lws_close_reason(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, NULL, 0);
	return -1;
}

static int on_client(struct lws *wsi, enum lws_callback_reasons why, void *user, void *in,
	size_t len)
{
	struct web *w = lws_context_user(lws_get_context(wsi));
	struct conn *c = user;

	switch (why) {
	case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED: conn_opened(w, wsi); return 0;
	case LWS_CALLBACK_WSI_DESTROY: conn_closed(w, wsi); return 0;
	case LWS_CALLBACK_HTTP: return on_http(w, wsi, c, in);
	case LWS_CALLBACK_HTTP_BODY: return on_body(c, in, len);
	case LWS_CALLBACK_HTTP_BODY_COMPLETION: return login(w, wsi, c);
	case LWS_CALLBACK_HTTP_WRITEABLE: return write_rest(wsi, c);
	case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
	case LWS_CALLBACK_CLOSED_HTTP:
		if (c != NULL) {
			free(c->own);
			c->own = NULL;
		}
		return 0;
	case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return on_upgrade(w, wsi);
	case LWS_CALLBACK_ESTABLISHED: return on_established(w, wsi, c);
	case LWS_CALLBACK_TIMER: return on_timer(wsi);
	case LWS_CALLBACK_RECEIVE: return on_receive(wsi, c, in, len);
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return c->session != NULL ? session_write(c->session) : -1;
	case LWS_CALLBACK_CLOSED:
		session_free(c->session);
		c->session = NULL;
		return 0;
	default: return lws_callback_http_dummy(wsi, why, user, in, len);
	}
}

static int on_events(struct lws *wsi, enum lws_callback_reasons why, void *user, void *in,
	size_t len)
{
	(void)user, (void)in, (void)len;
	if (why == LWS_CALLBACK_RAW_RX_FILE)
		run_events(lws_context_user(lws_get_context(wsi)));
	return 0;
}

/* ---- start and end ---------------------------------------------------------------------- */

static const struct lws_protocols protocols[] = {
	{"erltrace", on_client, sizeof(struct conn), 16384, 0, NULL, 0},
	{"events", on_events, 0, 0, 0, NULL, 0},
	{NULL, NULL, 0, 0, 0, NULL, 0},
};

static const lws_retry_bo_t alive = {
	.secs_since_valid_ping = WEB_PING_S, .secs_since_valid_hangup = WEB_HANGUP_S};

static void on_log(int level, const char *line)
{
	(void)level;
	web_library_says("web", line);
}

int web_open(struct web *w)
{
	struct lws_context_creation_info info = {
		.port = w->o.port,
		.iface = w->o.bind,
		.protocols = protocols,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
		.user = w,
		.fd_limit_per_thread = WEB_MAX_FDS,
		.timeout_secs = 10,
		.keepalive_timeout = 10,
		.retry_and_idle_policy = &alive,
		.server_string = "erltrace",
		.alpn = "http/1.1", /* web sockets as they were made */
		.ssl_cert_filepath = w->o.tls_cert,
		.ssl_private_key_filepath = w->o.tls_key,
		.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
			   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
			   (w->o.tls_cert != NULL ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0) |
			   (strchr(w->o.bind, ':') == NULL ? LWS_SERVER_OPTION_DISABLE_IPV6 : 0),
	};
	lws_sock_file_fd_type fd;

	lws_set_log_level(LLL_ERR, on_log);
	w->events = epoll_create1(EPOLL_CLOEXEC);
	w->context = w->events >= 0 ? lws_create_context(&info) : NULL;
	if (w->context != NULL)
		w->vhost = lws_create_vhost(w->context, &info);
	if (w->vhost == NULL) {
		web_say("cannot listen on %s, port %d: is another server there? --port N takes "
			"another one",
			w->o.bind, w->o.port);
		return -1;
	}
	w->port = lws_get_vhost_listen_port(w->vhost);
	fd.filefd = w->events;
	if (lws_adopt_descriptor_vhost(
		    w->vhost, LWS_ADOPT_RAW_FILE_DESC, fd, "events", NULL) == NULL) {
		web_say("out of memory");
		return -1;
	}
	return 0;
}

void web_serve(struct web *w)
{
	while (!w->ending && lws_service(w->context, 0) >= 0)
		;
}

void web_close(struct web *w)
{
	if (w->context != NULL)
		lws_context_destroy(w->context); /* sockets close, and with them their children */
	else if (w->events >= 0)
		close(w->events);
}
