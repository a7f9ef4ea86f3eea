/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process or user owns a port. The handshake answers a challenge with a digest of challenge
 * and cookie, and whoever gets that answer can relay it: it passes a node's challenge off as its
 * own, hands our answer to that node, and speaks to it in our name. epmd registers names for
 * everybody. So the handshake with a port of this machine goes on only if those who listen there
 * know the cookie anyway, or are the process that was named:
 *
 *   - before connecting, every socket that listens there is checked, so that nobody else learns that
 *     we are there;
 *   - before the digest is sent, the socket at the other end is checked: listeners may have changed
 *     in between, but the process that has accepted the connection stays the same.
 *
 * /proc/net/tcp and tcp6 show a socket's user and inode. A socket that has not been accepted yet
 * has inode 0 and no user of its own; it has not sent anything either. Ports of other machines
 * cannot be checked from here.
 *
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "port_owner.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- sockets of this machine ------------------------------------------------------------ */

enum { TCP_LISTEN_STATE = 0x0a };

struct end {
	in_addr_t addr; /* 0: any */
	unsigned port;
};

struct sock {
	struct end local, remote;
	unsigned state, uid;
	uint64_t inode;
};

/* Hexadecimal, in words of the machine; false: an IPv6 address, which no IPv4 one connects to. */
static bool read_address(const char *text, in_addr_t *addr)
{
	unsigned w[4] = {0};

	if (strlen(text) == 8) {
		*addr = (in_addr_t)strtoul(text, NULL, 16);
		return true;
	}
	if (sscanf(text, "%8x%8x%8x%8x", &w[0], &w[1], &w[2], &w[3]) != 4)
		return false;
	*addr = w[3];
	return w[0] == 0 && w[1] == 0 && (w[2] == htonl(0xffff) || (w[2] == 0 && w[3] == 0));
}

static bool read_socket(const char *line, struct sock *s)
{
	char local[40], remote[40];
	unsigned long long inode;

	if (sscanf(line,
		    " %*u: %39[0-9A-Fa-f]:%x %39[0-9A-Fa-f]:%x %x %*x:%*x %*x:%*x %*x %u %*u %llu",
		    local, &s->local.port, remote, &s->remote.port, &s->state, &s->uid,
		    &inode) != 7)
		return false;
	s->inode = inode;
	return read_address(local, &s->local.addr) && read_address(remote, &s->remote.addr);
}

/* Called for each socket, until it returns something else than 0. */
typedef int look_fn(void *arg, const struct sock *s);

/* What the last call returned; -2: the sockets cannot be read, errno says why. */
static int look_at_sockets(look_fn *look, void *arg)
{
	/* Of this thread: it may have entered another network namespace. */
	static const char *const files[] = {
		"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"};
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++) {
		FILE *f = fopen(files[i], "re");
		char line[512];
		struct sock s;
		int error;

		if (f == NULL && i > 0 && errno == ENOENT)
			break; /* a machine without IPv6 */
		if (f == NULL)
			return -2;
		while (rc == 0 && fgets(line, sizeof(line), f) != NULL)
			if (read_socket(line, &s))
				rc = look(arg, &s);
		error = ferror(f) ? errno : 0;
		fclose(f);
		if (error != 0) {
			errno = error;
			return -2;
		}
	}
	return rc;
}

bool nd_is_here(struct in_addr addr)
{
	struct ifaddrs *all = NULL;
	uint32_t host = ntohl(addr.s_addr);
	bool here = host == INADDR_ANY || host >> 24 == IN_LOOPBACKNET;

	if (here || getifaddrs(&all) < 0)
		return true;
	for (const struct ifaddrs *i = all; i != NULL && !here; i = i->ifa_next)
		here = i->ifa_addr != NULL && i->ifa_addr->sa_family == AF_INET &&
		       ((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr.s_addr == addr.s_addr;
	freeifaddrs(all);
	return here;
}

/* ---- processes -------------------------------------------------------------------------- */

/* Has the process a descriptor of the socket? -1: that cannot be seen, errno says why. */
static int has_socket(pid_t pid, uint64_t inode)
{
	char path[64], wanted[40], is[40];
	const struct dirent *d;
	DIR *dir;
	int found = 0;

	snprintf(wanted, sizeof(wanted), "socket:[%llu]", (unsigned long long)inode);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (dir == NULL)
		return errno == ENOENT ? 0 : -1;
	while (found == 0 && (d = readdir(dir)) != NULL) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, is, sizeof(is) - 1);

		is[n > 0 ? n : 0] = '\0';
		found = strcmp(is, wanted) == 0;
	}
	closedir(dir);
	return found;
}

/* A process that has the socket, for a message; 0: none that we can see. */
static pid_t process_with(uint64_t inode)
{
	DIR *dir = opendir("/proc");
	const struct dirent *d;
	pid_t pid = 0;

	while (dir != NULL && pid == 0 && (d = readdir(dir)) != NULL)
		if (isdigit((unsigned char)d->d_name[0]) && has_socket(atoi(d->d_name), inode) == 1)
			pid = atoi(d->d_name);
	if (dir != NULL)
		closedir(dir);
	return pid;
}

/* ---- checking --------------------------------------------------------------------------- */

const char *nd_user(uid_t uid, char *to, size_t size)
{
	struct passwd entry, *pw = NULL;
	char text[4096];

	if (getpwuid_r(uid, &entry, text, sizeof(text), &pw) == 0 && pw != NULL)
		snprintf(to, size, "user %s", pw->pw_name);
	else
		snprintf(to, size, "uid %u", (unsigned)uid);
	return to;
}

/* A node that nobody has named must not get a wrong cookie: it writes that into its log. */
static bool may_know(const struct port_check *p, uid_t uid)
{
	if (uid == p->cookie->owner)
		return true;
	return !p->accept->found && (uid == geteuid() || uid == 0);
}

static int check_process(const struct port_check *p, uint64_t inode, struct et_error *e)
{
	pid_t hidden = 0;
	int why = 0;

	for (int i = 0; i < p->accept->npids; i++) {
		int rc = has_socket(p->accept->pids[i], inode);

		if (rc > 0)
			return 0;
		if (rc < 0) {
			hidden = p->accept->pids[i];
			why = errno;
		}
	}
	if (hidden != 0 && why != EACCES && why != EPERM)
		return et_err(e, ET_OWNER, "the ports of process %d cannot be seen: %s",
			(int)hidden, strerror(why));
	if (hidden != 0)
		return et_err(e, ET_OWNER,
			"the ports of process %d cannot be seen, because it belongs to another "
			"user: this needs root (CAP_SYS_PTRACE); -N names a node without its "
			"process",
			(int)hidden);
	return et_err(e, ET_OTHER, "%s is another process", p->name);
}

static int check_user(
	const struct port_check *p, const struct sock *s, unsigned port, struct et_error *e)
{
	char user[64], owner[64], hint[64] = "";
	pid_t pid;

	if (may_know(p, s->uid))
		return 0;
	nd_user(s->uid, user, sizeof(user));
	if (p->accept->found)
		return et_err(e, ET_OTHER, "%s is on a port of %s", p->name, user);
	pid = p->accept->npids == 0 ? process_with(s->inode) : 0;
	if (pid != 0)
		snprintf(hint, sizeof(hint), "erltrace -p %d takes its own cookie, or ", (int)pid);
	else if (p->accept->npids == 0)
		snprintf(hint, sizeof(hint), "as root erltrace -p PID takes its own cookie, or ");
	return et_err(e, ET_OWNER,
		"port %u, where the node %s is said to be, belongs to %s, and the cookie of %s to "
		"%s: "
		"no handshake is started, because it could be passed on; %s--cookie-file names a "
		"file of its own",
		port, p->name, user, p->cookie->file,
		nd_user(p->cookie->owner, owner, sizeof(owner)), hint);
}

static int check_owner(
	const struct port_check *p, const struct sock *s, unsigned port, struct et_error *e)
{
	if (p->accept->npids > 0 && check_process(p, s->inode, e) < 0)
		return -1;
	return check_user(p, s, port, e);
}

struct listeners {
	const struct port_check *p;
	struct end at;
	int n;
	struct et_error *e;
};

/* More than one can have the port, by SO_REUSEPORT or as IPv6; all of them must be right. */
static int look_listener(void *arg, const struct sock *s)
{
	struct listeners *l = arg;

	if (s->state != TCP_LISTEN_STATE || s->local.port != l->at.port ||
		(s->local.addr != 0 && l->at.addr != 0 && s->local.addr != l->at.addr))
		return 0;
	l->n++;
	return check_owner(l->p, s, l->at.port, l->e);
}

static int unseen(const struct port_check *p, struct et_error *e)
{
	return et_err(e, ET_OWNER,
		"the owner of the port of the node %s cannot be found: /proc/net/tcp cannot be "
		"read: %s; no handshake is started, because it could be passed on",
		p->name, strerror(errno));
}

int port_check_listener(
	const struct port_check *p, struct in_addr addr, int port, struct et_error *e)
{
	struct listeners l = {.p = p, .at = {addr.s_addr, (unsigned)port}, .e = e};
	int rc;

	if (!nd_is_here(addr))
		return 0;
	rc = look_at_sockets(look_listener, &l);
	if (rc == -2)
		return unseen(p, e);
	if (rc == 0 && l.n == 0 && p->accept->npids > 0)
		return et_err(e, ET_OTHER, "no process listens for %s on port %d", p->name, port);
	if (rc == 0 && l.n == 0)
		return et_err(e, ET_NODE,
			"the node %s does not answer: no process listens on port %d (if it is in a "
			"container, -p names its process)",
			p->name, port);
	return rc;
}

struct answer {
	struct end local, remote; /* as the other end has them */
	struct sock found;
};

static int look_answer(void *arg, const struct sock *s)
{
	struct answer *a = arg;

	if (s->local.port != a->local.port || s->local.addr != a->local.addr ||
		s->remote.port != a->remote.port || s->remote.addr != a->remote.addr)
		return 0;
	a->found = *s;
	return 1;
}

static int name_ends(int fd, struct answer *a)
{
	struct sockaddr_in own, its;
	socklen_t len = sizeof(own);

	if (getsockname(fd, (struct sockaddr *)&own, &len) < 0)
		return -1;
	len = sizeof(its);
	if (getpeername(fd, (struct sockaddr *)&its, &len) < 0)
		return -1;
	a->local = (struct end){its.sin_addr.s_addr, ntohs(its.sin_port)};
	a->remote = (struct end){own.sin_addr.s_addr, ntohs(own.sin_port)};
	return 0;
}

int port_check_peer(const struct port_check *p, int fd, struct et_error *e)
{
	struct answer a = {.found.inode = 0};
	int rc = name_ends(fd, &a);
	bool here = rc < 0 || nd_is_here((struct in_addr){a.local.addr});

	if (rc == 0)
		rc = look_at_sockets(look_answer, &a);
	if (rc == -2 && here)
		return unseen(p, e);
	if (rc == 1 && a.found.inode != 0)
		return check_owner(p, &a.found, a.local.port, e);
	if (rc != 1 && !here)
		return 0;
	return et_err(e, ET_NODE,
		"the node %s has hung up on port %u, or what answers there is of another machine",
		p->name, a.local.port);
}

pid_t nd_peer_process(int fd)
{
	struct answer a = {.found.inode = 0};

	if (name_ends(fd, &a) < 0 || look_at_sockets(look_answer, &a) != 1 || a.found.inode == 0)
		return 0;
	return process_with(a.found.inode);
}
