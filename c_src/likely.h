/* SPDX-License-Identifier: Apache-2.0 */
/* Branches that are taken nearly always, or hardly ever. */
#ifndef ET_LIKELY_H
#define ET_LIKELY_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
