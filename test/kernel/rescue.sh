#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Nodes in trouble, from outside: -p PID as root has the names of Erlang functions in a node with
# 10,000 modules, whose code is in several places of its memory, while modules come and go; in one whose
# scheduler is in a NIF that does not return; and it says that a process is stopped.
# VM_ROOT: a folder with another system, in which the nodes run.
# The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
needs_kernel
nodes_begin 1200 bare
epmd_begin

# One module is compiled; the others are the same under other names of the same length.
cat >lots.erl <<'X'
-module(lots).
-export([load/2, unload/2, spin/1]).
load(From, To) ->
    {M, Beam} = template(),
    [] = [bad || Some <- parts(lists:seq(From, To)),
                 ok =/= erlang:finish_loading([prepared(M, Beam, I) || I <- Some])],
    length(erlang:loaded()).
unload(From, To) ->
    [erlang:delete_module(name(I)) andalso erlang:purge_module(name(I)) || I <- lists:seq(From, To)],
    ok.
spin(I) -> spawn(name(I), f, [1]).
name(I) -> list_to_atom(lists:flatten(io_lib:format("lots_~5..0b", [I]))).
prepared(M, Beam, I) ->
    Name = atom_to_binary(name(I)),
    erlang:prepare_loading(name(I), binary:replace(Beam, atom_to_binary(M), Name, [global])).
parts(L) when length(L) > 1000 -> {A, B} = lists:split(1000, L), [A | parts(B)];
parts(L) -> [L].
template() ->
    Text = ["-module(lots_00000). -export([f/1]).\n"
            "f(X) -> {ok, g(X)}.\n"
            "g(X) when X > 0 -> h(X * 7 rem 1000003 + 1); g(_) -> done.\n"
            "h(X) -> {_, Y} = {X, lists:max([X, 1])}, g(Y).\n",
            [io_lib:format("u~b(A, B) -> {A, [{A, ~b}, B + ~b], fun(C) -> {C, A} end, <<A, B>>}.\n",
                           [K, K, K]) || K <- lists:seq(1, 10)]],
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Text)),
    {ok, M, Beam} = compile:forms(forms(Tokens, []), [export_all, nowarn_export_all]),
    {M, Beam}.
forms([], _) -> [];
forms([{dot, _} = D | T], Some) ->
    {ok, F} = erl_parse:parse_form(lists:reverse([D | Some])),
    [F | forms(T, [])];
forms([H | T], Some) -> forms(T, [H | Some]).
X
erlc lots.erl || exit 1
module() { # node, name
	is "$2 is loaded" "{module,$2}" \
		"$(at "$1" "code:load_binary($2, \"$2.erl\", base64:decode(\"$(base64 -w 0 "$2.beam")\")).")"
}
# A script of the library on the process $p, as root and from outside, until it has printed such lines:
# a busy machine gives a node little time.
outside() { # script and arguments, lines
	local line i
	for ((i = 0; i < 30; i++)); do
		# shellcheck disable=SC2086 # words
		timeout 100 erltrace -p "$p" -qs $1 >o 2>e
		status=$?
		for line in "${@:2}"; do
			grep -qE "$line" o || continue 2
		done
		break
	done
	is "$1: exit code" 0 "$status"
	is "$1: nothing is said" '' "$(cat e)"
	for line in "${@:2}"; do
		has "$1: $line" "$line"
	done
}

# Whole stacks, each time: where the VM's tables were taken for others there were no callers.
callers() { # when, function at the bottom of a stack
	local i
	for ((i = 0; i < 3; i++)); do
		timeout 100 erltrace -p "$p" -qn 'profile-997 /pid == $target && erlpid != ""/ { @[ustack()] = count(); n++; }
			profile-997 /n >= 300/ { exit(0); }' >o 2>e
		is "ustack(), $1: exit code" 0 "$?"
		is "ustack(), $1: nothing is said" '' "$(cat e)"
		has "ustack(), $1: callers" "^ +$2 \\([a-z_0-9]*\\.erl:2\\)\$"
	done
}

# ---- 10,000 modules -----------------------------------------------------------------------

start kr_a
p=${pid[kr_a]}
module kr_a lots
for ((n = 1; n < 10000; n += 500)); do
	loaded=$(at kr_a "lots:load($n, $((n + 499))).")
done
ok '10,000 modules' test "$loaded" -gt 10000
ok 'their code is in several places' test "$(grep -c 'x.*memfd' "/proc/$p/maps")" -gt 1
at kr_a 'put(a, lots:spin(1)), put(b, lots:spin(9999)).' >/dev/null
outside 'cpu 2' ' lots_00001:[gh]/1$' ' lots_09999:[gh]/1$' ' lists:max/[12]$'
hasnt 'cpu: no address' ' 0x[0-9a-f]+$'
callers 'of 10,000 modules' lots_09999:f/1
outside 'hogs 2' "$(at kr_a 'get(b).') +[1-9][0-9]*\$" '^ *lots_09999:[gh]/1'

# The VM's table is another one after each change, and has gaps where modules were.
at kr_a 'lots:unload(2, 400).' >/dev/null
outside 'cpu 2' ' lots_09999:[gh]/1$'
at kr_a 'spawn(fun F() -> lots:load(20001, 20002), lots:unload(20001, 20002), F() end), ok.' >/dev/null
outside 'cpu 2' ' lots_09999:[gh]/1$'
callers 'while code is loaded' lots_09999:f/1

# ---- a node that answers nobody -----------------------------------------------------------------

cat >stuck.erl <<'X'
-module(stuck).
-export([load/1, go/0, block/0]).
load(File) -> erlang:load_nif(File, 0).
go() -> register(stuck, self()), {done, block()}.
block() -> erlang:nif_error(none).
X
cat >stuck.c <<'X'
#include <erl_nif.h>
static ERL_NIF_TERM block(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	volatile int on = 1;

	(void)argv;
	while (on)
		;
	return enif_make_int(env, argc);
}
static ErlNifFunc funcs[] = {{"block", 0, block, 0}};
ERL_NIF_INIT(stuck, funcs, NULL, NULL, NULL, NULL)
X
include=$(at kr_a 'code:root_dir() ++ "/usr/include".')
if ! erlc stuck.erl || ! "${CC:-cc}" -shared -fPIC -fno-omit-frame-pointer -I"${VM_ROOT:-}$include" \
	-o stuck.so stuck.c 2>cc.log; then
	echo "left out: no NIF can be built here: $(head -n 1 cc.log)"
	finish
fi
[ -n "${VM_ROOT:-}" ] && mkdir -p "$VM_ROOT$tmp" && cp stuck.so "$VM_ROOT$tmp"
start kr_b +S 1:1
p=${pid[kr_b]}
module kr_b stuck
is 'the NIF is loaded' ok "$(at kr_b "stuck:load(\"$tmp/stuck\").")"
echo 'spawn(stuck, go, []).' >&"${in[kr_b]}" # it may not live to answer
outside 'hogs 2' '^stuck +<[0-9.]+> +[1-9]' '^stuck.so.block' '^stuck:go/0'
outside 'cpu 2' ' stuck:go/0$' ' stuck.so.block$'
erltrace -p "$p" -qs wall 2 >o 2>e
is 'wall: exit code' 1 "$?"
ok 'wall: what works instead' grep -q "works as root: erltrace -p $p -s cpu, or hogs" e
kill -STOP "$p"
erltrace -p "$p" -qs cpu 1 >o 2>e
is 'stopped: exit code' 0 "$?"
told="process $p is stopped (SIGSTOP, or a debugger): nothing happens in it until kill -CONT $p lets it go on"
is 'stopped: it is told' "erltrace: $told" "$(cat e)"
kill -CONT "$p"
[ -n "${VM_ROOT:-}" ] && rm -rf "${VM_ROOT:?}$tmp"
finish
