#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Keys that are pressed in the command's terminal: state:::key, and -s top, which sorts by them. The terminal
# is as it was whenever the command does not have it: at the end, stopped, in the background.
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300
command -v python3 >/dev/null || skip 'no python3 here'

keys() { # what, steps on the standard input, arguments of erltrace
	local what=$1
	shift
	if python3 "$root/test/node/keys.py" erltrace -N keys "$@" >said 2>&1; then
		passed=$((passed + 1))
	else
		echo "FAILED: $what"
		cat said
		failed=$((failed + 1))
	fi
}

start keys
stuck=$(at keys 'P = spawn(fun() -> register(demo_stuck, self()), receive stop -> ok end end), [P ! N || N <- lists:seq(1, 3500)], pid_to_list(P).')

keys 'top is sorted by what is pressed' -qs top <<-EOF
	mode raw
	see \[Jr reductions   l mailbox length   m memory   q quit
	see ^PROCESS +PID +FUNCTION +MEMORY +MAILBOX +REDUCTIONS
	press l
	see \033\[H\033\[J
	see ^PROCESS +PID +FUNCTION +MEMORY +REDUCTIONS +MAILBOX
	see ^demo_stuck +$stuck .* 3500\r$
	press m
	see ^PROCESS +PID +FUNCTION +MAILBOX +REDUCTIONS +MEMORY
	press r
	see ^PROCESS +PID +FUNCTION +MEMORY +MAILBOX +REDUCTIONS
	press q
	ends 0
EOF

# A row for each, as many as there is room for: of 12, five are the head's.
keys 'top fills the terminal, not more' -qs top memory <<-'EOF'
	size 12 120
	press 12
	see MEMORY\r\n([^\r]+\r\n){7}\033\[H\033\[J
	size 15 120
	press 34
	see MEMORY\r\n([^\r]+\r\n){10}\033\[H\033\[J
	press q
	ends 0
EOF

probe='state:::key { printf("key %d of %d x %d.\n", arg0, arg1, arg2); } state:::key /arg0 == 33/ { exit(7); }'
keys 'bytes, and the size of the terminal' -qn "$probe" <<-'EOF'
	see key 0 of 40 x 120\.
	press a€
	see key 97 of 40 x 120\.
	see key 226 of .*\s+key 130 of .*\s+key 172 of
	size 20 60
	see key 0 of 20 x 60\.
	press b!
	see key 98 of 20 x 60\.
	ends 7
EOF

keys 'no key is lost while a script prints' -qn 'state:::key { @[arg0] = count(); } tick-1ms { printf("%64d\n", arg0); } state:::key /arg0 == 33/ { exit(0); }' <<-'EOF'
	mode raw
	see 0\r
	press aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!
	see 97 +100\r
	ends 0
EOF

keys 'stopped, it has no terminal; it goes on with keys' -x silence=0 -qn "$probe" <<-'EOF'
	see key 0
	mode raw
	stop
	mode cooked
	go
	mode raw
	press x!
	see key 120
	ends 7
EOF

keys 'in the background it leaves the keys to others' -x silence=0 -qn "$probe tick-100ms { printf(\"tick\\n\"); }" <<-'EOF'
	mode raw
	stop
	behind
	go
	see tick\s+tick\s+tick
	mode cooked
	ahead
	mode raw
	press !
	ends 7
EOF

keys 'by a signal' -qn "$probe" <<-'EOF'
	mode raw
	signal SIGTERM
	ends 0
EOF

# The second one, a second later, ends the command at once: here END does not come to its end.
keys 'by two signals' -qn "$probe END { printf(\"ending\n\"); system(\"sleep 15\"); }" -w <<-'EOF'
	mode raw
	signal SIGINT
	see ending
	pause 1.1
	signal SIGINT
	ends -2
EOF

# Nobody reads keys where there is no terminal, or for a script that does not ask for them.
keys 'a script without the probe' -qn 'tick-100ms { printf("tick\n"); } tick-100ms /i++ == 5/ { exit(0); }' <<-'EOF'
	see tick\s+tick\s+tick
	mode cooked
	ends 0
EOF
echo abc | timeout 60 erltrace -N keys -qn 'state:::key { printf("key\n"); } tick-100ms /i++ == 3/ { exit(0); }' >o 2>e
is 'a pipe has no keys: exit' 0 $?
is 'a pipe has no keys' '' "$(cat o e | words)"
timeout 60 erltrace -N keys -qn 'state:::key-1s { }' >o 2>e
is 'it has no rate' 1 "$(grep -c 'or without: once; and key$' e)"
finish
