/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and their open files, for D's library (probe path): d/lib/procfs.d and files.d ask for
 * them by the names of prog/builtins.def. All is read from the kernel's structures as they are,
 * without a lock: while they change, a name may be half old, but nothing is read that is not there.
 */
#include "buffer.h"
#include "confined.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "engine/rt/rt_str.h"
#include "engine/safe.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "prog/builtins.h"
#include "vm_terms.h"

static inline char *text(uint64_t to)
{
	return (char *)(uintptr_t)to;
}

/* ---- numbers -------------------------------------------------------------------------- */

/* As Solaris numbers them: lib/procfs.d. */
enum { SSLEEP = 1, SRUN, SZOMB, SSTOP, SIDL, SONPROC };

static inline uint64_t state_of(const struct en_thread *t, uint64_t task)
{
	uint32_t state = task_u32(task, k_root.off.state) | task_u32(task, k_root.off.exit_state);

	if (state & 0xb0) /* dead, zombie */
		return SZOMB;
	if (state & 0x0c) /* stopped, traced */
		return SSTOP;
	if (state & 0x03) /* interruptible or not */
		return SSLEEP;
	if (state & 0x800)
		return SIDL;
	/* one that comes to a CPU fires before the kernel notes it */
	return task == t->k.task || task_u32(task, k_root.off.on_cpu) != 0 ? SONPROC : SRUN;
}

/* PIDTYPE_PGID and PIDTYPE_SID. */
static inline uint64_t group_of(uint64_t task, uint32_t which)
{
	uint64_t signal = task_u64(task, k_root.off.signal);

	if (signal == 0 || k_root.off.pids == UINT32_MAX)
		return 0;
	return pid_number(task_u64(signal, k_root.off.pids + 8 * which));
}

/* ---- whose ------------------------------------------------------------------------------ */

enum { DUMPABLE = 3, BY_ITS_USER = 1 }; /* of mm_struct.flags; SUID_DUMP_USER */

/*
 * Real, effective and saved user and group are this user's, it has no capabilities, and the kernel has
 * not marked it as one that its user may not look into (prctl(2), PR_SET_DUMPABLE).
 */
uint64_t k_may_see(uint64_t task)
{
	uint64_t cred = task_u64(task, k_root.off.real_cred), mm = task_u64(task, k_root.off.mm);
	struct {
		uint32_t uid, gid, suid, sgid, euid, egid;
	} is = {0, 0, 0, 0, 0, 0};
	const struct confine *c = &k_root.confine;

	if (cred == 0 || mm == 0 || (task_u64(mm, k_root.off.mm_flags) & DUMPABLE) != BY_ITS_USER)
		return 0;
	if (c->user_ns != 0)
		return task_u32(task_u64(cred, k_root.off.user_ns), k_root.off.user_inum) ==
		       c->user_ns;
	if (k_root.off.uid == UINT32_MAX ||
		bpf_probe_read_kernel(
			&is, sizeof(is), (const void *)(uintptr_t)(cred + k_root.off.uid)) != 0)
		return 0;
	return is.uid == c->uid && is.euid == c->uid && is.suid == c->uid && is.gid == c->gid &&
	       is.egid == c->gid && is.sgid == c->gid && task_u64(cred, k_root.off.caps) == 0;
}

/*
 * The file asked for last may have been closed by another thread since, and its memory be that of
 * somebody else's file by now. So this is asked before and after something is read of it.
 */
static inline bool is_still_open(const struct en_thread *t)
{
	return task_file(t->k.file_task, t->k.file_n) == t->k.file;
}

/* A clause may hand us any number: may it ask this of what is there? Confined only. */
static inline bool may_ask(const struct en_thread *t, uint64_t which, uint64_t of)
{
	switch (which) {
	case FN_FILE_FLAGS:
	case FN_FILE_OFFSET:
	case FN_FILE_PATH:
	case FN_FILE_FS:
	case FN_FILE_MOUNT: return of == t->k.file && is_still_open(t);
	case FN_INODE_PATH:
	case FN_INODE_FS:
	case FN_INODE_MOUNT: return false;
	default: return of == task_of(t) || (of == t->k.other && k_may_see(of));
	}
}

RTFN(threadnum)
{
	struct en_thread *t = FIRE(ctx)->thread;
	uint64_t cred, value;

	if (b == 0 || (is_confined() && !may_ask(t, a, b)))
		return 0;
	cred = task_u64(b, k_root.off.cred);
	switch (a) {
	case FN_THREAD_PID: return task_pid(b);
	case FN_THREAD_TID: return task_tid(b);
	case FN_THREAD_PPID: return task_ppid(b);
	case FN_THREAD_PGID: return group_of(b, 2);
	case FN_THREAD_SID: return group_of(b, 3);
	case FN_THREAD_UID: return task_u32(cred, k_root.off.uid);
	case FN_THREAD_EUID: return task_u32(cred, k_root.off.euid);
	case FN_THREAD_GID: return task_u32(cred, k_root.off.gid);
	case FN_THREAD_EGID: return task_u32(cred, k_root.off.egid);
	case FN_THREAD_PRI: return task_u32(b, k_root.off.prio);
	case FN_THREAD_STATE: return state_of(t, b);
	case FN_THREAD_CPU: return task_u32(b, k_root.off.cpu);
	case FN_THREAD_NLWP: return task_u32(task_u64(b, k_root.off.signal), k_root.off.nthreads);
	case FN_THREAD_FILE:
		t->k.file_task = b;
		t->k.file_n = c;
		return t->k.file = task_file(b, c);
	case FN_FILE_FLAGS:
	case FN_FILE_OFFSET:
		value = a == FN_FILE_FLAGS ? task_u32(b, k_root.off.f_flags)
					   : task_u64(b, k_root.off.f_pos);
		return is_confined() && !is_still_open(t) ? 0 : value;
	default: return 0;
	}
}

/* ---- texts ---------------------------------------------------------------------------- */

/* Texts are made in the slot that the clause has for them; slots begin at multiples of 8 bytes. */
static inline uint64_t room(void)
{
	return k_root.en->strsize;
}

/* Up to seven letters, the first of them lowest: as one number, which no loop has to copy. */
static inline void put_letters(uint64_t to, uint64_t letters)
{
	*(uint64_t *)(void *)text(to) = letters;
}

static inline void put_comm(uint64_t to, uint64_t task)
{
	uint64_t name[2] = {0, 0};

	if (k_root.off.comm == UINT32_MAX)
		return;
	bpf_probe_read_kernel(
		name, sizeof(name), (const void *)(uintptr_t)(task + k_root.off.comm));
	((uint64_t *)(void *)text(to))[0] = name[0];
	if (room() > sizeof(name))
		((uint64_t *)(void *)text(to))[1] = name[1];
	text(to)[room() > sizeof(name) ? sizeof(name) : room() > 8 ? 8 : room() - 1] = '\0';
}

/*
 * The arguments, with a space between them. They are in the memory of their process: a thread of
 * the kernel's has none, and those of another process cannot be read from here.
 */
INLINE_HERE uint64_t k_put_args(const struct en_thread *t, uint64_t to, uint64_t task)
{
	uint64_t mm = task_u64(task, k_root.off.mm);
	uint64_t from = task_u64(mm, k_root.off.arg_start), n, len = unknown_zero();
	char *buf = k_buffer(t);

	if (mm == 0 || mm != task_u64(bpf_get_current_task(), k_root.off.mm))
		return 0;
	n = task_u64(mm, k_root.off.arg_end) - from;
	if (n >= room())
		n = room() - 1;
	if (n >= K_BUF)
		n = K_BUF - 1;
	if (n == 0 || !(fetch(buf, from, (uint32_t)n) ||
			      (k_touch(from, n) && fetch(buf, from, (uint32_t)n))))
		return 0;
	for (uint64_t i = unknown_zero(); i < n; i++) {
		char c = buf[bounded(i)];

		text(to + i)[0] = c == '\0' ? ' ' : c;
		if (c != '\0')
			len = i + 1;
	}
	text(to + len)[0] = '\0';
	return len;
}

/* As ps(1) has them: TS, FF, RR, B, ISO, IDL, DLN. */
static inline void put_class(uint64_t to, uint64_t task)
{
	static const uint32_t names[8] = {
		0x5354, 0x4646, 0x5252, 0x42, 0x4f5349, 0x4c4449, 0x4e4c44, 0x545845};

	put_letters(to, names[task_u32(task, k_root.off.policy) & 7]);
}

/* ---- names of files ------------------------------------------------------------------- */

enum { MOST_STEPS = 256, LONGEST_NAME = 255, PATH_END = K_BUF - 1 };

struct path { /* a directory or a file, in what is mounted somewhere */
	uint64_t mnt, dentry;
};

static inline struct path path_at(uint64_t path)
{
	return (struct path){
		task_u64(path, k_root.off.path_mnt), task_u64(path, k_root.off.path_dentry)};
}

/* From a mounted tree to the directory it is mounted on; false: it is the topmost. */
static inline bool leave_mount(struct path *p)
{
	uint64_t mount = p->mnt - k_root.off.mnt, up = task_u64(mount, k_root.off.mnt_parent);

	if (up == 0 || up == mount)
		return false;
	p->dentry = task_u64(mount, k_root.off.mountpoint);
	p->mnt = up + k_root.off.mnt;
	return true;
}

/* A name, and the slash before it, in front of what is in the buffer from `at' on. */
static inline uint64_t prepend(char *buf, uint64_t at, uint64_t dentry)
{
	uint64_t len = task_u32(dentry, k_root.off.d_len);
	const void *from = (const void *)(uintptr_t)task_u64(dentry, k_root.off.d_name);

	if (len > LONGEST_NAME)
		len = LONGEST_NAME;
	at -= len;
	__asm__ volatile("" : "+r"(len));
	bpf_probe_read_kernel(buf + bounded(at), (uint32_t)(len & LONGEST_NAME), from);
	buf[bounded(--at)] = '/';
	return at;
}

/*
 * A path, made from its end up to the root that its process sees (a struct path; 0: to the topmost
 * of all) in the slot's buffer. One that is too long for that lacks its beginning.
 */
INLINE_HERE uint64_t k_put_path(
	const struct en_thread *t, uint64_t to, uint64_t mnt, uint64_t dentry, uint64_t root)
{
	struct path p = {mnt, dentry}, top = {0, 0};
	uint64_t at = PATH_END, most = room() - 1, i;
	char *buf = k_buffer(t);

	if (root != 0)
		top = path_at(root);
	for (i = unknown_zero(); i < MOST_STEPS && at > LONGEST_NAME + 1; i++) {
		uint64_t parent = task_u64(p.dentry, k_root.off.d_parent);

		if (p.dentry == top.dentry && p.mnt == top.mnt)
			break;
		if (p.dentry == task_u64(p.mnt, k_root.off.mnt_root)) {
			if (!leave_mount(&p))
				break;
			continue;
		}
		if (parent == 0 || parent == p.dentry)
			break;
		at = prepend(buf, at, p.dentry);
		p.dentry = parent;
	}
	if (at == PATH_END)
		buf[bounded(--at)] = '/';
	if (most > PATH_END - at)
		most = PATH_END - at;
	for (i = unknown_zero(); i + 8 <= most; i += 8) /* behind the buffer there is more */
		*(uint64_t *)(void *)text(to + i) =
			*(const uint64_t *)(const void *)(buf + bounded(at + i));
	for (; i < most; i++)
		text(to + i)[0] = buf[bounded(at + i)];
	text(to + i)[0] = '\0';
	return i;
}

/* A text of the kernel's. */
static inline bool put_name(struct fire *f, uint64_t to, uint64_t from, uint64_t most)
{
	char *buf = k_buffer(f->thread);
	long got = bpf_probe_read_kernel_str(buf,
		(uint32_t)bounded(most < K_BUF ? most : K_BUF - 1), (const void *)(uintptr_t)from);

	if (got <= 0) {
		set_fault(f, FAULT_BADADDR, from);
		return false;
	}
	from_buffer(text(to), buf, (uint32_t)got);
	return true;
}

static inline uint64_t fs_name(uint64_t mnt)
{
	uint64_t sb = task_u64(mnt, k_root.off.mnt_sb);

	return task_u64(task_u64(sb, k_root.off.sb_type), k_root.off.type_name);
}

/* Files that are in no directory: sockets, pipes and such, as /proc/PID/fd shows them. */
INLINE_HERE uint64_t k_put_unnamed(struct fire *f, uint64_t to, uint64_t mnt, uint64_t dentry)
{
	const uint64_t sockfs = 0x73666b636f73, pipefs = 0x736665706970,
		       anon_ino = 0x6f6e695f6e6f6e61;
	uint64_t fs = task_u64(fs_name(mnt), 0), low = fs & UINT64_MAX >> 8;

	if (room() < 48)
		return 0;
	if (fs == anon_ino) {
		put_letters(to, anon_ino);
		put_letters(to + 8, 0x3a6564); /* de: */
		return put_name(
			f, to + 11, task_u64(dentry, k_root.off.d_name), room() - 11);
	}
	if (low != sockfs && low != pipefs)
		return 0;
	put_letters(to, low == sockfs ? 0x5b3a74656b636f73 : 0x5b3a65706970); /* socket:[, pipe:[ */
	to = k_put_number(to + (low == sockfs ? 8 : 6),
		task_u64(task_u64(dentry, k_root.off.d_inode), k_root.off.ino));
	put_letters(to, ']');
	return 1;
}

/*
 * A file by its inode: its first name, in the tree that was mounted first. Before Linux 6.18 those of
 * a file system are a list (struct list_head), then each has the address of the next one.
 */
static inline void put_inode(struct fire *f, uint64_t to, uint64_t what, uint64_t inode)
{
	const struct k_offsets *o = &k_root.off;
	uint64_t sb = task_u64(inode, o->i_sb), mount = task_u64(sb, o->sb_mounts);
	uint64_t name = task_u64(inode, o->i_names);
	struct path p;

	if (what == FN_INODE_FS) {
		put_name(f, to, task_u64(task_u64(sb, o->sb_type), o->type_name), room());
		return;
	}
	if (name == 0 || mount == 0 || o->d_alias == UINT32_MAX)
		return;
	if (o->mnt_instance != UINT32_MAX)
		mount -= o->mnt_instance;
	p = (struct path){mount + o->mnt, name - o->d_alias};
	if (what == FN_INODE_MOUNT) {
		p.dentry = task_u64(p.mnt, o->mnt_root);
		if (!leave_mount(&p)) {
			put_letters(to, '/');
			return;
		}
	}
	k_put_path(f->thread, to, p.mnt, p.dentry, 0);
}

static inline void put_directory(struct fire *f, uint64_t to, uint64_t task, bool root)
{
	uint64_t fs = task_u64(task, k_root.off.fs), top = fs + k_root.off.root;
	struct path p = path_at(root ? top : fs + k_root.off.cwd);

	if (fs != 0)
		k_put_path(f->thread, to, p.mnt, p.dentry, root ? 0 : top);
}

static inline void put_file(struct fire *f, uint64_t to, uint64_t what, uint64_t file)
{
	uint64_t fs = task_u64(task_of(f->thread), k_root.off.fs);
	struct path p = path_at(file + k_root.off.f_path);

	if (file == 0)
		return;
	if (what == FN_FILE_FS) {
		put_name(f, to, fs_name(p.mnt), room());
		return;
	}
	if (what == FN_FILE_PATH && k_put_unnamed(f, to, p.mnt, p.dentry))
		return;
	if (what == FN_FILE_MOUNT && !leave_mount(&p)) {
		put_letters(to, '/');
		return;
	}
	k_put_path(f->thread, to, p.mnt, p.dentry, fs != 0 ? fs + k_root.off.root : 0);
}

RTFN(threadstr)
{
	struct fire *f = FIRE(ctx);
	uint64_t to = (uint64_t)(uintptr_t)str_slot(f, a);

	if (to == 0)
		return 0;
	str_end(text(to), 0);
	if (is_confined() && !may_ask(f->thread, b, c))
		return to;
	switch (b) {
	case FN_THREAD_ARGS:
		if (k_put_args(f->thread, to, c) == 0)
			put_comm(to, c);
		break;
	case FN_THREAD_COMM: put_comm(to, c); break;
	case FN_THREAD_CLASS: put_class(to, c); break;
	case FN_INODE_PATH:
	case FN_INODE_FS:
	case FN_INODE_MOUNT: put_inode(f, to, b, c); break;
	case FN_THREAD_CWD:
	case FN_THREAD_ROOT: put_directory(f, to, c, b == FN_THREAD_ROOT); break;
	default:
		put_file(f, to, b, c);
		if (is_confined() && !is_still_open(f->thread))
			memset(text(to), 0, room());
	}
	text(to)[room() - 1] = '\0';
	return to;
}
