/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that are pressed in the terminal, for scripts that have the probe state:::key. The terminal
 * gives them one by one then, without an echo; ^C and ^Z do what they always do. It is as it was
 * whenever this command does not run in its foreground: after ^Z, in the background, at the end.
 *
 * The size of the terminal goes with each key. A key of 0 says that there is a terminal, or that
 * its size has changed.
 */
#include "targets.h"

#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/signals.h"

static struct termios before; /* as it was */
static volatile sig_atomic_t changed;

void node_keys_end(void)
{
	if (!changed)
		return;
	changed = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

/* ^Z: the terminal is the shell's. node_keys() takes it again when it is ours. */
static void on_stop(int sig)
{
	node_keys_end();
	signal(sig, SIG_DFL);
	raise(sig); /* when this returns */
}

/* Keys one by one; reading does not wait. */
static void begin(void)
{
	struct sigaction sa = {.sa_handler = on_stop}, old;
	struct termios t;

	tcgetattr(STDIN_FILENO, &before);
	sigemptyset(&sa.sa_mask);
	if (sigaction(SIGTSTP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(SIGTSTP, &sa, NULL);
	cli_before_death(node_keys_end);
	t = before;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	t.c_cc[VMIN] = 0;
	t.c_cc[VTIME] = 0;
	changed = 1;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &t);
}

/* In the background the keys are somebody else's. The program of -c has the terminal for itself. */
static bool is_ours(const struct cli *c)
{
	for (int i = 0; i < c->procs.n; i++)
		if (c->procs.v[i].command != NULL)
			return false;
	return c->uses.keys && c->out.terminal && !c->out.json && isatty(STDIN_FILENO) == 1 &&
	       tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* {key, {Byte, Rows, Columns}} */
static void send_key(struct nodes *ns, unsigned char key)
{
	for (int i = 0; i < ns->n; i++) {
		struct target *t = &ns->v[i];
		struct et_error e = {.tag = ""};
		ei_x_buff x;

		if (t->state != RUNNING)
			continue;
		ei_x_new_with_version(&x);
		ei_x_encode_tuple_header(&x, 2);
		ei_x_encode_atom(&x, "key");
		ei_x_encode_tuple_header(&x, 3);
		ei_x_encode_ulong(&x, key);
		ei_x_encode_ulong(&x, ns->size.rows);
		ei_x_encode_ulong(&x, ns->size.columns);
		nd_send(t->nd, &t->agent, &x, &e);
		ei_x_free(&x);
	}
}

static void look_at_size(struct nodes *ns)
{
	struct winsize w = {0};

	/* A terminal that does not know its size is as a DEC VT100. */
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_row == 0 || w.ws_col == 0)
		w = (struct winsize){.ws_row = 24, .ws_col = 80};
	if (w.ws_row == ns->size.rows && w.ws_col == ns->size.columns)
		return;
	ns->size.rows = w.ws_row;
	ns->size.columns = w.ws_col;
	send_key(ns, 0);
}

void node_keys(struct nodes *ns)
{
	unsigned char keys[64];
	ssize_t n;

	ns->keys = is_ours(ns->c);
	if (ns->keys && !changed)
		begin();
	if (!ns->keys)
		return;
	look_at_size(ns);
	n = read(STDIN_FILENO, keys, sizeof(keys));
	for (ssize_t i = 0; i < n; i++)
		send_key(ns, keys[i]);
}
