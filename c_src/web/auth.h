/* SPDX-License-Identifier: Apache-2.0 */
/* Who may use the server: token, cookies, Host and Origin. */
#ifndef WEB_AUTH_H
#define WEB_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log.h"

struct web;

#define WEB_DIGEST 32 /* bytes of SHA-256 */
#define WEB_HEX	   (2 * WEB_DIGEST + 1)

/* Who has logged in, and has a cookie. */
struct web_user {
	unsigned number; /* 0: free */
	uint8_t digest[WEB_DIGEST];
	int64_t at;
	struct web_rate compiles, questions;
};

int web_token(struct web *w); /* made, or read from the file */
void web_digest(const void *p, size_t len, uint8_t out[WEB_DIGEST]);
void web_hex(const void *p, size_t len, char *out);
bool web_is_token(const struct web *w, const char *text, size_t len);
int web_random(char out[WEB_HEX]);
bool web_is_loopback(const char *address);
struct web_user *web_login(struct web *w, char cookie[WEB_HEX]); /* NULL: no room */
struct web_user *web_user_of(struct web *w, const char *cookies);
void web_cookie_name(const struct web *w, char *name, size_t size);
bool web_host_ok(const struct web *w, const char *host);
bool web_origin_ok(const struct web *w, const char *origin, const char *host);

#endif
