/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing the kernel for a user who may not see other users' processes: clauses run only in
 * processes that this user could debug, and read neither memory nor addresses of the kernel. Root of a
 * user namespace, as in a container, could debug those in it. The program that embeds the library
 * decides (c_src/helper/); no option and no script loosens it.
 */
#ifndef ET_CONFINE_H
#define ET_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

struct confine {
	bool on;
	uint32_t uid, gid; /* whose processes: real, effective and saved */
	uint32_t user_ns;  /* or those in this name space, by its number; 0: by uid and gid */
};

#endif
