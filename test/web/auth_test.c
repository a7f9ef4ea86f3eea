/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may look at the live page: c_src/web/auth.c with nothing around it. Comparing a secret takes
 * the same instructions whatever was guessed: they are counted, by stepping through a child.
 */
#include "web/auth.c"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "checks.h"

/* ---- what auth.c calls ------------------------------------------------------------------ */

static const struct web_user *looking; /* has a session */

unsigned session_count(const struct web *w, const struct web_user *u)
{
	(void)w;
	return u != NULL && u == looking;
}

int64_t web_ms(void)
{
	static int64_t now = 1;

	return now++;
}

void web_say(const char *fmt, ...)
{
	(void)fmt;
}

/* ---- the token -------------------------------------------------------------------------- */

static struct web w = {.o = {.bind = "127.0.0.1"}, .port = 8042};
static char token[WEB_HEX];

static void test_token(void)
{
	int right = 0;
	char longer[WEB_HEX + 2];

	CHECK(web_token(&w) == 0 && strlen(w.token_text) == 64);
	memcpy(token, w.token_text, sizeof(token));
	CHECK(web_is_token(&w, token, 64));
	CHECK(!web_is_token(&w, token, 63));
	CHECK(!web_is_token(&w, token, 1));
	CHECK(!web_is_token(&w, token, 0));
	snprintf(longer, sizeof(longer), "%sx", token);
	CHECK(!web_is_token(&w, longer, 65));
	longer[64] = '\0';
	CHECK(!web_is_token(&w, longer, 65)); /* the zero byte counts */
	for (int i = 0; i < 64; i++) {
		char guess[WEB_HEX];

		memcpy(guess, token, sizeof(guess));
		guess[i] ^= 1;
		right += web_is_token(&w, guess, 64);
	}
	CHECK(right == 0);
}

/* ---- cookies ---------------------------------------------------------------------------- */

static char cookies[WEB_MAX_USERS][WEB_HEX];

static struct web_user *with(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return web_user_of(&w, text);
}

static void test_cookies(void)
{
	struct web_user *u;
	char more[WEB_HEX];

	CHECK(with("erltrace_8042=%064d", 0) == NULL);
	for (int i = 0; i < WEB_MAX_USERS; i++)
		if (web_login(&w, cookies[i]) != &w.users[i])
			failed++;
	CHECK(with("erltrace_8042=%s", cookies[0]) == &w.users[0]);
	CHECK(with("a=b; erltrace_8042=%s; c=d", cookies[63]) == &w.users[63]);
	CHECK(with("erltrace_8042=x; erltrace_8042=%s", cookies[7]) == &w.users[7]);
	CHECK(with("erltrace_8043=%s", cookies[7]) == NULL);
	CHECK(with("xerltrace_8042=%s", cookies[7]) == NULL);
	CHECK(with("erltrace_8042 =%s", cookies[7]) == NULL);
	CHECK(with("erltrace_8042=%.63s", cookies[7]) == NULL);
	CHECK(with("erltrace_8042=%s0", cookies[7]) == NULL);
	CHECK(with("erltrace_8042") == NULL && with("erltrace_8042=") == NULL &&
		with(";;; ;") == NULL);
	/* No room: who was here the longest time ago, and does not look, gives way. */
	for (int i = 0; i < WEB_MAX_USERS; i++)
		with("erltrace_8042=%s", cookies[i]);
	looking = &w.users[0];
	u = web_login(&w, more);
	CHECK(u == &w.users[1]);
	CHECK(with("erltrace_8042=%s", cookies[1]) == NULL);
	CHECK(with("erltrace_8042=%s", more) == u);
	memcpy(cookies[1], more, sizeof(more));
}

/* ---- Host and Origin -------------------------------------------------------------------- */

static void test_hosts(void)
{
	CHECK(web_host_ok(&w, "127.0.0.1:8042") && web_host_ok(&w, "LocalHost:8042"));
	CHECK(!web_host_ok(&w, "127.0.0.1") && !web_host_ok(&w, "127.0.0.1:80") &&
	      !web_host_ok(&w, "") && !web_host_ok(&w, "127.0.0.1:8042.evil.example") &&
	      !web_host_ok(&w, "evil.example:8042") && !web_host_ok(&w, "127.0.0.1:08042") &&
	      !web_host_ok(&w, "127.0.0.1:8042 ") && !web_host_ok(&w, "x127.0.0.1:8042") &&
	      !web_host_ok(&w, "127.1:8042") && !web_host_ok(&w, "0.0.0.0:8042"));
	CHECK(web_origin_ok(&w, "http://127.0.0.1:8042", "127.0.0.1:8042"));
	CHECK(!web_origin_ok(&w, "http://localhost:8042", "127.0.0.1:8042") &&
		!web_origin_ok(&w, "https://127.0.0.1:8042", "127.0.0.1:8042") &&
		!web_origin_ok(&w, "null", "127.0.0.1:8042") &&
		!web_origin_ok(&w, "", "127.0.0.1:8042") &&
		!web_origin_ok(&w, "http://127.0.0.1:8042/", "127.0.0.1:8042") &&
		!web_origin_ok(&w, "http://evil.example:8042", "evil.example:8042"));
	CHECK(web_is_loopback("127.0.0.1") && web_is_loopback("127.9.9.9") &&
		web_is_loopback("::1"));
	CHECK(!web_is_loopback("0.0.0.0") && !web_is_loopback("128.0.0.1") &&
		!web_is_loopback("::") && !web_is_loopback("localhost") &&
		!web_is_loopback("127.0.0.1.evil.example"));
}

/* ---- the time it takes ------------------------------------------------------------------ */

struct guess {
	const char *text;
	bool cookie;
};

static void child(const struct guess *g)
{
	char head[256];
	volatile bool found;

	snprintf(head, sizeof(head), "erltrace_8042=%s", g->text);
	found = g->cookie ? web_user_of(&w, head) != NULL : web_is_token(&w, g->text, 64);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) /* warm now */
		_exit(2);
	raise(SIGUSR1);
	found = g->cookie ? web_user_of(&w, head) != NULL : web_is_token(&w, g->text, 64);
	raise(SIGUSR2);
	_exit(found);
}

/* Instructions between the two signals; -1: they cannot be counted here. */
static long steps(const struct guess *g)
{
	pid_t pid = fork();
	int status;
	long n = 0;

	if (pid == 0)
		child(g);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	while (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid &&
		WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP)
		n++;
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGUSR2)
		n = -1;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return n;
}

static void same_steps(const char *what, const struct guess *a, const struct guess *b)
{
	long n = steps(a), m = steps(b);

	if (n < 100 || m < 100) {
		printf("not counted: no single steps here (ptrace)\n");
		return;
	}
	if (n != m)
		printf("%s: %ld and %ld instructions\n", what, n, m);
	CHECK(n == m);
}

static void test_time(void)
{
	char first[WEB_HEX], last[WEB_HEX];

	memcpy(first, token, sizeof(first));
	memcpy(last, token, sizeof(last));
	first[0] ^= 1;
	last[63] ^= 1;
	same_steps("a token wrong in its first letter, and in its last",
		&(struct guess){first, false}, &(struct guess){last, false});
	same_steps("a token wrong in its first letter, and the right one",
		&(struct guess){first, false}, &(struct guess){token, false});
	memcpy(first, cookies[5], sizeof(first));
	memcpy(last, cookies[5], sizeof(last));
	first[0] ^= 1;
	last[63] ^= 1;
	same_steps("a cookie wrong in its first letter, and in its last",
		&(struct guess){first, true}, &(struct guess){last, true});
	same_steps("the cookies of two users", &(struct guess){cookies[1], true},
		&(struct guess){cookies[63], true});
}

int main(void)
{
	test_token();
	test_cookies();
	test_hosts();
	test_time();
	return finish();
}
