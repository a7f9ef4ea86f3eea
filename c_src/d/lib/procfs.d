/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes, threads and CPUs, as /proc of Solaris described them: of whoever fires (curpsinfo,
 * curlwpsinfo, curcpu), and of the threads that probes of sched and proc tell of (args[]). Members
 * without a translation have no meaning on Linux; to name one is an error that says so.
 * pr_psargs is the program's name where its arguments cannot be read: those of another process than
 * the one that fires, and of one that ends.
 */
typedef struct task_struct kthread_t; /* a thread of the kernel's */

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

translator psinfo_t < kthread_t *t > {
	pr_nlwp = thread_nlwp(t);
	pr_pid = thread_pid(t);
	pr_ppid = thread_ppid(t);
	pr_pgid = thread_pgid(t);
	pr_sid = thread_sid(t);
	pr_uid = thread_uid(t);
	pr_euid = thread_euid(t);
	pr_gid = thread_gid(t);
	pr_egid = thread_egid(t);
	pr_addr = (uintptr_t)t;
	pr_fname = thread_comm(t);
	pr_psargs = thread_args(t);
};

/* pr_state, and the letters that pr_sname has for it */
inline char SSLEEP = 1; /* S: waits for something */
inline char SRUN = 2;	/* R: can run */
inline char SZOMB = 3;	/* Z: has ended */
inline char SSTOP = 4;	/* T: is stopped */
inline char SIDL = 5;	/* I: is being made */
inline char SONPROC = 6; /* O: runs */
inline char SWAIT = 7;	/* W */

typedef struct lwpsinfo {
	id_t pr_lwpid;
	uintptr_t pr_addr;
	uintptr_t pr_wchan;
	char pr_state;
	char pr_sname;
	short pr_syscall;
	int pr_pri;
	string pr_clname;
	int pr_onpro;
} lwpsinfo_t;

translator lwpsinfo_t < kthread_t *t > {
	pr_lwpid = thread_tid(t);
	pr_addr = (uintptr_t)t;
	pr_wchan = 0; /* what it waits for has no address that it could be told by */
	pr_state = thread_state(t);
	pr_sname = "?SRZTIOW"[thread_state(t)];
	pr_pri = thread_pri(t);
	pr_clname = thread_class(t);
	pr_onpro = thread_cpu(t);
};

typedef int processorid_t;
typedef int psetid_t;
typedef int chipid_t;
typedef int lgrp_id_t;

inline int P_ONLINE = 2; /* pi_state */

typedef struct processor_info {
	int pi_state;
	string pi_processor_type;
	string pi_fputypes;
	int pi_clock;
} processor_info_t;

translator processor_info_t < int c > {
	pi_state = P_ONLINE; /* one that is not has no events */
	pi_clock = cpu_mhz(c);
};

typedef struct cpuinfo {
	processorid_t cpu_id;
	psetid_t cpu_pset;
	chipid_t cpu_chip; /* the package that the CPU is part of */
	lgrp_id_t cpu_lgrp; /* its memory node */
	processor_info_t cpu_info;
} cpuinfo_t;

translator cpuinfo_t < int c > {
	cpu_id = c;
	cpu_pset = 0; /* Linux has no sets of CPUs with numbers */
	cpu_chip = cpu_chip(c);
	cpu_lgrp = cpu_lgrp(c);
	cpu_info = xlate <processor_info_t> (c);
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> ((kthread_t *)curthread);
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> ((kthread_t *)curthread);
inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> (cpu);
