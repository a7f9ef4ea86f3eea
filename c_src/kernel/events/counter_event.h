/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the providers sysinfo and vminfo: sysinfo.c has a row for each. */
#ifndef K_COUNTER_EVENT_H
#define K_COUNTER_EVENT_H

#include <stdint.h>

enum k_counter_event {
	K_SYS_SYSCALL, K_SYS_SYSREAD, K_SYS_SYSWRITE, K_SYS_SYSEXEC, K_SYS_SYSFORK, K_SYS_SYSVFORK,
	K_SYS_READCH, K_SYS_WRITECH, K_SYS_PSWITCH, K_SYS_INV_SWTCH, K_SYS_IDLETHREAD,
	K_SYS_NTHREADS, K_SYS_XCALLS,
	K_VM_AS_FAULT, K_VM_PROT_FAULT, K_VM_COW_FAULT, K_VM_KERNEL_ASFLT, K_VM_MAJ_FAULT,
	K_VM_PGIN, K_VM_PGPGIN, K_VM_PGOUT, K_VM_PGPGOUT,
	K_VM_FSPGIN, K_VM_FSPGOUT, K_VM_ANONPGIN, K_VM_ANONPGOUT, K_VM_EXECPGIN, K_VM_EXECPGOUT,
	K_VM_SCAN, K_VM_DFREE, K_VM_FSFREE, K_VM_ANONFREE, K_VM_EXECFREE, K_VM_PGREC,
	K_COUNTER_EVENTS
};

struct k_bio_offsets {
	uint32_t flags, bytes;
	uint64_t swap; /* of the flags: a page of memory, not of a file */
};

#endif
