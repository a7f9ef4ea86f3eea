/* SPDX-License-Identifier: Apache-2.0 */
/* The system call bpf(2), and an error that says what it needs where it is refused. */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bpf_call.h"

/*
 * Where commands have their flags and a token, in bytes: the headers that this is built with may be
 * older.
 */
enum { TOKEN_FLAG = 1 << 16, WITH_TOKEN = 152 /* bytes, up to the last of them */ };
static const struct {
	int cmd, flags, token;
} takes_token[] = {{BPF_MAP_CREATE, 16, 76}, {BPF_PROG_LOAD, 44, 144}, {BPF_BTF_LOAD, 32, 36}};

static int token;

void k_use_token(int fd)
{
	token = fd;
}

static int with_token(int cmd, const union bpf_attr *attr, int at_flags, int at_token)
{
	char all[WITH_TOKEN] = {0};
	uint32_t flags;

	memcpy(all, attr, sizeof(*attr) < sizeof(all) ? sizeof(*attr) : sizeof(all));
	memcpy(&flags, all + at_flags, sizeof(flags));
	flags |= TOKEN_FLAG;
	memcpy(all + at_flags, &flags, sizeof(flags));
	memcpy(all + at_token, &token, sizeof(token));
	return (int)syscall(SYS_bpf, cmd, all, sizeof(all));
}

int k_bpf(int cmd, union bpf_attr *attr)
{
	for (size_t i = 0; token > 0 && i < sizeof(takes_token) / sizeof(*takes_token); i++)
		if (takes_token[i].cmd == cmd)
			return with_token(
				cmd, attr, takes_token[i].flags, takes_token[i].token);
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* Root of another user namespace has capabilities there, which BPF does not ask for. */
const char *k_privileges(void)
{
	const ino_t first = 0xeffffffd; /* the name space that the kernel begins with */
	struct stat st;

	if (stat("/proc/self/ns/user", &st) == 0 && st.st_ino != first)
		return "root, or the capabilities CAP_BPF and CAP_PERFMON, in the initial user "
		       "namespace, and this process is in another one (of a container, or by "
		       "unshare)";
	return "root, or the capabilities CAP_BPF and CAP_PERFMON";
}

int k_refused(struct et_error *e, const char *what)
{
	struct utsname host = {.release = "?"};
	int why = errno;

	if (why == EPERM || why == EACCES)
		return et_err(e, ET_PERMISSION,
			"probes of the kernel need %s: %s was refused (%s)", k_privileges(), what,
			strerror(why));
	if (why == EINVAL || why == ENOSYS || why == EOPNOTSUPP) {
		uname(&host);
		return et_err(e, ET_KERNEL,
			"probes of the kernel need Linux 6.1 or newer with CONFIG_BPF_SYSCALL and "
			"its "
			"JIT: this is Linux %s, where %s was refused (%s)",
			host.release, what, strerror(why));
	}
	return et_err(e, ET_KERNEL, "the kernel refused %s: %s", what, strerror(why));
}
