/* SPDX-License-Identifier: Apache-2.0 */
/* A program in an engine: verified, compiled, enabled at its probes (load.c). */
#ifndef EN_LOAD_H
#define EN_LOAD_H

#include <stdbool.h>

#include "error.h"

#define KERNEL_MOST (256ULL << 20) /* bytes of buffers, and of variables, shared with the kernel */

struct en;
struct en_probe;
struct prog;

int en_load(struct en *en, const struct prog *prog, struct et_error *e);
bool en_may_halve(const struct en *en); /* buffers that are too large: bufresize=auto */
void en_unload(struct en *en); /* also after a load that failed */
void en_note_clocks(struct en *en); /* what clock.c has sampled, for firings to read */
int en_cpus_load(struct en *en, struct et_error *e); /* rt_cpu.c */
struct en_probe *en_probe_shared(struct en *en, const struct en_probe *p);

#endif
