/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files, read into memory. All of them are bounded: a file that is longer is refused.
 */
#ifndef ET_FILE_H
#define ET_FILE_H

#include <stddef.h>

#include "error.h"

/*
 * A regular file, opened for reading; -1 and errno otherwise (EISDIR; EINVAL: a FIFO, a device).
 * It never waits, as opening a FIFO does, and never takes a terminal.
 */
int file_open(const char *path);

/*
 * All that is to be read, up to the end; a NUL stands behind it. To be freed. NULL and errno:
 * EISDIR, EFBIG for more than max bytes, ENOMEM, or what read(2) says.
 */
char *file_read_fd(int fd, size_t max, size_t *len);

/* A regular file, likewise. Those of /proc are too. */
char *file_read(const char *path, size_t max, size_t *len);

/* A script, which may come through a pipe; standard input is "/dev/stdin". NULL: *e says why. */
char *file_read_script(const char *path, size_t max, size_t *len, struct et_error *e);

#endif
