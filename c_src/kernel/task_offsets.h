/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the kernel: where their fields are, and their CPU time. tasks.c, bpf/task.h */
#ifndef K_TASK_OFFSETS_H
#define K_TASK_OFFSETS_H

#include <stdint.h>

/* Where the kernel has what we read of a thread (struct task_struct); UINT32_MAX: nowhere. */
struct k_offsets {
	uint32_t pid, tgid, comm, parent, cred, uid, gid, runtime, prio, cpu, signal, live,
		exit_code, nthreads, fsbase, state, exit_state, on_cpu, policy, euid, egid, mm,
		arg_start, arg_end;
	uint32_t leader, numbers, level, number, inum; /* its numbers in each name space */
	uint32_t real_cred, caps, mm_flags; /* may it be traced? bpf/confined.h */
	uint32_t user_ns, user_inum;	    /* likewise: of its credentials; of that, its number */
	/* where functions return to whose returns are traced */
	uint32_t utask, returns, return_stack, return_to, return_next;
	uint32_t pids; /* of a process: the numbers of its group and session, among others */
	/* open files, and the directories that make their names */
	uint32_t fs, cwd, root, files, fdtable, max_fds, fds;
	uint32_t f_path, f_flags, f_pos, path_mnt, path_dentry;
	uint32_t mnt, mnt_root, mnt_sb, mnt_parent, mountpoint;
	uint32_t d_parent, d_name, d_len, d_inode, ino, sb_type, type_name;
	/* of a file that may not be open: its names, what they are a list of; where it is mounted */
	uint32_t i_names, d_alias, i_sb, sb_mounts, mnt_instance;
};

#define K_VTIMES 16384 /* a power of two */

/* CPU time of a thread when it last left a CPU; and of the one that runs on a CPU. */
struct k_vtime {
	uint64_t tid, time;
};
struct k_running {
	uint64_t tid, since, time;
};

#endif
