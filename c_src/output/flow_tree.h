/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTPUT_FLOW_TREE_H
#define OUTPUT_FLOW_TREE_H

#include <stdio.h>

struct flow;
struct flows;

void flow_tree(const struct flows *s, const struct flow *f, FILE *out); /* as text */

#endif
