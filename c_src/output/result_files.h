/* SPDX-License-Identifier: Apache-2.0 */
/* Files of results: an option names one. */
#ifndef OUTPUT_RESULT_FILES_H
#define OUTPUT_RESULT_FILES_H

struct chosen;
struct output;
struct sink;

int result_file_open(struct output *o, const struct sink *sink, struct chosen *s);
/* Writes it, if the script has run; otherwise there is none. */
int result_file_close(struct output *o, const struct sink *sink, struct chosen *s);

#endif
