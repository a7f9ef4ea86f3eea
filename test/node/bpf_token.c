/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_token FOLDER COMMAND...: the command runs as root of a user namespace, whose users are 100000 and above
 * here. With FOLDER a bpffs is mounted there that permits all of BPF: root of this machine has delegated it, as
 * who manages containers would. FOLDER "-": none. Exit status 77: this kernel has no such thing.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NONE = 77 };

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(NONE);
}

static void send_fd(int to, int fd)
{
	char byte = 1, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(to, &m, 0) < 0)
		fail("sendmsg");
}

static int get_fd(int from)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	int fd = -1;

	if (recvmsg(from, &m, 0) <= 0 || CMSG_FIRSTHDR(&m) == NULL)
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static void wait_for(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		exit(NONE);
}

static void go_on(int fd)
{
	if (write(fd, "x", 1) != 1)
		exit(NONE);
}

static void map(pid_t pid, const char *what)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0 100000 65536\n", 15) != 15)
		fail(path);
	close(fd);
}

/* The file system belongs to the name space that has opened it, and what it permits is said outside. */
static void mount_bpffs(int peer, const char *folder)
{
	int fs = (int)syscall(SYS_fsopen, "bpf", 0), mnt;

	if (fs < 0)
		fail("fsopen");
	send_fd(peer, fs);
	wait_for(peer);
	mnt = (int)syscall(SYS_fsmount, fs, 0, 0);
	if (mnt < 0 || syscall(SYS_move_mount, mnt, "", AT_FDCWD, folder, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		fail("mount");
}

static void inside(int peer, const char *folder, char **command)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		fail("unshare");
	go_on(peer);
	wait_for(peer);
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		fail("setuid");
	if (strcmp(folder, "-") != 0)
		mount_bpffs(peer, folder);
	execvp(command[0], command);
	fail(command[0]);
}

static void delegate(int peer)
{
	static const char *const what[] = {
		"delegate_cmds", "delegate_maps", "delegate_progs", "delegate_attachs"};
	int fs = get_fd(peer);

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, what[i], "any", 0) < 0)
			fail(what[i]);
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		fail("fsconfig");
	go_on(peer);
}

int main(int argc, char **argv)
{
	int pair[2], status = 0;
	pid_t pid;

	if (argc < 3 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return 2;
	pid = fork();
	if (pid == 0)
		inside(pair[1], argv[1], argv + 2);
	close(pair[1]);
	wait_for(pair[0]);
	map(pid, "uid_map");
	map(pid, "gid_map");
	go_on(pair[0]);
	if (strcmp(argv[1], "-") != 0)
		delegate(pair[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
