/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's half hands to clauses at probes of io: the same structure is in d/lib/io.d. And
 * where the kernel has what that is made of. disk_io.c, bpf/disk_io.h
 */
#ifndef K_DISK_EVENT_H
#define K_DISK_EVENT_H

#include <stdint.h>

struct k_io {
	uint64_t request; /* struct request; 0: who waits is not told for which */
	uint64_t device;  /* struct block_device, a partition or a whole disk; 0: not known */
	uint64_t inode;	  /* of the file that its first page belongs to; 0: of none */
	uint64_t offset;  /* of that page in the file */
	uint64_t sector;  /* of 512 bytes, on the disk */
	uint32_t bytes, left; /* in all; those that are not done */
	int32_t flags, error; /* B_*, errno */
};

enum { K_B_ERROR = 4, K_B_PAGEIO = 16, K_B_PHYS = 32, K_B_READ = 64, K_B_WRITE = 256,
	K_B_ASYNC = 1024 };

enum k_io_event { K_IO_START, K_IO_DONE, K_IO_WAIT_START, K_IO_WAIT_DONE, K_IO_EVENTS };

struct k_io_offsets {
	/* of a request */
	uint32_t flags, sector, bytes, bio, part, queue;
	uint32_t disk, part0; /* of its queue, of that */
	uint32_t vec, vec_page; /* of a bio */
	uint32_t page_mapping, page_head, page_index, host, names, mode;
	uint32_t waits, waits_bit; /* of a thread: a byte, and a bit of it */
};

#endif
