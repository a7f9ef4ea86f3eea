/* SPDX-License-Identifier: Apache-2.0 */
/* One web socket: messages in, a bounded queue out. */
#ifndef WEB_SESSION_H
#define WEB_SESSION_H

#include <jansson.h>
#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct web;
struct web_user;
struct session;

struct session *session_new(struct web *w, struct lws *wsi, struct web_user *u, const char *peer);
void session_free(struct session *s); /* its children are killed */
int session_receive(struct session *s, const char *p, size_t len, bool last); /* -1: close */
int session_write(struct session *s); /* lws says that there is room. -1: close */
void session_sendv(struct session *s, const struct iovec *v, int n); /* one message, text */
void session_send_bytes(struct session *s, const void *p, size_t len);
void session_send_json(struct session *s, json_t *j); /* takes the reference */
void session_error(struct session *s, json_int_t id, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool session_is_full(const struct session *s);
unsigned session_count(const struct web *w, const struct web_user *u); /* u NULL: all */
struct web *session_web(const struct session *s);
const struct web_user *session_user(const struct session *s);
const char *session_peer(const struct session *s);

#endif
