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
 * For the kernel engine other registers tell which probe it is (functions have many of a name),
 * whose event, and what the event was asked for: a word or a text for each built-in that the clause
 * reads; behind these a text (erlarg), and then a word (erlint), for each of the first arguments.
 */
#include <string.h>

#include "beam/erl_probes.h"
#include "compiler.h"
#include "engine/current.h"
#include "engine/fire.h"
#include "engine/fire_path.h"
#include "engine/str.h"
#include "prog/builtins.h"
#include "usdt_fire.h"

#ifdef __x86_64__

/* Counted up by the kernel, for each uprobe there is. Not in .bss: it is found by its offset in the
 * file. */
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

#ifdef __clang__
#define ONE_SITE __attribute__((noinline))
#else
#define ONE_SITE __attribute__((noinline, noclone))
#endif

#define SITE(ID, name, args)                                                                       \
	PROBE_PATH static ONE_SITE void site_##ID(                                                 \
		const uint64_t *arg, uint64_t hash, uint64_t whose, const uint64_t *answers)       \
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
				 "	.asciz \"" args "\"\n"                                     \
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
				 : "D"(arg), "S"(hash), "i"(2 * BP_##ID), "d"(whose), "c"(answers) \
				 : "memory");                                                      \
	}
#define PROBE(ID, name, route, ...) SITE(ID, name, PROBE_PASTE(ARGS_, PROBE_NARGS(__VA_ARGS__)))
#define ABSENT(...)
#include "erlang_probes.def"

static void (*const sites[BP_COUNT_])(
	const uint64_t *arg, uint64_t hash, uint64_t whose, const uint64_t *answers) = {
#define PROBE(ID, ...) [BP_##ID] = site_##ID,
#define ABSENT(...)
#include "erlang_probes.def"
};

/* Of built-ins that are not interned: erlmsg, erlargs, erlret, erlreason, erlpeer, erlarg(). */
enum { TEXT = 256, TEXTS = 5 + PBI_ARGS, ANSWERS = PBI_COUNT_ + 2 * PBI_ARGS };

enum { OF_ARGS = 1u << PBI_USDT | 1u << PBI_ERLARG | 1u << PBI_ERLINT };

static void answer_args(const struct fire *f, uint64_t *answers, char texts[][TEXT])
{
	const struct en_current *cur = f->cur;
	uint32_t pbis = f->probe->uses.pbis;

	for (unsigned n = 0; n < PBI_ARGS; n++) {
		if (!(pbis >> (PBI_ARG0 + n) & 1))
			continue;
		if (pbis >> PBI_ERLARG & 1) {
			texts[n][0] = '\0';
			cur->ops->str(cur, PBI_ERLARG, n, texts[n], TEXT);
			answers[n] = (uint64_t)(uintptr_t)texts[n];
		}
		if (pbis >> PBI_ERLINT & 1)
			answers[PBI_ARGS + n] = cur->ops->num(cur, PBI_ERLINT, n, f);
	}
}

/* What the clause reads besides, as it reads it. */
static void answer(const struct fire *f, uint64_t *answers, char texts[TEXTS][TEXT])
{
	const struct en_current *cur = f->cur;
	uint32_t pbis = f->probe->uses.pbis & ((1u << PBI_COUNT_) - 1) & ~(uint32_t)OF_ARGS;
	unsigned n = 0;

	memset(answers, 0, ANSWERS * sizeof(*answers));
	if (cur == NULL || cur->ops == NULL)
		return;
	answer_args(f, answers + PBI_COUNT_, texts + (TEXTS - PBI_ARGS));
	for (; pbis != 0; pbis &= pbis - 1) {
		unsigned ask = (unsigned)__builtin_ctz(pbis);
		char *buf = texts[n < TEXTS - PBI_ARGS ? n : TEXTS - PBI_ARGS - 1];
		const struct et_str *s;

		if (ask == PBI_ERLSCHED || ask == PBI_ERLCOST) {
			answers[ask] = cur->ops->num(cur, ask, 0, f);
			continue;
		}
		buf[0] = '\0';
		s = cur->ops->str(cur, ask, 0, buf, TEXT);
		answers[ask] = (uint64_t)(uintptr_t)(s != NULL ? s->text : buf);
		n += s == NULL;
	}
}

PROBE_PATH bool beam_usdt(const struct fire *f)
{
	uint64_t answers[ANSWERS], whose = f->cur != NULL ? f->cur->key : 0;
	char texts[TEXTS][TEXT];
	uintptr_t at = (uintptr_t)f->probe->pvdata - (uintptr_t)beam_probedefs;
	size_t id = at / sizeof(*beam_probedefs);

	if (at % sizeof(*beam_probedefs) != 0 || id >= BP_COUNT_ || sites[id] == NULL ||
		beam_usdt_semaphore[id] == 0)
		return false;
	answer(f, answers, texts);
	sites[id](f->arg, f->probe->hash, whose, answers);
	return true;
}

#else
bool beam_usdt(const struct fire *f)
{
	(void)f;
	return false;
}
#endif
