/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's half knows of threads, prepared only when a script needs it: offsets of their
 * fields, CPU time (vtimestamp) from each context switch, and the end of threads, when their self->
 * variables are freed. It has no probes, and starts last of all providers: clauses at the end of a
 * thread (proc:::exit) may still read its self->.
 */
#include <stdlib.h>
#include <string.h>

#include "btf/btf.h"
#include "engine/provider.h"
#include "engine/region.h"
#include "engine/state.h"
#include "kernel.h"
#include "prog/builtins.h"
#include "prog/prog.h"
#include "prog/rt.h"
#include "tracepoint.h"

/* What only D's translators read of threads and processes. */
static void find_more(struct btf *b, struct k_offsets *o)
{
	o->state = btf_offset(b, "task_struct", "__state");
	o->exit_state = btf_offset(b, "task_struct", "exit_state");
	o->on_cpu = btf_offset(b, "task_struct", "on_cpu");
	o->policy = btf_offset(b, "task_struct", "policy");
	o->euid = btf_offset(b, "cred", "euid");
	o->egid = btf_offset(b, "cred", "egid");
	o->mm = btf_offset(b, "task_struct", "mm");
	o->arg_start = btf_offset(b, "mm_struct", "arg_start");
	o->arg_end = btf_offset(b, "mm_struct", "arg_end");
	o->pids = btf_offset(b, "signal_struct", "pids");
	o->real_cred = btf_offset(b, "task_struct", "real_cred");
	o->caps = btf_offset(b, "cred", "cap_permitted");
	o->mm_flags = btf_offset(b, "mm_struct", "flags");
	o->utask = btf_offset(b, "task_struct", "utask");
	o->returns = btf_offset(b, "uprobe_task", "return_instances");
	o->return_stack = btf_offset(b, "return_instance", "stack");
	o->return_to = btf_offset(b, "return_instance", "orig_ret_vaddr");
	o->return_next = btf_offset(b, "return_instance", "next");
}

static void find_files(struct btf *b, struct k_offsets *o)
{
	o->fs = btf_offset(b, "task_struct", "fs");
	o->cwd = btf_offset(b, "fs_struct", "pwd");
	o->root = btf_offset(b, "fs_struct", "root");
	o->files = btf_offset(b, "task_struct", "files");
	o->fdtable = btf_offset(b, "files_struct", "fdt");
	o->max_fds = btf_offset(b, "fdtable", "max_fds");
	o->fds = btf_offset(b, "fdtable", "fd");
	o->f_path = btf_offset(b, "file", "f_path");
	o->f_flags = btf_offset(b, "file", "f_flags");
	o->f_pos = btf_offset(b, "file", "f_pos");
	o->path_mnt = btf_offset(b, "path", "mnt");
	o->path_dentry = btf_offset(b, "path", "dentry");
	o->mnt = btf_offset(b, "mount", "mnt");
	o->mnt_root = btf_offset(b, "vfsmount", "mnt_root");
	o->mnt_sb = btf_offset(b, "vfsmount", "mnt_sb");
	o->mnt_parent = btf_offset(b, "mount", "mnt_parent");
	o->mountpoint = btf_offset(b, "mount", "mnt_mountpoint");
	o->d_parent = btf_offset(b, "dentry", "d_parent");
	o->d_name = btf_offset(b, "dentry", "d_name.name");
	o->d_len = btf_offset(b, "dentry", "d_name.len");
	o->d_inode = btf_offset(b, "dentry", "d_inode");
	o->ino = btf_offset(b, "inode", "i_ino");
	o->sb_type = btf_offset(b, "super_block", "s_type");
	o->type_name = btf_offset(b, "file_system_type", "name");
	o->i_names = btf_offset(b, "inode", "i_dentry");
	o->d_alias = btf_offset(b, "dentry", "d_u.d_alias");
	o->i_sb = btf_offset(b, "inode", "i_sb");
	o->sb_mounts = btf_offset(b, "super_block", "s_mounts");
	o->mnt_instance = btf_offset(b, "mount", "mnt_instance"); /* not from Linux 6.18 on */
}

static int find_offsets(struct en *en, struct et_error *e)
{
	struct k_offsets *o = &en->kernel->root->off;
	struct btf *b = btf_open(e);

	if (b == NULL)
		return -1;
	*o = (struct k_offsets){
		.pid = btf_offset(b, "task_struct", "pid"),
		.tgid = btf_offset(b, "task_struct", "tgid"),
		.comm = btf_offset(b, "task_struct", "comm"),
		.parent = btf_offset(b, "task_struct", "real_parent"),
		.cred = btf_offset(b, "task_struct", "cred"),
		.uid = btf_offset(b, "cred", "uid"),
		.gid = btf_offset(b, "cred", "gid"),
		.runtime = btf_offset(b, "task_struct", "se.sum_exec_runtime"),
		.prio = btf_offset(b, "task_struct", "prio"),
		.cpu = btf_offset(b, "task_struct", "thread_info.cpu"),
		.signal = btf_offset(b, "task_struct", "signal"),
		.live = btf_offset(b, "signal_struct", "live"),
		.exit_code = btf_offset(b, "task_struct", "exit_code"),
		.nthreads = btf_offset(b, "signal_struct", "nr_threads"),
		.fsbase = btf_offset(b, "task_struct", "thread.fsbase"),
		.leader = btf_offset(b, "task_struct", "group_leader"),
		.numbers = btf_offset(b, "task_struct", "thread_pid"),
		.level = btf_offset(b, "pid", "level"),
		.number = btf_offset(b, "pid", "numbers"),
		.inum = btf_offset(b, "pid_namespace", "ns.inum"),
		.user_ns = btf_offset(b, "cred", "user_ns"),
		.user_inum = btf_offset(b, "user_namespace", "ns.inum"),
	};
	find_more(b, o);
	find_files(b, o);
	btf_close(b);
	if (o->pid == BTF_NOWHERE || o->tgid == BTF_NOWHERE || o->parent == BTF_NOWHERE)
		return et_err(e, ET_KERNEL, "the thread structures of this kernel are not known");
	return 0;
}

/* Who is confined sees nothing where it is not known whose a process is. */
static int check_confined(const struct k_offsets *o, struct et_error *e)
{
	bool good = o->real_cred != BTF_NOWHERE && o->caps != BTF_NOWHERE && o->mm != BTF_NOWHERE &&
		    o->mm_flags != BTF_NOWHERE && o->uid != BTF_NOWHERE && o->gid == o->uid + 4 &&
		    o->euid == o->uid + 16 && o->egid == o->uid + 20 && o->user_ns != BTF_NOWHERE &&
		    o->user_inum != BTF_NOWHERE;

	return good ? 0
		    : et_err(e, ET_KERNEL,
			      "you may trace only your own processes, and in this kernel it is not "
			      "known whose a process is");
}

static int make_vtimes(struct en *en, struct et_error *e)
{
	struct k_root *r = en->kernel->root;

	r->vtimes = en_alloc(en, K_VTIMES * sizeof(*r->vtimes));
	r->running = en_alloc(en, r->cpu_slots * sizeof(*r->running));
	if (r->vtimes == NULL || r->running == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the CPU time of threads");
	return 0;
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	struct kernel *k = en->kernel;
	bool vtime = false, self = k_has_self(en->prog);

	if (k == NULL || k->root == NULL)
		return 0;
	for (unsigned i = 0; i < en->prog->nclauses; i++) {
		const struct prog_uses *u = &en->prog->clauses[i]->uses;

		if (!k->programs[i])
			continue;
		vtime |= uses_var(u, BI_VTIMESTAMP);
		k->wants_tasks |= uses_fn(u, RT_progenyof) || uses_fn(u, RT_threadnum) ||
				  uses_fn(u, RT_threadstr) || uses_var(u, BI_PPID);
	}
	if ((k->wants_tasks || self || vtime || k->root->nvms > 0 || k->root->confine.on) &&
		find_offsets(en, e) < 0)
		return -1;
	if (k->root->confine.on && check_confined(&k->root->off, e) < 0)
		return -1;
	if ((k->root->vm_stacks != NULL || k->root->unwind != NULL) && find_offsets(en, e) < 0)
		et_err_clear(e); /* without them they are as those of any program */
	if (vtime && make_vtimes(en, e) < 0)
		return -1;
	if (vtime && !k->sees_switches)
		k_tracepoints_want(data, ENTRY_vtime);
	if (self)
		k_tracepoints_want(data, ENTRY_gone);
	return k_tracepoints_load(en, data, e);
}

static void fini(struct en *en, void *data)
{
	(void)en;
	free(data);
}

const struct provider tasks_provider = {
	.name = "tasks",
	.init = k_tracepoints_init,
	.ready = ready,
	.start = k_tracepoints_attach,
	.fini = fini,
};
