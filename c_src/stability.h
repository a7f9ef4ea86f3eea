/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stability attributes, as D has them: how stable a name is, how stable its meaning, and where it
 * exists. Three bytes: 1 Internal to 8 Standard, the same, 1 Unknown to 6 Common.
 */
#ifndef ET_STABILITY_H
#define ET_STABILITY_H

#include <stdint.h>

struct et_attr {
	uint8_t of[3]; /* name, data, class */
};

extern const struct et_attr et_attr_default; /* Stable/Stable/Common */

int et_attr_parse(const char *text, struct et_attr *a); /* "Stable/Stable/Common"; -1: it is none */
const char *et_attr_word(const struct et_attr *a, unsigned i);
void et_attr_least(struct et_attr *a, const struct et_attr *b); /* a: the least of both */
/* Of the probes of a provider, by its name: their names, and their arguments. */
void et_attr_of_provider(const char *prov, struct et_attr *names, struct et_attr *args);

#endif
