/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP and web sockets, by libwebsockets. */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

struct web;

int web_open(struct web *w); /* 0, or -1 with a message said */
void web_serve(struct web *w);
void web_close(struct web *w);

#endif
