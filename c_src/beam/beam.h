/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace inside an Erlang node: a NIF library. It is thin: terms in, the library's calls, terms
 * out.
 *
 *   nif.c              the functions of erltrace_nif.erl: open, compile, go, stop, close ...
 *                      (nifs.def: all of them)
 *   jobs.c             those of them that take long, on threads of the library
 *   results.c          what was gathered, and errors, as terms
 *   probe_list.c       probes as terms
 *   metrics.c          what aggregations are called as metrics
 *   handles.c          open handles by number (probe path)
 *   vm_threads.c       the VM's threads, and which are inside a handle (probe path)
 *   erlang_provider.c  the provider erlang<OS pid>, and its probes
 *   arming.c           what the VM must be told to trace for them (needs.def: all that can be)
 *   functions.c        the Erlang functions that have probes, by three words (probe path)
 *   call_probes.c      probes of certain functions: ETS tables, timers, restarts, atoms (probe path)
 *   call_facts.c       what these need to know: names of tables, numbers of atoms (probe path)
 *   timers.c           when timers are due, for timer-expire (probe path)
 *   timer_crowd.c      the same of many timers that are alike (probe path)
 *   counters.c         functions that the VM counts for us
 *   tracer.c           THE PROBE PATH: the VM's tracing calls erltrace_nif:enabled/3 and trace/5
 *   calls.c            its half for calls and returns, with a fast path
 *   sends.c            the fast path of messages sent
 *   special_calls.c    calls that mean more than a call: user probes, drivers, hibernation, labels
 *   fast_calls.c       calls and returns by the fast way: from the hooks of core/core.h (probe path)
 *   fast_core.c        these hooks in this node: loaded, pointed to, tested, taken away
 *   fast_find.c        where the JIT's code calls what they stand for
 *   fast_test.c        the self-test, before anything is armed
 *   ports.c            its half for ports and drivers
 *   processes.c        what is kept of a process (probe path)
 *   kept_args.c        arguments of calls, until they return (probe path)
 *   shadow_stack.c     which traced functions a process is in (probe path)
 *   pid_slots.c        slots by pid, for tables of processes (probe path)
 *   registered.c       registered names of processes (probe path)
 *   proc_names.c       what processes without a name are called (probe path)
 *   own_name.c         the registered name of the process that runs (probe path); where it is kept
 *   sweep.c            frees what is kept of processes whose exits nobody tells
 *   vm_facts.c         what is assumed of the VM's terms; checked when the library is loaded
 *   layout.c           where the VM keeps the stack pointer of a process; found out, not assumed
 *   proc_words.c       mailboxes and heaps of processes, read in the VM; found out, not assumed
 *   run_state.c        whether a process that is scheduled out waits; found out, not assumed
 *   pid_node.c         the node of a pid of another node (probe path)
 *   texts.c            pids, functions, atoms as texts (probe path)
 *   sizes.c            how large terms are (probe path)
 *   cluster.c          a node of a cluster that runs one script
 *   store.c            terms that outlive every process
 *   user.c             probes that Erlang code fires itself (probe path)
 *   monitor.c          probes that a process of ours fires (erltrace_monitor)
 *   erl_builtins.c     what scripts ask of an event: erlpid, erlmsg, erlargs ... (probe path)
 *   usdt_fire.c        the USDT probe of the same name as an event's (probe path)
 *   term_print.c       terms as text (probe path); beam_utf8.h: their characters
 *   flows.c            requests that are followed: follow(), flowid, flow-* (probe path)
 *   flow_clock.c       one time line for all nodes (probe path)
 *   flow_nifs.c        what ends flows, and brings nodes that follow together
 *   flow_nodes.c       flows that go from node to node (probe path)
 *   flow_table.c       which flow a process and a message belong to (probe path)
 *   token.c            the sequential trace token of the process that runs (probe path); where it is
 *                      kept
 *   terms.c            terms as values of D: their slots, what scripts ask of them (probe path)
 *   patterns.c         patterns of terms, made ready for events
 *   match.c            a term and a pattern (probe path)
 *   same.c             are two terms the same? (probe path)
 *   term_chars.c       the characters of atoms, binaries and lists (probe path)
 *   term_nifs.c        the last three for tests
 *   atom_text.c        atoms as Erlang writes them (probe path)
 *   atoms.c            atoms, made at load
 *   peek.c             binaries, large integers and references read in place (probe path)
 *   erl_stack.c        Erlang stacks for ustack() (probe path)
 *   code_lookup.c      loaded code by address: functions and lines (probe path)
 *   code_table.c       the table for that, and how it is renewed
 *   code_nif.c         what is asked of it
 *   code_find.c        how the VM lays out the code of a module; found out, not assumed
 *   code_names.c       frames of stacks as words, and their texts
 *   sampler.h          profile-N that interrupts the schedulers: the map of sampler*.c
 *   things.c           the provider state: what there is in the node, thing by thing (probe path)
 *   top_words.c        pids and atoms on a stack: whom a process has called (probe path)
 *   watchdog.c         what events cost; scripts that cost too much are ended
 *
 * What others need of a file is in the header of its name. Besides there are beam_handle.h, a
 * handle; vm_event.h, an event of the VM; erl_probes.h, the table of probes; vtime.h, running
 * times; term_words.h, the parts of a term; event_path.h, what fast paths share; free_list.h,
 * entries of tables, taken and given back; pages.h, the memory of these; and nif.h, what the NIFs
 * share. All symbols are hidden (visibility): what events read is read without a detour by the
 * global offset table.
 *
 */
