/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of frames that are no Erlang functions. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "vm_frames.h"

static const char *const texts[] = {[FRAME_GC] = "(garbage collection)",
	[FRAME_SCHEDULER] = "(scheduler)",
	[FRAME_C] = "(C code)",
	[FRAME_UNKNOWN] = "(unknown code)"};

bool code_vm_frame_text(uint64_t frame, char *buf, size_t size)
{
	const char *file;
	Dl_info at;

	if (frame < sizeof(texts) / sizeof(*texts) && texts[frame] != NULL) {
		snprintf(buf, size, "%s", texts[frame]);
		return true;
	}
	if (frame >> 47 != 0 || dladdr((void *)(uintptr_t)frame, &at) == 0 || at.dli_fname == NULL)
		return false;
	file = strrchr(at.dli_fname, '/') != NULL ? strrchr(at.dli_fname, '/') + 1 : at.dli_fname;
	if (at.dli_sname == NULL)
		snprintf(buf, size, "%s+0x%lx", file,
			(unsigned long)(frame - (uint64_t)(uintptr_t)at.dli_fbase));
	else if (frame == (uint64_t)(uintptr_t)at.dli_saddr)
		snprintf(buf, size, "%s`%s", file, at.dli_sname);
	else
		snprintf(buf, size, "%s`%s+0x%lx", file, at.dli_sname,
			(unsigned long)(frame - (uint64_t)(uintptr_t)at.dli_saddr));
	return true;
}
