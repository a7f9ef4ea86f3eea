/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the kernel as places where probes fire: kfunc.c. For the provider fbt, and for those
 * whose events have no tracepoint.
 */
#ifndef K_KFUNC_H
#define K_KFUNC_H

#include <stdbool.h>

#include "error.h"

struct en;
struct en_probe;
struct k_function;
struct k_functions;
struct kernel;

/*
 * For enable: the probe fires where the function is entered, or where it returns. arg0 and so on
 * are its arguments; at a return arg0 is 0 and arg1 what it gives. Of functions of the same names
 * all.
 */
int k_kfunc_add(struct en *en, const struct k_functions *fs, const struct k_function *f,
	bool returns, const struct en_probe *p, struct et_error *e);
/* Then, for ready and start: whoever is first does it for all. data is not used. */
int k_kfunc_load(struct en *en, void *data, struct et_error *e);
int k_kfunc_attach(struct en *en, void *data, struct et_error *e);
/* For news: functions that were left out. For look: k_look_missed. */
bool k_kfunc_news(struct en *en, void *data, char *buf, size_t size, bool *ended);
void k_kfunc_detach(struct kernel *k);
void k_kfunc_free(struct kernel *k);

/* Why this kernel cannot trace its functions at all; NULL: it can, or it is not for us to know. */
const char *k_kfunc_missing(void);

#endif
