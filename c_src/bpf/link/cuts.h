/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of functions that a bound of their loops has ended (bound.c): by CPU, the rest of these.
 */
#ifndef EBPF_CUTS_H
#define EBPF_CUTS_H

#define EBPF_CUTS 512 /* a power of two */

#endif
