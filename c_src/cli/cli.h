/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The erltrace command: dtrace(1)'s options and behaviour on top of liberltrace.
 *
 *   main.c            the program; execute.c: handle, scripts, then run or list
 *   args.c            the command line -> request.h: what is to be run, and where; usage, help
 *   failure.c         what has failed, in DTrace's words
 *   script.c          scripts (-n -s -P -m -f -i) compiled, and what they matched
 *   script_scan.c     scripts read, and what they use; format_match.c: texts that a format can make
 *   script_library.c  scripts that come with erltrace, by name; script_args.c: arguments by name
 *   placement.c       where scripts run: inside nodes, in the kernel, or in this process
 *   vm_usdt.c         Erlang VMs that have USDT probes
 *   run.c             go, work, sleep; signals.c; the end
 *   list.c            -l
 *   child.c           -c and -p; entry_stop.c: a command stopped at its first instruction
 *   server_run.c      a script that a server runs
 *   snapshots.c       snapshots that nodes send
 *   nodes.h           scripts inside nodes, and the bridge to them: node/, map node/targets.h; or
 *                     without_nodes.c, where libei is missing
 *   replay/           events in files: "erltrace record" and "erltrace test"
 *   subcommands.h     these and the other programs of the same file: ../web and ../serve, or
 *                     without_web.c, where the page's libraries are missing
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
#include "list.h"
#include "output/output.h"
#include "placement.h"
#include "request.h"
#include "script.h"
#include "script_scan.h"

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
	struct cli_listing listing;
	unsigned matches; /* probes, over all scripts */
};

#endif
