/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories and the open files of whoever fires, at probes of the kernel. In nodes and in the
 * command itself, where to look at files takes system calls, cwd and root are those of the start,
 * and no file is open.
 */
#pragma D depends_on library procfs.d

typedef struct file file_t; /* of the kernel's */
typedef int64_t offset_t;

typedef struct fileinfo {
	string fi_name;	    /* the last part of its path */
	string fi_dirname;  /* the rest of it */
	string fi_pathname;
	offset_t fi_offset;
	string fi_fs;	    /* kind of the file system */
	string fi_mount;    /* where that is mounted */
	int fi_oflags;	    /* as of open(2): lib/io.d */
} fileinfo_t;

translator fileinfo_t < file_t *f > {
	fi_name = f == NULL ? "<none>" : basename(file_path(f));
	fi_dirname = f == NULL ? "<none>" : dirname(file_path(f));
	fi_pathname = f == NULL ? "<none>" : file_path(f);
	fi_offset = file_offset(f);
	fi_fs = f == NULL ? "<none>" : file_fs(f);
	fi_mount = f == NULL ? "<none>" : file_mount(f);
	fi_oflags = file_flags(f);
};

inline fileinfo_t fds[int fd] = xlate <fileinfo_t> ((file_t *)thread_file(curthread, fd));
inline string cwd = thread_cwd(curthread);
inline string root = thread_root(curthread);
