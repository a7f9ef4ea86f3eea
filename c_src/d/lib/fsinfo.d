/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of probes of fsinfo: a file that is open, or one by its name. */
#pragma D depends_on library files.d

typedef struct fsop { /* as kernel/file_event.h has it */
	uint64_t file;
	uint64_t path;
	uint64_t dir;
} fsop_t;

/* Of the path that a program has given: from the root of all, if that can be told. */
inline string fsop_path[fsop_t *o] =
	o->path == 0 ? file_path(o->file) :
	strstr(copyinstr(o->path, 2), "/") != NULL ? copyinstr(o->path) :
	strjoin(strjoin(o->dir == 0 ? cwd : file_path(o->dir), "/"), copyinstr(o->path));

translator fileinfo_t < fsop_t *o > {
	fi_name = basename(fsop_path[o]);
	fi_dirname = dirname(fsop_path[o]);
	fi_pathname = fsop_path[o];
	fi_offset = o->file == 0 ? 0 : file_offset(o->file);
	fi_fs = o->file == 0 ? "<unknown>" : file_fs(o->file);
	fi_mount = o->file == 0 ? "<unknown>" : file_mount(o->file);
	fi_oflags = o->file == 0 ? 0 : file_flags(o->file);
};
