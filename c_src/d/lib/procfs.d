/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process and the thread in which a probe fired, as /proc of Solaris described them. Members
 * without a translation are not known where probes fire; to name one is an error that says so.
 * pr_psargs is the name of the program only: its arguments cannot be read there.
 */
typedef struct psinfo {
	int pr_nlwp;
	pid_t pr_pid;
	pid_t pr_ppid;
	pid_t pr_pgid;
	pid_t pr_sid;
	uid_t pr_uid;
	uid_t pr_euid;
	gid_t pr_gid;
	gid_t pr_egid;
	uintptr_t pr_addr;
	string pr_fname;
	string pr_psargs;
} psinfo_t;

translator psinfo_t < void *t > {
	pr_pid = pid;
	pr_ppid = ppid;
	pr_uid = uid;
	pr_gid = gid;
	pr_addr = (uintptr_t)t;
	pr_fname = execname;
	pr_psargs = execname;
};

typedef struct lwpsinfo {
	id_t pr_lwpid;
	uintptr_t pr_addr;
	uintptr_t pr_wchan;
	char pr_state;
	char pr_sname;
	short pr_syscall;
	int pr_pri;
	int pr_onpro;
} lwpsinfo_t;

translator lwpsinfo_t < void *t > {
	pr_lwpid = tid;
	pr_addr = (uintptr_t)t;
	pr_onpro = cpu;
};

/* A thread of the kernel's, as probes of sched and proc tell of it. */
typedef struct task_info {
	uint64_t ti_addr;
	pid_t ti_pid;
	id_t ti_tid;
	pid_t ti_ppid;
	uid_t ti_uid;
	gid_t ti_gid;
	int ti_prio;
	int ti_cpu;
	int ti_nlwp;
	char ti_comm[16];
} task_info_t;

translator psinfo_t < task_info_t *t > {
	pr_nlwp = t->ti_nlwp;
	pr_pid = t->ti_pid;
	pr_ppid = t->ti_ppid;
	pr_uid = t->ti_uid;
	pr_gid = t->ti_gid;
	pr_addr = (uintptr_t)t->ti_addr;
	pr_fname = stringof(t->ti_comm);
	pr_psargs = stringof(t->ti_comm);
};

translator lwpsinfo_t < task_info_t *t > {
	pr_lwpid = t->ti_tid;
	pr_addr = (uintptr_t)t->ti_addr;
	pr_pri = t->ti_prio;
	pr_onpro = t->ti_cpu;
};

typedef int processorid_t;
typedef struct cpuinfo {
	processorid_t cpu_id;
} cpuinfo_t;

translator cpuinfo_t < int c > {
	cpu_id = c;
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> (curthread);
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> (curthread);
