/* SPDX-License-Identifier: Apache-2.0 */
#include "rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MOST_TEXT = 4096, MOST_GROUPS = 1024 };

/* ---- the administrator's file ------------------------------------------------------------- */

/* Only root can have written it, or put it there. */
static bool is_roots(const char *path, int fd)
{
	char folder[256];
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 022))
		return false;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	return stat(folder, &st) == 0 && st.st_uid == 0 && !(st.st_mode & 022);
}

/* NULL: there is none, or not one that counts. To be freed. */
static char *read_conf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *text = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (is_roots(path, fd) && (text = calloc(1, MOST_TEXT)) != NULL)
		n = read(fd, text, MOST_TEXT);
	close(fd);
	if (n >= 0 && n < MOST_TEXT)
		return text;
	free(text);
	return NULL;
}

/* Is one of the names, with commas or spaces between them, one of the groups? */
static bool any_of(char *names, const char *const *groups, unsigned ngroups)
{
	char *save = NULL;

	for (char *n = strtok_r(names, ", \t", &save); n != NULL; n = strtok_r(NULL, ", \t", &save))
		for (unsigned i = 0; i < ngroups; i++)
			if (strcmp(n, groups[i]) == 0)
				return true;
	return false;
}

/* "name = value"; false: it is none. Both are cut out of the line. */
static bool split(char *line, char **name, char **value)
{
	char *eq = strchr(line, '=');
	size_t len;

	if (eq == NULL)
		return false;
	*eq = '\0';
	*name = line + strspn(line, " \t");
	*value = eq + 1 + strspn(eq + 1, " \t");
	(*name)[strcspn(*name, " \t")] = '\0';
	for (len = strlen(*value); len > 0 && strchr(" \t\r", (*value)[len - 1]) != NULL; len--)
		(*value)[len - 1] = '\0';
	return true;
}

/* What is not understood permits nothing. */
bool rights_permit(const char *path, const char *const *groups, unsigned ngroups)
{
	char *text = read_conf(path), *save = NULL, *name, *value;
	bool others = false, member = true, good = text != NULL;

	for (char *l = good ? strtok_r(text, "\n", &save) : NULL; l != NULL && good;
		l = strtok_r(NULL, "\n", &save)) {
		l[strcspn(l, "#")] = '\0';
		if (l[strspn(l, " \t\r")] == '\0')
			continue;
		good = split(l, &name, &value);
		if (good && strcmp(name, "trace-others") == 0) {
			others = strcmp(value, "yes") == 0;
			good = others || strcmp(value, "no") == 0;
		} else if (good && strcmp(name, "groups") == 0) {
			member = any_of(value, groups, ngroups);
		} else {
			good = false;
		}
	}
	free(text);
	return good && others && member;
}

static bool is_permitted(void)
{
	gid_t ids[MOST_GROUPS];
	char *names[MOST_GROUPS + 1];
	int n = getgroups(MOST_GROUPS - 1, ids);
	unsigned known = 0;
	bool permitted;

	if (n < 0)
		n = 0;
	ids[n++] = getgid();
	for (int i = 0; i < n; i++) {
		const struct group *g = getgrgid(ids[i]);

		if (g != NULL && (names[known] = strdup(g->gr_name)) != NULL)
			known++;
	}
	permitted = rights_permit(RIGHTS_FILE, (const char *const *)names, known);
	while (known > 0)
		free(names[--known]);
	return permitted;
}

/* ---- privileges --------------------------------------------------------------------------- */

bool rights_are_plain(void)
{
	return getuid() == geteuid() && getgid() == getegid();
}

static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	uint64_t all;

	if (syscall(SYS_capget, &head, data) != 0)
		return false;
	all = (uint64_t)data[1].effective << 32 | data[0].effective;
	return (all >> CAP_BPF & 1) && (all >> CAP_PERFMON & 1);
}

/*
 * Of all others, such as those that open files and memory of other users, who is confined has no
 * use.
 */
static bool keep_only(uint64_t caps)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	for (unsigned i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = (uint32_t)(caps >> 32 * i);
	return syscall(SYS_capset, &head, data) == 0;
}

/* The number of the user namespace that this process is in; 0: the first one. */
static uint32_t user_namespace(void)
{
	const ino_t first = 0xeffffffd;
	struct stat st;

	return stat("/proc/self/ns/user", &st) == 0 && st.st_ino != first ? (uint32_t)st.st_ino : 0;
}

/* A token of the bpffs that is mounted there; 0: none is, or it permits nothing. */
static int find_token(void)
{
	enum { TOKEN_CREATE = 36 }; /* newer than the headers that this may be built with */
	const char *path = getenv("ERLTRACE_BPF_TOKEN");
	struct {
		uint32_t flags, bpffs;
	} attr = {0, 0};
	int fd = open(path != NULL && path[0] != '\0' ? path : RIGHTS_BPFFS,
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long token;

	if (fd < 0)
		return 0;
	attr.bpffs = (uint32_t)fd;
	token = syscall(SYS_bpf, TOKEN_CREATE, &attr, sizeof(attr));
	close(fd);
	return token > 0 ? (int)token : 0;
}

static void find_inside(struct rights *r, uint32_t user_ns)
{
	*r = (struct rights){.token = find_token(), .confine = {.on = true, .user_ns = user_ns}};
	r->able = r->token > 0;
}

void rights_find(struct rights *r)
{
	uint32_t user_ns = getuid() == 0 ? user_namespace() : 0;

	if (user_ns != 0) {
		find_inside(r, user_ns);
		return;
	}
	*r = (struct rights){.root = getuid() == 0};
	r->able = r->root || has_capabilities();
	r->confine = (struct confine){
		.on = !r->root && !is_permitted(), .uid = getuid(), .gid = getgid()};
	if (r->confine.on && r->able && !keep_only(1ULL << CAP_BPF | 1ULL << CAP_PERFMON))
		r->able = false;
}

int rights_check(const struct rights *r, struct et_error *e)
{
	const char *caps = "cap_bpf,cap_perfmon";
	char path[512];
	ssize_t n;

	if (r->able)
		return 0;
	if (r->confine.user_ns != 0)
		return et_err(e, ET_PERMISSION,
			"probes of the kernel need root in the initial user namespace, and this node "
			"is in another one (of a container, or by unshare); there they need a BPF token "
			"(Linux 6.9): root of the machine mounts a bpffs with delegate_cmds=any, "
			"delegate_maps=any, delegate_progs=any and delegate_attachs=any for this user "
			"namespace, at " RIGHTS_BPFFS " or where ERLTRACE_BPF_TOKEN says");
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if (getxattr(path, "security.capability", NULL, 0) <= 0)
		return et_err(e, ET_PERMISSION,
			"probes of the kernel need root, or a helper with the capabilities %s: "
			"sudo setcap %s=ep %s",
			caps, caps, path);
	return et_err(e, ET_PERMISSION,
		"probes of the kernel need root, or a helper with the capabilities %s: %s has "
		"capabilities, but not these, or not in this process, which %s: getcap %s",
		caps, path,
		prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) > 0
			? "may gain none (no_new_privs)"
			: "may have been started from a file system mounted nosuid",
		path);
}
