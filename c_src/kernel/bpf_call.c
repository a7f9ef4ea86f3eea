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

int k_bpf(int cmd, union bpf_attr *attr)
{
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
