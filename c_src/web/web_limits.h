/* SPDX-License-Identifier: Apache-2.0 */
/* All limits of the server. */
#ifndef WEB_LIMITS_H
#define WEB_LIMITS_H

enum {
	WEB_PORT = 8042,
	WEB_MAX_SCRIPT = 64 << 10,  /* bytes of a script */
	WEB_MAX_MESSAGE = 512 << 10, /* a script with every byte escaped, and what is around it */
	WEB_MAX_BODY = 1024,	    /* of POST /login */
	WEB_MAX_FDS = 512,	    /* connections; runs have other descriptors */
	WEB_STRANGERS = 256,	    /* connections of those who have not logged in, */
	WEB_PEER_STRANGERS = 64,    /* of one address */
	WEB_USER_CONNS = 16,	    /* of one user, that no stranger displaces */
	WEB_MAX_LIBRARY = 4 << 20,  /* bytes of all scripts of the menu */
	WEB_MAX_USERS = 64,	    /* cookies at once */
	WEB_MAX_SOCKETS = 32,	    /* in all */
	WEB_USER_SOCKETS = 8,
	WEB_MAX_RUNS = 64,	    /* in all */
	WEB_USER_RUNS = 8,
	WEB_MAX_ARGS = 32,
	WEB_MAX_NODES = 64,
	WEB_MAX_PROBES = 200,	    /* of an answer */
	WEB_RUN_SECONDS = 3600,
	WEB_COMPILES = 30,	    /* at once; then one each two seconds */
	WEB_ALL_COMPILES = 120,	    /* of all users; then two a second */
	WEB_QUESTIONS = 60,	    /* nodes, probes: at once; then five a second */
	WEB_LOGINS = 20,	    /* wrong ones; then one each six seconds */
	WEB_LIBRARY_LINES = 20,	    /* of libwebsockets, on stderr; then one each minute */
	WEB_LIBRARY_EACH_MS = 60000,
	WEB_REFUSALS = 50,	    /* lines of the log; then one each ten seconds, with a count */
	WEB_PING_S = 1,
	WEB_HANGUP_S = 15,	    /* no answer to a ping: a browser may be busy for a while */
	WEB_CUT_MS = 3500,	    /* no answer of its machine: a script is off 5 s after the cable was cut */
	WEB_CUT_LOOK_MS = 250,	    /* between two looks for that */
	WEB_SEND_BUFFER = 64 << 10, /* the kernel's: a ping waits behind what is in it */
	WEB_QUEUE_STOP = 256 << 10, /* bytes waiting: lines are not taken any more */
	WEB_QUEUE_GO = 64 << 10,    /* now they are again */
	WEB_QUEUE_MAX = 8 << 20,    /* the socket is closed */
	WEB_GRACE_MS = 10000,	    /* after stop, for END and the last aggregations */
};

#endif
