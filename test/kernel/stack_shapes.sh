#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Stacks of known shapes (test/erl/stack_shapes.erl) as ustack() has them at probes of the kernel,
# with their lines: all shapes at a system call of a dirty NIF, and samples of NIFs, BIFs, garbage
# collections and Erlang code; the same, of some, in a VM that keeps frame pointers (+JPperf). VM_ROOT:
# as in stack.sh. The last line is "N passed, N failed".
# shellcheck disable=SC2016 # D's $target

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
needs_kernel
nodes_begin 300 bare
epmd_begin
erlc -o . "$root/test/erl/stack_shapes.erl" || exit 1
begin() { # node, arguments of erl
	node=$1
	start "$@"
	p=${pid[$1]}
	is "$1: the module is loaded" '{module,stack_shapes}' \
		"$(at "$1" "code:load_binary(stack_shapes, \"x\", base64:decode(\"$(base64 -w 0 stack_shapes.beam)\")).")"
}
begin ksh_a

value() { at "$node" "$(tr '\n\t' '  ' <<<"$1")"; } # of expressions on several lines
# Stacks, a line each: frames of Erlang functions from here/1 on, with a ; after each.
stacks() {
	awk '/^ *[0-9]+$/ { if (line != "") print line; line = ""; on = 0; next }
		{ sub(/^ +/, "") } /^stack_shapes:here\/1 / { on = 1; next }
		on { n = 1; if (match($0, / \(x [0-9]+\)$/)) { n = substr($0, RSTART + 4) + 0; $0 = substr($0, 1, RSTART - 1) }
			while (n-- > 0) line = line $0 ";" } /^stack_shapes:run\/2 / { on = 0 }' o
}
# What a shape is expected to be, as a regular expression of that.
expected() { # shape
	value "lists:flatten([case F of '..' -> \"([^;]*;)+\";
		{[\$- | _] = N, A, L, I} -> io_lib:format(\"stack_shapes:'~ts[^;]*'/~b [(]~ts:~b[)];\", [N, A, L, I]);
		{N, A, L, I} -> io_lib:format(\"stack_shapes:~ts/~b [(]~ts:~b[)];\", [N, A, L, I])
		end || F <- [case E of {Name, A, L, I} -> {atom_to_list(Name), A, filename:basename(L), I}; _ -> E end || E <- stack_shapes:expected($1)]])." |
		sed 's/\$/[$]/g; s/\./[.]/g'
}

# ---- all shapes ---------------------------------------------------------------------------

shapes=$(at ksh_a 'stack_shapes:shapes().' | tr -d "[]'" | tr ',' ' ')
ok 'there are shapes' test "$(wc -w <<<"$shapes")" -gt 20
written() { # shape
	local shape=$1 want
	trace_process "$p" -n 'syscall::writev:entry /pid == $target/ { @[ustack()] = count(); }'
	is "$shape: it runs" ok "$(value "{ok, D} = file:open(\"/dev/null\", [write, raw]),
		stack_shapes:run('$shape', fun() -> file:write(D, <<1>>) end), file:close(D)." 2>&1)"
	untrace
	want=$(expected "'$shape'")
	stacks >got
	ok "$shape" grep -qxE "$want" got
	grep -qxE "$want" got || echo "  got:    $(cat got)"
	is "$shape: one stack" 1 "$(wc -l <got)"
}
for shape in ${ONLY:-$shapes}; do
	written "$shape"
done

# ---- what runs on top of one --------------------------------------------------------------

sample() { # kind of work
	trace_process "$p" -n 'profile-997 /pid == $target && erlname == "ksh"/ { @[ustack()] = count(); n++; }
		profile-997 /n >= 200/ { exit(0); }'
	value "S = self(), P = spawn(fun() -> register(ksh, self()),
		stack_shapes:run(plain, fun() -> stack_shapes:work($1, S), done end) end), receive {P, ready} -> put(p, P), ok end." >/dev/null
	wait "$command"
	is "$1: exit code" 0 $?
	command=''
	at "$node" 'exit(get(p), kill).' >/dev/null
	# samples, and those with the whole stack
	awk '/^ *[0-9]+$/ { all += $1; if (text ~ /stack_shapes:here.*shape\/2 [(]stack_shapes.erl:23[)].*run\/2 [(]stack_shapes.erl:14[)]/) whole += $1
			text = ""; next } { text = text $0 } END { print int(100 * whole / all) }' o >whole
	ok "$1: at least 90 % of the samples have the whole stack ($(cat whole))" test "$(cat whole)" -ge 90
}
sample erlang
has 'a line of Erlang code' '^ *stack_shapes:spin/1 \(stack_shapes\.erl:[0-9]+\)$'
sample bif
has 'a BIF' '^ *(binary:copy/2|erlang:md5(_trap)?/[12])$'
sample nif
has 'a NIF' '^ *zlib:deflate_nif/4$'
sample dirty
has 'a dirty NIF' '^ *prim_file:get_cwd_nif/0$'
sample trap
has 'a BIF that traps' '^ *erlang:(binary_to_term|term_to_binary)(_trap)?/[12]$'
sample gc
has 'with garbage collections' '^ *stack_shapes:garbage/2 \(stack_shapes\.erl:[0-9]+\)$'

# ---- with frame pointers ------------------------------------------------------------------

begin ksh_fp +JPperf true
for shape in recursion handler many_arguments; do
	written "$shape"
done
sample erlang
hasnt 'frame pointers: no frame is one' '^ *0x[0-9a-f]+$'
sample nif
sample gc
rm -f "${VM_ROOT:-}/tmp/perf-$p.map" "${VM_ROOT:-}/tmp/jit-$p.dump"
finish
