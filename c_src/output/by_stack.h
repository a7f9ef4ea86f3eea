/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregations by stack, for the outputs that take them (output.h). */
#ifndef OUTPUT_BY_STACK_H
#define OUTPUT_BY_STACK_H

struct output;
struct output_scripts;

int by_stack_open(struct output *o, const struct output_scripts *of); /* CLI_ERROR: there are none */
int by_stack_finish(struct output *o); /* before they are written; CLI_ERROR: some are missing */
void by_stack_free(struct output *o);

#endif
