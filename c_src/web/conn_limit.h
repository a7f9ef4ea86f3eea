/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds on connections of those who have not logged in. */
#ifndef WEB_CONN_LIMIT_H
#define WEB_CONN_LIMIT_H

#include <libwebsockets.h>

struct web;
struct web_user;

void conn_opened(struct web *w, struct lws *wsi); /* another connection may have to go for it */
void conn_logged_in(struct web *w, struct lws *wsi, const struct web_user *u);
void conn_closed(struct web *w, struct lws *wsi);

#endif
