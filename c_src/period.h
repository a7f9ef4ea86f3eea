/* SPDX-License-Identifier: Apache-2.0 */
/* The rates of names such as tick-10ms. */
#ifndef PERIOD_H
#define PERIOD_H

#include <stdint.h>

/* "10ms", "5s", "97", "97hz": the period in ns; 0: it is no such text, or the period is 0. */
uint64_t et_period(const char *text);

#endif
