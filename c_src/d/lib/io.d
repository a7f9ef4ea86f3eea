/* SPDX-License-Identifier: Apache-2.0 */
/* Flags of open(2) on Linux, x86-64; the arguments of probes of io. */
#pragma D depends_on library files.d

inline int O_RDONLY = 0;
inline int O_WRONLY = 01;
inline int O_RDWR = 02;
inline int O_ACCMODE = 03;
inline int O_CREAT = 0100;
inline int O_EXCL = 0200;
inline int O_NOCTTY = 0400;
inline int O_TRUNC = 01000;
inline int O_APPEND = 02000;
inline int O_NONBLOCK = 04000;
inline int O_NDELAY = 04000;
inline int O_DSYNC = 010000;
inline int O_ASYNC = 020000;
inline int O_DIRECT = 040000;
inline int O_LARGEFILE = 0100000;
inline int O_DIRECTORY = 0200000;
inline int O_NOFOLLOW = 0400000;
inline int O_NOATIME = 01000000;
inline int O_CLOEXEC = 02000000;
inline int O_SYNC = 04010000;
inline int O_RSYNC = 04010000;
inline int O_PATH = 010000000;
inline int O_TMPFILE = 020200000;

/* A request to a disk: as kernel/disk_event.h has it. */
typedef struct iorequest {
	uint64_t request;	/* the kernel's struct request; 0: not known, as at wait-start */
	uint64_t device;	/* its struct block_device; 0: not known */
	uint64_t inode, offset; /* of the file, and where in it */
	uint64_t sector;
	uint32_t bytes, left;
	int32_t flags, error;
} iorequest_t;

/* b_flags */
inline int B_ERROR = 4;
inline int B_PAGEIO = 16;	/* pages of a file */
inline int B_PHYS = 32;		/* memory of a program, or the disk's own tables */
inline int B_READ = 64;
inline int B_WRITE = 256;
inline int B_ASYNC = 1024;	/* nobody is said to wait for it */

typedef uint64_t dev_t;

typedef struct bufinfo {
	int b_flags;
	size_t b_bcount;	/* bytes */
	uintptr_t b_addr;	/* the kernel's struct request */
	uint64_t b_blkno;	/* the block of 512 bytes on the disk */
	uint64_t b_lblkno;	/* the same in the file */
	size_t b_resid;		/* bytes that are not done */
	size_t b_bufsize;
	uintptr_t b_iodone;
	int b_error;		/* errno */
	dev_t b_edev;		/* the number of the device, as in dev_major and dev_minor */
} bufinfo_t;

translator bufinfo_t < iorequest_t *r > {
	b_flags = r->flags;
	b_bcount = r->bytes;
	b_addr = (uintptr_t)r->request;
	b_blkno = r->sector;
	b_lblkno = r->offset / 512;
	b_resid = r->left;
	b_bufsize = r->bytes;
	b_iodone = r->request == 0 ? 0 : (uintptr_t)((struct request *)r->request)->end_io;
	b_error = r->error;
	b_edev = r->device == 0 ? 0 : ((struct block_device *)r->device)->bd_dev;
};

typedef struct devinfo {
	int dev_major;
	int dev_minor;
	int dev_instance;
	string dev_name;	/* the disk */
	string dev_statname;	/* the disk or the part of it */
	string dev_pathname;
} devinfo_t;

translator devinfo_t < iorequest_t *r > {
	dev_major = r->device == 0 ? 0 : ((struct block_device *)r->device)->bd_dev >> 20;
	dev_minor = r->device == 0 ? 0 : ((struct block_device *)r->device)->bd_dev & 0xfffff;
	dev_instance = r->device == 0 ? 0 : ((struct block_device *)r->device)->bd_dev & 0xfffff;
	dev_name = r->device == 0
			   ? "<none>"
			   : stringof(((struct block_device *)r->device)->bd_disk->disk_name);
	dev_statname = r->device == 0
			       ? "<none>"
			       : stringof(((struct block_device *)r->device)->bd_device.kobj.name);
	dev_pathname = r->device == 0
			       ? "<none>"
			       : strjoin("/dev/", stringof(((struct block_device *)r->device)
									->bd_device.kobj.name));
};

translator fileinfo_t < iorequest_t *r > {
	fi_name = r->inode == 0 ? "<unknown>" : basename(inode_path(r->inode));
	fi_dirname = r->inode == 0 ? "<unknown>" : dirname(inode_path(r->inode));
	fi_pathname = r->inode == 0 ? "<unknown>" : inode_path(r->inode);
	fi_offset = r->offset;
	fi_fs = r->inode == 0 ? "<unknown>" : inode_fs(r->inode);
	fi_mount = r->inode == 0 ? "<unknown>" : inode_mount(r->inode);
	fi_oflags = 0; /* it is not known who has it open, and how */
};
