/* SPDX-License-Identifier: Apache-2.0 */
/*
 * USDT probes of the library: one for each erlang probe, with OTP's names and arguments, so that
 * the kernel's tools (bpftrace, perf, SystemTap, the kernel engine) see the events of a stock node.
 * A D clause fires them: usdt() executes the instruction of its probe's note, which does nothing
 * until somebody has put a uprobe there (probe path). That somebody counts up the probe's
 * semaphore, and usdt() gives whether there is one. Nothing is armed but by the script.
 *
 * The notes are those of <sys/sdt.h> (.note.stapsdt), made here since it is not everywhere: the
 * provider, the name with "__" for "-", and that the n-th argument is the n-th word at a register.
 * Another register tells the kernel engine which probe it is: functions have many of a name.
 */
#include "../engine/fire.h"
#include "beam.h"

#ifdef __x86_64__

/* Counted up by the kernel, for each uprobe there is. In the file, so that it has a place there. */
extern volatile uint16_t beam_usdt_semaphore[BP_COUNT_];
volatile uint16_t beam_usdt_semaphore[BP_COUNT_] __attribute__((section(".probes"), used)) = {0};

#define ARGS_1	"-8@0(%%rdi)"
#define ARGS_2	ARGS_1 " -8@8(%%rdi)"
#define ARGS_3	ARGS_2 " -8@16(%%rdi)"
#define ARGS_4	ARGS_3 " -8@24(%%rdi)"
#define ARGS_5	ARGS_4 " -8@32(%%rdi)"
#define ARGS_6	ARGS_5 " -8@40(%%rdi)"
#define ARGS_7	ARGS_6 " -8@48(%%rdi)"
#define ARGS_8	ARGS_7 " -8@56(%%rdi)"
#define ARGS_9	ARGS_8 " -8@64(%%rdi)"
#define ARGS_10 ARGS_9 " -8@72(%%rdi)"

#define SITE(ID, name, nargs)                                                                      \
	static __attribute__((noinline, noclone)) void site_##ID(const uint64_t *arg, uint64_t hash)            \
	{                                                                                          \
		__asm__ volatile("990:	nop\n"                                                     \
				 "	.pushsection .note.stapsdt,\"\",\"note\"\n"                \
				 "	.balign 4\n"                                               \
				 "	.4byte 992f-991f, 994f-993f, 3\n"                          \
				 "991:	.asciz \"stapsdt\"\n"                                      \
				 "992:	.balign 4\n"                                               \
				 "993:	.8byte 990b\n"                                             \
				 "	.8byte _.stapsdt.base\n"                                   \
				 "	.8byte beam_usdt_semaphore + %c2\n"                        \
				 "	.asciz \"erlang\"\n"                                       \
				 "	.irpc c," name "\n"                                        \
				 "	.ifc \\c,-\n"                                              \
				 "	.ascii \"__\"\n"                                           \
				 "	.else\n"                                                   \
				 "	.ascii \"\\c\"\n"                                          \
				 "	.endif\n"                                                  \
				 "	.endr\n"                                                   \
				 "	.byte 0\n"                                                 \
				 "	.asciz \"" ARGS_##nargs "\"\n"                             \
				 "994:	.balign 4\n"                                               \
				 "	.popsection\n"                                             \
				 "	.ifndef _.stapsdt.base\n"                                  \
				 "	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
				 "	.weak _.stapsdt.base\n"                                    \
				 "	.hidden _.stapsdt.base\n"                                  \
				 "_.stapsdt.base: .space 1\n"                                      \
				 "	.size _.stapsdt.base, 1\n"                                 \
				 "	.popsection\n"                                             \
				 "	.endif\n"                                                  \
				 :                                                                 \
				 : "D"(arg), "S"(hash), "i"(2 * BP_##ID)                           \
				 : "memory");                                                      \
	}
#define PROBE(ID, name, route, nargs, ...) SITE(ID, name, nargs)
#define ABSENT(ID, name, why, nargs, ...)
#include "probes.def"

static void (*const sites[BP_COUNT_])(const uint64_t *arg, uint64_t hash) = {
#define PROBE(ID, name, route, nargs, ...) [BP_##ID] = site_##ID,
#define ABSENT(ID, name, why, nargs, ...)
#include "probes.def"
};

bool beam_usdt(const struct fire *f)
{
	uintptr_t at = (uintptr_t)f->probe->pvdata - (uintptr_t)beam_probedefs;
	size_t id = at / sizeof(*beam_probedefs);

	if (at % sizeof(*beam_probedefs) != 0 || id >= BP_COUNT_ || sites[id] == NULL ||
		beam_usdt_semaphore[id] == 0)
		return false;
	sites[id](f->arg, f->probe->hash);
	return true;
}

#else
bool beam_usdt(const struct fire *f)
{
	(void)f;
	return false;
}
#endif
