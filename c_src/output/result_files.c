/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of results are opened before the script is compiled, so that one cannot run for an hour for
 * a file that cannot be written. If one of them is the standard output, all that the script prints
 * goes to the standard error.
 */
#include "result_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

/* What the command was given as its standard output; from now on that is the standard error. */
static FILE *take_stdout(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (f != NULL && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		fclose(f);
		f = NULL;
	}
	return f;
}

static FILE *open_file(const char *path, bool *made)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	*made = fd >= 0;
	if (fd < 0 && errno == EEXIST) /* or a link to a file that is not there yet */
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	return fd >= 0 ? fdopen(fd, "w") : NULL;
}

int result_file_open(struct output *o, const struct sink *sink, struct chosen *s)
{
	s->f = strcmp(s->value, "-") == 0 ? take_stdout() : open_file(s->value, &s->made);
	if (s->f == NULL) {
		cli_say("failed to open the file of --%s, '%s': %s", sink->option, s->value,
			strerror(errno));
		return CLI_ERROR;
	}
	output_look_at_stdout(o);
	return CLI_OK;
}

/* What was in the file before is gone. A pipe or a terminal cannot be truncated, and need not. */
static bool write_all(const struct output *o, const struct sink *sink, const struct chosen *s)
{
	if (strcmp(s->value, "-") != 0 && ftruncate(fileno(s->f), 0) < 0 && errno != EINVAL)
		return false;
	errno = 0;
	if (!sink->write(o, s, o->title, s->f)) {
		errno = ENOMEM;
		return false;
	}
	return (fflush(s->f) == 0 && !ferror(s->f)) ||
	       errno == EPIPE; /* the reader wanted no more */
}

int result_file_close(struct output *o, const struct sink *sink, struct chosen *s)
{
	int status = CLI_OK;

	if (s->f == NULL)
		return CLI_OK;
	if (o->gathers && !write_all(o, sink, s)) {
		cli_say("failed to write '%s' of --%s: %s", s->value, sink->option,
			strerror(errno));
		status = CLI_ERROR;
	}
	fclose(s->f);
	s->f = NULL;
	if (!o->gathers && s->made) /* a script that has not run leaves no file */
		unlink(s->value);
	return status;
}
