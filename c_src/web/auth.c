/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may. A token of 256 bits, from the address's fragment, is swapped for a cookie that no
 * script reads and no other site sends. Secrets are compared by their digests, all bytes always,
 * and only digests are kept. Host and Origin must be ours, letter by letter: a page of another
 * site, or a name that was made to point here, is refused before anything else is looked at.
 */
#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session.h"

void web_hex(const void *p, size_t len, char *out)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", b[i]);
}

void web_digest(const void *p, size_t len, uint8_t out[WEB_DIGEST])
{
	SHA256(p, len, out);
}

int web_random(char out[WEB_HEX])
{
	uint8_t bytes[WEB_DIGEST];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -1;
	web_hex(bytes, sizeof(bytes), out);
	return 0;
}

/* ---- the token -------------------------------------------------------------------------- */

static int bad_file(const char *file, const char *why)
{
	web_say("token file %s: %s", file, why);
	return -1;
}

static int read_token(struct web *w, int fd)
{
	const char *file = w->o.token_file;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return bad_file(file, strerror(errno));
	if (!S_ISREG(st.st_mode) || (st.st_mode & 077) != 0)
		return bad_file(file, "others can read it: chmod 600");
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return bad_file(file, "it belongs to somebody else, who knows it");
	n = read(fd, w->token_text, sizeof(w->token_text) - 1);
	if (n < 0)
		return bad_file(file, strerror(errno));
	w->token_text[n] = '\0';
	w->token_text[strcspn(w->token_text, "\r\n")] = '\0';
	if (strlen(w->token_text) < 32 ||
		strspn(w->token_text,
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") !=
			strlen(w->token_text))
		return bad_file(file, "a token has 32 letters or digits at least; remove the file, "
				      "and a new one is made");
	return 0;
}

static int write_token(struct web *w)
{
	int fd = open(w->o.token_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t len = strlen(w->token_text);

	if (fd < 0 || write(fd, w->token_text, len) != (ssize_t)len || close(fd) < 0)
		return bad_file(w->o.token_file, strerror(errno));
	return 0;
}

int web_token(struct web *w)
{
	int fd = -1, rc = 0;

	if (w->o.token_file != NULL)
		fd = open(w->o.token_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && w->o.token_file != NULL && errno != ENOENT)
		return bad_file(w->o.token_file, strerror(errno));
	if (fd >= 0) {
		rc = read_token(w, fd);
		close(fd);
	} else if (web_random(w->token_text) < 0) {
		web_say("no random numbers for a token: %s", strerror(errno));
		rc = -1;
	} else if (w->o.token_file != NULL) {
		rc = write_token(w);
	}
	if (rc == 0)
		web_digest(w->token_text, strlen(w->token_text), w->token);
	return rc;
}

bool web_is_token(const struct web *w, const char *text, size_t len)
{
	uint8_t digest[WEB_DIGEST];

	web_digest(text, len, digest);
	return CRYPTO_memcmp(digest, w->token, WEB_DIGEST) == 0;
}

/* ---- cookies ---------------------------------------------------------------------------- */

/* Browsers keep one jar for all ports of a host. */
void web_cookie_name(const struct web *w, char *name, size_t size)
{
	snprintf(name, size, "erltrace_%d", w->port);
}

/* A free place, or that of who came first and looks at nothing now. */
static struct web_user *free_user(struct web *w)
{
	struct web_user *best = NULL;

	for (int i = 0; i < WEB_MAX_USERS; i++) {
		struct web_user *u = &w->users[i];

		if (u->number == 0)
			return u;
		if (session_count(w, u) == 0 && (best == NULL || u->at < best->at))
			best = u;
	}
	return best;
}

struct web_user *web_login(struct web *w, char cookie[WEB_HEX])
{
	struct web_user *u = free_user(w);

	if (u == NULL || web_random(cookie) < 0)
		return NULL;
	*u = (struct web_user){.number = ++w->user_number,
		.at = web_ms(),
		.compiles = {.n = WEB_COMPILES, .each_ms = 2000},
		.questions = {.n = WEB_QUESTIONS, .each_ms = 200}};
	web_digest(cookie, WEB_HEX - 1, u->digest);
	return u;
}

/* All users are compared, without a branch, so that time does not tell which one it was. */
static struct web_user *user_by(struct web *w, const char *value, size_t len)
{
	uint8_t digest[WEB_DIGEST];
	unsigned at = 0; /* its place, from 1 */

	web_digest(value, len, digest);
	for (unsigned i = 0; i < WEB_MAX_USERS; i++) {
		const struct web_user *u = &w->users[i];
		unsigned same =
			(CRYPTO_memcmp(digest, u->digest, WEB_DIGEST) == 0) & (u->number != 0);

		at |= -same & (i + 1);
	}
	if (at == 0)
		return NULL;
	w->users[at - 1].at = web_ms();
	return &w->users[at - 1];
}

struct web_user *web_user_of(struct web *w, const char *cookies)
{
	char name[32];
	size_t len;

	web_cookie_name(w, name, sizeof(name));
	len = strlen(name);
	while (*cookies != '\0') {
		cookies += strspn(cookies, "; ");
		if (strncmp(cookies, name, len) == 0 && cookies[len] == '=') {
			struct web_user *u =
				user_by(w, cookies + len + 1, strcspn(cookies + len + 1, "; "));

			if (u != NULL)
				return u;
		}
		cookies += strcspn(cookies, ";");
	}
	return NULL;
}

/* ---- Host and Origin -------------------------------------------------------------------- */

bool web_is_loopback(const char *address)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, address, &v4) == 1)
		return (ntohl(v4.s_addr) >> 24) == 127;
	return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* "name:port", or without a port where it is the scheme's own. */
static bool is_host(const struct web *w, const char *host, const char *name)
{
	char full[300];
	const char *six = strchr(name, ':') != NULL && name[0] != '[' ? "[" : "";
	int own = w->o.tls_cert != NULL ? 443 : 80;

	snprintf(full, sizeof(full), "%s%s%s:%d", six, name, six[0] ? "]" : "", w->port);
	if (strcasecmp(host, full) == 0)
		return true;
	snprintf(full, sizeof(full), "%s%s%s", six, name, six[0] ? "]" : "");
	return w->port == own && strcasecmp(host, full) == 0;
}

bool web_host_ok(const struct web *w, const char *host)
{
	for (int i = 0; i < w->o.nhosts; i++)
		if (is_host(w, host, w->o.hosts[i]))
			return true;
	if (is_host(w, host, w->o.bind))
		return true;
	return web_is_loopback(w->o.bind) && is_host(w, host, "localhost");
}

bool web_origin_ok(const struct web *w, const char *origin, const char *host)
{
	const char *scheme = w->o.tls_cert != NULL ? "https://" : "http://";
	size_t len = strlen(scheme);

	return web_host_ok(w, host) && strncmp(origin, scheme, len) == 0 &&
	       strcasecmp(origin + len, host) == 0;
}
