/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The erltrace command: dtrace(1)'s options and behaviour on top of liberltrace.
 *
 *   request.c         what is to be run, and where
 *   script_uses.h     what the scripts use, by which
 *   placement.c       it is decided where they run: inside nodes, in the kernel, in this process
 *   vm_usdt.c         Erlang VMs that have USDT probes
 *   child.c           -c and -p; entry_stop.c: a command stopped at its first instruction
 *   signals.c         ^C and the like
 *   failure.c         what has failed, in DTrace's words
 *   nodes.h           what node/ does; without_nodes.c: instead, where libei is missing
 *   subcommands.h     the other programs in the same file; without_web.c: instead of ../web and ../serve,
 *                     where the page's libraries are missing
 *
 * script/ has scripts (-n -s -P -m -f -i), and what can be done with them anywhere:
 *
 *   script.c          compiled, and what they matched
 *   script_scan.c     read, and what they use
 *   script_library.c  those that come with erltrace, by name; script_args.c: arguments by name
 *   list.c            -l
 *
 * node/ runs them inside nodes; its map is targets.h. main/ is what happens, in its order:
 *
 *   main.c            the program; execute.c: handle, scripts, then run or list
 *   args.c            the command line; usage, help
 *   run.c             go, work, sleep, the end
 *   server_run.c      the same for a server
 *
 * replay/ has events in files: "erltrace record" and "erltrace test".
 *
 * What becomes of results is in ../output. Of the library the command uses include/erltrace.h and the
 * reader of symbols (symbols/elf.h); of nodes ../client. This header has the state of the command:
 * each part is of the file whose header it is in.
 */
#ifndef CLI_H
#define CLI_H

#include "child.h"
#include "erltrace.h"
#include "failure.h"
#include "output/output.h"
#include "placement.h"
#include "request.h"
#include "script_uses.h"

struct cli_bridge;

struct cli {
	struct cli_request req;
	struct output out;
	struct cli_procs procs;
	erltrace_t *h;
	struct cli_bridge *bridge; /* or NULL */
	struct cli_uses uses;
	struct cli_placement place;
	struct cli_failing failing;
	unsigned matches; /* probes, over all scripts */
};

#endif
