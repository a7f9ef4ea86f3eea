#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Another NIF installs a handler of SIGSEGV that ends the node, while a script runs: bad reads of the
# script do not reach it. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
command -v "${CC:-cc}" >/dev/null || skip 'no C compiler here'
nodes_begin 200 bare
epmd_begin
start handlers

cat >deadly.erl <<'ERL'
-module(deadly).
-export([load/1, install/0, on_top/0]).
load(File) -> erlang:load_nif(File, 0).
install() -> erlang:nif_error(none).
on_top() -> erlang:nif_error(none).
ERL
cat >deadly.c <<'C'
#include <erl_nif.h>
#include <signal.h>
#include <unistd.h>
static void deadly(int sig)
{
	(void)sig;
	_exit(9);
}
static ERL_NIF_TERM install(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct sigaction sa = {.sa_handler = deadly, .sa_flags = SA_ONSTACK};
	(void)argc, (void)argv;
	return enif_make_int(env, sigaction(SIGSEGV, &sa, NULL));
}
static ERL_NIF_TERM on_top(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct sigaction now;
	(void)argc, (void)argv;
	sigaction(SIGSEGV, NULL, &now);
	return enif_make_atom(env, now.sa_handler == deadly ? "true" : "false");
}
static ErlNifFunc functions[] = {{"install", 0, install, 0}, {"on_top", 0, on_top, 0}};
ERL_NIF_INIT(deadly, functions, NULL, NULL, NULL, NULL)
C
include=$(at handlers 'filename:join([code:root_dir(), "usr", "include"]).')
"${CC:-cc}" -shared -fPIC -I"$include" -o deadly.so deadly.c 2>cc.log || skip "no NIF can be built here: $(head -n 1 cc.log)"
is 'the other NIF is loaded' ok "$(at handlers "{ok, deadly} = compile:file(\"$tmp/deadly\", [{outdir, \"$tmp\"}]), code:add_path(\"$tmp\"), deadly:load(\"$tmp/deadly\").")"

trace handlers -qn 'erlang*:lists:zip3/3:function-entry { this->x = *(int *)0x10; } ERROR { @ = count(); }'
calls='[lists:zip3([], [], []) || _ <- lists:seq(1, 100)], alive.'
is 'bad reads, as ever' alive "$(at handlers "$calls")"
for i in 1 2 3; do
	is "handler $i is there" '{0,true}' "$(at handlers '{deadly:install(), deadly:on_top()}.')"
	becomes "handler $i is passed over" false handlers 'deadly:on_top().'
	is "bad reads with handler $i" alive "$(at handlers "$calls")"
done
untrace
has 'all of them are faults' '^ +400$'
becomes 'it is put back' true handlers 'deadly:on_top().'
finish
