/* SPDX-License-Identifier: Apache-2.0 */
/* Reading whole files into memory. Sizes are limited: a longer file is an error. */
#ifndef ET_FILE_H
#define ET_FILE_H

#include <stddef.h>

#include "error.h"

/*
 * Open a regular file for reading; -1 and errno otherwise (EISDIR; EINVAL: a FIFO, a device). It
 * never blocks, as opening a FIFO may, and never acquires a controlling terminal.
 */
int file_open(const char *path);

/*
 * Everything up to the end, NUL-terminated, to be freed by the caller. NULL and errno: EISDIR,
 * EFBIG for more than max bytes, ENOMEM, or an error of read(2).
 */
char *file_read_fd(int fd, size_t max, size_t *len);

/* The same for a path of a regular file, in /proc too. */
char *file_read(const char *path, size_t max, size_t *len);

/* A script, possibly from a pipe; standard input is "/dev/stdin". NULL: *e says why. */
char *file_read_script(const char *path, size_t max, size_t *len, struct et_error *e);

#endif
