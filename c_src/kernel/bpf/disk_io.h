/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the provider io (kernel/events/disk_io.c has the table). Part of entries.c. A request
 * is what a driver gets: several of a program's may have become one.
 */

enum { REQ_OP = 0xff, REQ_READ = 0, REQ_WRITE, REQ_FLUSH, REQ_SYNC_BIT = 1 << 11 };
enum { IS_TYPE = 0170000, IS_DISK = 060000 }; /* of inode.i_mode */

/* Errors of the block layer (blk_status_t) as errno; older kernels give that itself, negative. */
static inline int32_t io_errno(uint32_t status)
{
	/* by their numbers in linux/blk_types.h */
	static const uint8_t numbers[16] = {
		0, 95, 110, 28, 67, 121, 52, 61, 84, 12, 5, 5, 11, 16, 75, 11};

	if ((int32_t)status <= 0)
		return -(int32_t)status;
	return status < sizeof(numbers) ? numbers[status & 15] : 5;
}

/* Reads and writes as such; a flush is neither, and what discards is a write. */
static inline int32_t io_flags(uint32_t cmd, uint64_t inode)
{
	uint32_t op = cmd & REQ_OP;
	int32_t flags = op == REQ_READ ? K_B_READ : op != REQ_FLUSH ? K_B_WRITE : 0;

	if (!(cmd & REQ_SYNC_BIT) && op != REQ_READ)
		flags |= K_B_ASYNC;
	return flags | (inode != 0 ? K_B_PAGEIO : K_B_PHYS);
}

/* The file that a request's first page is part of. Memory of a program has none. */
static inline void find_file(struct k_io *io)
{
	const struct k_io_offsets *o = &k_root.io_off;
	uint64_t bio = task_u64(io->request, o->bio), page, head, mapping;

	page = bio == 0 ? 0 : task_u64(task_u64(bio, o->vec), o->vec_page);
	if (page == 0)
		return;
	head = task_u64(page, o->page_head);
	if (head & 1)
		page = head - 1;
	mapping = task_u64(page, o->page_mapping);
	if (mapping == 0 || (mapping & 3) != 0)
		return;
	io->inode = task_u64(mapping, o->host);
	if (task_u64(io->inode, o->names) == 0 ||
		(task_u32(io->inode, o->mode) & IS_TYPE) == IS_DISK)
		io->inode = 0; /* a file system's own tables */
	io->offset = task_u64(page, o->page_index) << 12;
}

static inline struct k_io *put_io(struct fire *f, uint64_t request)
{
	struct k_io *io = (struct k_io *)(void *)f->thread->k.text[0];

	io->request = request;
	io->device = io->inode = io->offset = io->sector = 0;
	io->bytes = io->left = 0;
	io->flags = io->error = 0;
	f->arg[0] = f->arg[1] = f->arg[2] = (uint64_t)(uintptr_t)io;
	return io;
}

static inline void fire_io(
	void *ctx, uint64_t request, unsigned which, uint32_t done, uint32_t status)
{
	struct fire *f = begin(&k_root, k_root.io[which]);
	const struct k_io_offsets *o = &k_root.io_off;
	struct k_io *io;

	if (f == NULL)
		return;
	if (f->probe->argmask != 0) {
		io = put_io(f, request);
		io->bytes = task_u32(request, o->bytes);
		io->sector = io->bytes != 0 ? task_u64(request, o->sector) : 0;
		io->left = io->bytes - done;
		io->error = io_errno(status);
		io->device = task_u64(request, o->part);
		if (io->device == 0)
			io->device =
				task_u64(task_u64(task_u64(request, o->queue), o->disk), o->part0);
		find_file(io);
		io->flags = io_flags(task_u32(request, o->flags), io->inode) |
			    (io->error != 0 ? K_B_ERROR : 0);
	}
	stacks(ctx, f);
	run(f);
}

/* block_rq_issue: a request. */
uint64_t k_disk_start(uint64_t *ctx)
{
	uint64_t request = CTX(0);

	fire_io(ctx, request, K_IO_START, 0, 0);
	return 0;
}

/* block_rq_complete: a request, error, bytes: of all that is left of it, or of a part. */
uint64_t k_disk_done(uint64_t *ctx)
{
	uint64_t request = CTX(0);
	uint32_t status = (uint32_t)CTX(1), done = (uint32_t)CTX(2);
	uint32_t all = task_u32(request, k_root.io_off.bytes);
	uint32_t op = task_u32(request, k_root.io_off.flags) & REQ_OP;

	/* a write of nothing stands for a flush, and never got to the driver */
	if (done >= all && !(op == REQ_WRITE && all == 0))
		fire_io(ctx, request, K_IO_DONE, status == 0 ? done : 0, status);
	return 0;
}

/* Does a thread that leaves its CPU, or gets one, wait for a disk? */
static inline bool waits_for_disk(uint64_t task)
{
	return task_u32(task, k_root.io_off.waits) >> k_root.io_off.waits_bit & 1;
}

/* sched_switch: preempted, previous, next. For which request a thread waits is not told. */
uint64_t k_disk_wait(uint64_t *ctx)
{
	uint64_t preempted = CTX(0) & 1, prev = CTX(1), next = CTX(2);
	struct fire *f;

	if (!preempted && waits_for_disk(prev) &&
		(f = begin(&k_root, k_root.io[K_IO_WAIT_START])) != NULL) {
		put_io(f, 0);
		stacks(ctx, f);
		run(f);
	}
	if (waits_for_disk(next) && (f = begin_arriving(k_root.io[K_IO_WAIT_DONE], next)) != NULL) {
		put_io(f, 0);
		run(f);
	}
	return 0;
}
