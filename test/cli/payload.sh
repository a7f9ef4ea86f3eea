#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# payload=off: every built-in variable, subroutine and action of builtins.def, and every argument of
# every Erlang probe, is tried, and is refused exactly if its line says that it shows contents. The
# last line is "N passed, N failed".

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
cd "$tmp" || exit 1
probe() { # name: a probe that has it
	case $1 in
	erlmsg) echo message-send ;;
	erlreason) echo process-exit ;;
	erlret) echo function-return ;;
	erlclass) echo function-exception ;;
	erlpeer*) echo process-spawn ;;
	*) echo function-entry ;;
	esac
}
refused() { # clause
	erltrace -e -q -w -Z -xerrtags -xpayload=off -n "$1" >o 2>&1
	grep -q '\[D_PAYLOAD\]' o && echo SHOWS || echo COUNTS
}
parameters() { # prototype, a number: an argument for each parameter that is not optional
	local p=${1#*:} i out=''
	p=${p%%\[*}
	for ((i = 0; i < ${#p}; i++)); do
		case ${p:i:1} in
		s) out+=', "a"' ;;
		f) out+=', "b"' ;;
		p) out+=', 0x1000' ;;
		T) out+=', erlarg(0)' ;;
		@) out+=', @a' ;;
		\*) ;;
		*) out+=", $2" ;;
		esac
	done
	echo "${out#, }"
}

# ---- the table --------------------------------------------------------------------------------

n=0
while IFS='|' read -r kind name proto class; do
	n=$((n + 1))
	case $kind:$name in
	*VAR:arg[0-9] | *VAR:args) continue ;; # below
	*:pcap) continue ;; # never supported
	*:erlfield) continue ;; # only a node knows records: test/node/no_payload.sh
	*VAR:uregs) use='uregs[0]' ;;
	*VAR:*) use=$name ;;
	*:erlarg | *:erlint) use="$name(0)" ;;
	*) use="$name($(parameters "$proto" 1))" ;;
	esac
	# A term comes from an argument, which shows contents whatever is made of it.
	[ "$class" = COUNTS ] && [[ ${proto#*:} == *T* ]] && class=SHOWS
	case $kind in
	D_BACT) clause="BEGIN { @a = count(); $use; }" ;;
	D_LFUNC) # for libraries only
		mkdir -p lib && echo "inline int tried = (${use}) != 0;" >lib/t.d
		[[ $proto == s:* ]] && echo "inline string tried = $use;" >lib/t.d
		is "$name" "$class" "$(erltrace -e -q -Z -xerrtags -xpayload=off -L lib -n 'BEGIN { trace(tried); }' >o 2>&1
			grep -q '\[D_PAYLOAD\]' o && echo SHOWS || echo COUNTS)"
		continue ;;
	D_SFUNC) continue ;; # members of things: names and sizes, test/golden/option/payload.t
	*) clause="erlang*:m:f/1:$(probe "$name") { this->x = $use; }" ;;
	esac
	[[ $proto == v:* && $kind != D_BACT ]] && clause="BEGIN { $use; }"
	is "$name" "$class" "$(refused "$clause")"
done < <(sed -nE 's/^(D_[BRPLS](VAR|FUNC|ACT))\("([a-z0-9_]+)", *[A-Z0-9_]+, *"([^"]*)", *([A-Z_0-9| ]*, *)?(COUNTS|SHOWS)\b.*/\1|\3|\4|\6/p' \
	"$root/c_src/prog/builtins.def")
is 'all of the table' "$(grep -cE '^D_(BVAR|BFUNC|RFUNC|PVAR|PFUNC|SFUNC|LFUNC|BACT)\(' "$root/c_src/prog/builtins.def")" "$n"

# ---- arguments of Erlang probes ---------------------------------------------------------------

args() { # the table as lines: name and letters
	awk '/^(PROBE|FN_PROBE|ABSENT)\(/ { t = "" }
		/^(PROBE|FN_PROBE|ABSENT)\(/, /\)\)$/ { t = t $0; if (/\)\)$/) {
			match(t, /"[^"]*"/); name = substr(t, RSTART + 1, RLENGTH - 2)
			l = ""; while (match(t, /[SUINCK]\([a-z0-9]+\)/)) { l = l substr(t, RSTART, 1); t = substr(t, RSTART + RLENGTH) }
			print name, l
			if (name == "user_trace-i4s4") { print "user_trace-n7", l; print "user_trace-n[0-9]*", l } } }' \
		"$root/c_src/erlang_probes.def"
}
while read -r name letters; do
	for ((i = 0; i < ${#letters}; i++)); do
		case ${letters:i:1} in C | K) want=SHOWS ;; *) want=COUNTS ;; esac
		is "arg$i of $name" "$want" "$(refused "erlang*:::$name { trace(arg$i); }")"
	done
done < <(args)

# Whatever others pass.
is 'arg0 of any program' SHOWS "$(refused 'shop:::sold { trace(arg0); }')"
finish
