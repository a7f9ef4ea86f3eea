/* SPDX-License-Identifier: Apache-2.0 */
/* Units of time, and the rates of names such as tick-10ms. */
#ifndef PERIOD_H
#define PERIOD_H

#include <stdint.h>

/* From the longest on; of two names for one unit, the first is displayed. Ends with a NULL name. */
extern const struct et_unit {
	const char *name;
	uint64_t ns;
} et_units[];

/* 0: it is no unit of time */
uint64_t et_unit_ns(const char *name);

/* "10ms", "5s", "97", "97hz": the period in ns; 0: it is no such text, or the period is 0. */
uint64_t et_period(const char *text);

#endif
