/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a system call as the kernel has saved them: from r10 on, what we need. */
#ifndef K_KERNEL_REGS_H
#define K_KERNEL_REGS_H

#include <stdint.h>

struct regs {
	uint64_t r10, r9, r8, ax, cx, dx, si, di, orig_ax;
};
#define REGS_OFF 56 /* of r10 in struct pt_regs */

#endif
