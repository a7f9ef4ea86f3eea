#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# erltrace record and erltrace test against the real thing: a script runs in a node, the same events
# are recorded beside it, and the script over the recorded events must print the same.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 300
start replay_a -pa "$ebin"
node=replay_a

# Live and recorded at the same time, then replayed; sets $replayed.
both() { # name, script, expression, arguments of the script
	local name=$1 script=$2 expression=$3 recorder
	shift 3
	rm -f r.events r.log
	trace $node -qs "$script" "$@" || return 1
	erltrace record -N $node -o r.events -s "$script" "$@" 2>r.log &
	recorder=$!
	holds r.events '"erltrace":"events"'
	value=$(at $node "$expression")
	untrace
	kill -INT $recorder
	wait $recorder
	is "$name: recorded" 0 $?
	erltrace test -v r.events >r.out
	replayed=$(grep -vE '^r.events: failed: cannot read r.expected|^0 passed, 1 failed|^erltrace: error|^$' r.out)
	# the command that records comes to the node while the script runs there: only: our part of it
	is "$name: the same as live" "$(grep -vE '^armed$|^$' o | grep -E "$only")" "$(grep -E "$only" <<<"$replayed")"
}

lib=$root/scripts
only='^[^l].*demo_exact'
both births "$lib/births.d" '{demo_exact:spawns(20), demo_exact:exits(7, {bad, thing})}.'
like 'births: what happened' '7 +[{]bad,thing[}]' "$replayed"
both calls "$lib/calls.d" '{demo_exact:calls(100), demo_exact:nested(50)}.' demo_exact
like 'calls: what happened' 'demo_exact:leaf/1 +100' "$replayed"
# of the rest msgs.d leaves out what is not among the first twenty
only='^demo_exact:worker/1'
both msgs "$lib/msgs.d" 'demo_exact:sends(120, 10).'
like 'msgs: what happened' '1200' "$replayed"
only='^[^l].*demo_exact'
both spawners "$lib/spawners.d" 'demo_exact:spawns(12).'
both user "$lib/user.d" 'demo_exact:user(5).'
both exceptions "$lib/exceptions.d" '{demo_exact:throws(3), demo_exact:raises(4, error, {bad, thing})}.' demo_exact
both crashes "$lib/crashes.d" '{demo_exact:exits(3, {bad, thing}), demo_exact:exits(2, {bad, {other}}), demo_exact:exits(4, {{{badkey, k}, [{m, f, 1, []}]}, {gen_server, call, [x]}}), demo_exact:exits(6, {#{'"'__struct__'"' => '"'Elixir.My.Error'"', message => <<"no">>}, [{m, f, 1, []}]}), demo_exact:exits(1, {{nocatch, up}, [{m, f, 1, []}]}), demo_exact:exits(7, killed)}.'
like 'crashes: what happened' "6 +demo_exact:child/1 +error +'Elixir.My.Error'" "$replayed"

# Whatever can be asked of terms, of all kinds of terms.
cat >terms.d <<'END'
#pragma D option quiet
erlang*:demo_exact:leaf:function-entry
{
	this->t = erlarg(0);
	printf("%s is %s: %s\n", erlarg(0), erltype(this->t), erlargs);
	printf("  %d %d %d %d", this->t == "abc", this->t == "[1,2]", this->t > 5, this->t == this->t);
	printf(" %s %s %s\n", erltype(erlhd(this->t)), erltype(erltl(this->t)), erltype(erlelement(2, this->t)));
}
erlang*:demo_exact:leaf:function-entry /erltype(erltl(erlarg(0))) != "none"/ { printf("  tl %s\n", erltl(erlarg(0))); }
erlang*:demo_exact:leaf:function-entry /erltype(erltl(erltl(erlarg(0)))) != "none"/ { printf("  tl tl %s\n", erltl(erltl(erlarg(0)))); }
erlang*:demo_exact:leaf:function-entry /erlmatch(erlarg(0), "{A, B}")/ { printf("  pair %s %s\n", this->A, this->B); }
erlang*:demo_exact:leaf:function-entry /erlmatch(erlarg(0), "{A, A}")/ { printf("  twice\n"); }
erlang*:demo_exact:leaf:function-entry /erlmatch(erlarg(0), "#{k := V}")/ { printf("  k %s\n", this->V); }
erlang*:demo_exact:leaf:function-entry /erlmatch(erlarg(0), "<<H:16, R/bitstring>>")/ { printf("  H %d R %s\n", this->H, this->R); }
erlang*:demo_exact:leaf:function-entry /erlmatch(erlarg(0), "<<H:4/signed, _:4, R/binary>>")/ { printf("  H %d R %s\n", this->H, this->R); }
erlang*:demo_exact:leaf:function-entry /erlmatch(erlarg(0), "[1, [2 | T] | _]")/ { printf("  T %s\n", this->T); }
erlang*:demo_exact:leaf:function-entry /erltype(erlget("k", erlarg(0))) != "none"/ { printf("  get %s\n", erlget("k", erlarg(0))); }
erlang*:demo_exact:leaf:function-entry /erltype(erlarg(0)) == "integer" || erltype(erlarg(0)) == "float"/ { printf("  int %d\n", erlarg(0)); printf("  scaled %d\n", erlscaled(erlarg(0), 10)); }
erlang*:demo_exact:leaf:function-entry /erltype(erlarg(0)) == "binary" || erltype(erlarg(0)) == "atom"/ { printf("  size %d\n", erlsize(erlarg(0))); printf("  text %s\n", erltext(erlarg(0))); }
erlang*:demo_exact:leaf:function-entry /erltype(erlarg(0)) == "list"/ { printf("  size %d\n", erlsize(erlarg(0))); printf("  text %s\n", erltext(erlarg(0))); }
erlang*:demo_exact:leaf:function-entry /erltype(erlarg(0)) == "map" || erltype(erlarg(0)) == "tuple"/ { printf("  size %d\n", erlsize(erlarg(0))); }
END
only=
both terms "$PWD/terms.d" 'M = maps:from_list([{N, N} || N <- lists:seq(1, 20)]), Ts = [1, -7, 1 bsl 62, 1 bsl 63, 1 bsl 64, -(1 bsl 70), 1.5, -0.25, 1.0e100, 3.0e-9, abc, '"'with space'"', '"'Upper'"', [], [1, 2], [1, [2, 3, 4], x], [1 | 2], "hello", "h\"e\nl", [104, 300], [a | <<"b">>], ["ab", [$c, <<"de">>]], <<>>, <<"bin">>, <<1, 2, 3>>, <<200, 1>>, <<1:3>>, <<255, 7:4>>, <<"h\303\251"/utf8>>, {}, {a}, {a, a}, {a, {b, [1]}}, {"x", <<"y">>}, #{}, #{k => 1}, #{k => {v}, <<"b">> => [1]}, M, self(), make_ref(), fun lists:seq/2, fun(X) -> X end, lists:seq(1, 40), lists:duplicate(30, $x)], [demo_exact:leaf(T) || T <- Ts], length(Ts).'
is 'terms: how many' 44 "$value"
is 'terms: none is left out' 44 "$(grep -c ' is ' <<<"$replayed")"

# -n with probes alone has everything.
erltrace record -N $node -o n.events -n 'erlang*:lists:seq:function-entry' 2>n.log &
recorder=$!
holds n.events '"erltrace":"events"'
at $node 'lists:seq(2, 5).' >/dev/null
kill -INT $recorder
wait $recorder
is 'probes alone: recorded' 0 $?
like 'probes alone: all there is' '"args":\["<[0-9.]+>","lists:seq/2",[0-9]+,[01]\].*"erlargs":"\[2,5\]"' "$(grep lists:seq n.events | head -n 1)"

# What cannot be: no node; nothing that could be recorded.
erltrace record -N nobody_there -o x.events -n 'erlang*:lists:seq:function-entry' 2>e
is 'no such node: exit' 1 $?
ok 'no such node: told' grep -q nobody_there e
ok 'no such node: no file' [ ! -e x.events ]
erltrace record -N $node -o . -n 'erlang*:lists:seq:function-entry' 2>e
is 'no such file: exit' 1 $?
ok 'no such file: told' grep -q 'cannot write .: Is a directory' e

# A disk that is full: at once, and in the middle. Nobody has to interrupt it.
timeout 60 erltrace record -N $node -o /dev/full -n 'erlang*:lists:seq:function-entry' 2>e
is 'full disk: exit' 1 $?
is 'full disk: told' 'erltrace: cannot write /dev/full: No space left on device' "$(cat e)"
timeout 60 erltrace record -S -N $node -n 'erlang*:lists:seq:function-entry' >/dev/full 2>e
is 'full disk, -S: exit' 1 $?
ok 'full disk, -S: told' grep -q 'No space left on device' e
(
	trap '' XFSZ
	ulimit -f 64
	exec timeout 60 erltrace record -N $node -o f.events -n 'erlang*:lists:seq:function-entry'
) 2>e &
recorder=$!
holds f.events '"erltrace":"events"'
at $node '[lists:seq(1, 2) || _ <- lists:seq(1, 2000)], ok.' >/dev/null
wait $recorder
is 'full in the middle: exit' 1 $?
is 'full in the middle: told' 'erltrace: cannot write f.events: File too large' "$(cat e)"

# As many as are wanted, and then no more: it ends though nothing happens any more.
erltrace record -N $node --events 3 -o m.events -n 'erlang*:lists:seq:function-entry' 2>e &
recorder=$!
holds m.events '"erltrace":"events"'
at $node '[lists:seq(1, N) || N <- [1, 2, 3, 4, 5]], ok.' >/dev/null
wait $recorder
is 'as many as are wanted: exit' 0 $?
is 'as many as are wanted' 3 "$(grep -c lists:seq/2 m.events)"
finish
