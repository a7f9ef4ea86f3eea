#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The manual is whole: its pages have no faults that groff sees, and every flag, option, error
# tag, built-in and library call is in it. The examples of erltrace(1) and README.md run (those that
# trace a node: test/node/node_manual.sh).

set -u
shopt -s nullglob

passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() {
	failed=$((failed + 1))
	echo "$*"
}

# Each name of a list must be found, as a word, in one of the files.
covered() { # what, names (one a line), files...
	local what=$1 names=$2 words name
	shift 2
	words=$(sed -e 's/\\-/-/g' -e 's/\\f.//g' "$@" 2>/dev/null | grep -oE '[A-Za-z_$][A-Za-z0-9_]*' |
		sort -u)
	while IFS= read -r name; do
		[[ -n $name ]] || continue
		if grep -qxF -- "$name" <<<"$words"; then ok; else bad "$what $name is not in: $*"; fi
	done <<<"$names"
}

for page in man/*.[1-9]; do
	faults=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
	if [[ -z $faults ]]; then ok; else bad "$page: $faults"; fi
	if grep -nE '.{121,}' "$page"; then bad "$page: long lines"; else ok; fi
done

if tools/manual-tables.sh | diff man/erltrace.1 -; then
	ok
else
	bad "man/erltrace.1: its tables are old; run make manual"
fi

docs=(man/*.[1-9] doc/*.md)
covered option "$(sed -n 's/^OPT("\([a-z]*\)".*/\1/p' c_src/options.def)" man/erltrace.1
covered tag "$(sed -n 's/^ERROR_\(TAG\|LASTS\)(\([A-Z0-9_]*\),.*/\2/p' c_src/errors.def)" "${docs[@]}"
for tag in $(grep -ohE '<<"(D|ET)_[A-Z_]+">>' src/*.erl src/*/*.erl | tr -d '<">' | sort -u); do
	if grep -qE "^ERROR_(TAG|LASTS)\($tag, " c_src/errors.def; then ok; else bad "tag $tag of src/ is not in errors.def"; fi
done
covered built-in "$(sed -n 's/^D_[BPR][A-Z]*("\([a-z0-9_]*\)".*/\1/p' c_src/prog/builtins.def)" "${docs[@]}"
# Subroutines that take strings, and no terms: they are called with NULL, they charge their work, random
# scripts call them. One without a result, copyoutstr(), is destructive.
strings() { # a regular expression: what they return
	sed -nE "s/^D_[BR]FUNC\\(\"([a-z0-9_]+)\", *[A-Z0-9_]+, *\"($1):[a-z[]*s[a-z[]*\".*/\\1/p" c_src/prog/builtins.def
}
calls_of() { # what, names; the text to look in
	local text name
	text=$(cat)
	for name in $2; do
		if grep -qE -- "\b$name\(" <<<"$text"; then ok; else bad "$name() is not in $1"; fi
	done
}
calls_of "'functions' of test/golden/sub/null-argument.t" "$(strings '[^v]')" \
	< <(sed -n '/^< functions$/,/^< nulls$/p' test/golden/sub/null-argument.t)
calls_of 'each.sh of test/golden/fault/work.t' "$(strings '[^v]')" \
	< <(sed -n '/^< each.sh$/,/^\$/p' test/golden/fault/work.t)
calls_of test/random/random_d.py "$(strings .)" <test/random/random_d.py
# Erlang probes: each is described; each that fires has a test.
probes() { sed -nE "s/^($1)\\([A-Z0-9_]+, *\"([^\"]*)\".*/\\2/p" c_src/erlang_probes.def; }
for name in $(probes 'PROBE|FN_PROBE|ABSENT'); do
	if grep -qF -- "\`$name\`" doc/probes.md; then ok; else bad "probe $name is not in doc/probes.md"; fi
done
for name in $(probes 'PROBE|FN_PROBE'); do
	if grep -rqF -- "$name" test/erl test/node test/kernel; then ok; else bad "probe $name has no test"; fi
done
# Terms of events: the lines HAS of the table are what both pages say. Probes of functions are named together.
has_term() { # what: the probes that have it
	sed -nE "s/^HAS\\(([A-Z0-9_]+), $1\\)/\\1/p" c_src/erlang_probes.def | sort |
		join - <(sed -nE 's/^PROBE\(([A-Z0-9_]+), *"([^"]*)".*/\1 \2/p' c_src/erlang_probes.def | sort) |
		cut -d' ' -f2 | sort
}
says_term() { # a built-in: the probes in the last cells of its rows
	awk -F'|' -v name="\`$1\`" 'index($2, name) { print $(NF - 1) }' | grep -oE '`[^`]+`' | tr -d '`' |
		grep -xF -f <(probes PROBE) | sort
}
for row in MESSAGE/erlmsg PEER/erlpeer REASON/erlreason; do
	for where in 'doc/probes.md /^### Terms/,/^### Depth/' 'doc/d.md /^## Erlang built-ins/,/^### Arg/'; do
		differ=$(diff <(has_term "${row%/*}") <(sed -n "${where#* }p" "${where%% *}" | says_term "${row#*/}"))
		if [[ -z $differ ]]; then ok; else bad "${row#*/} in ${where%% *} (>), in the lines HAS (<):"$'\n'"$differ"; fi
	done
done
# Members of the provider state: each is described below its iterator.
while read -r kind member; do
	if sed -n "/^### state:::$kind\$/,/^### /p" doc/probes.md | grep -q "^| \`$member\` |"; then
		ok
	else
		bad "state:::$kind: $member is not in doc/probes.md"
	fi
done < <(awk -F'[(,] *' '/^(NUMBER|TEXT)\(/ { print tolower($2), $3 }' c_src/state.def)
# Providers: each has its attributes and is described; those of the kernel also have a test.
has() { # where, a regular expression; text to look in
	if grep -qE -- "$2"; then ok; else bad "provider $name is not in $1"; fi
}
for name in $(sed -n 's/^	\.name = "\(.*\)",/\1/p' c_src/provider/*.c); do
	has c_src/stability.c "^	\{\"$name\"," <c_src/stability.c
	has man/erltrace.1 "^\.B[A-Z]* .*\b$name" <man/erltrace.1
done
for name in $(sed -n '/names\[\] = {/,/}/p' c_src/provider/kernel_names.c | grep -oE '"[^"]+"' | tr -d '"#'); do
	[[ $name == usdt ]] || # programs choose the names of theirs
		has c_src/stability.c "^	\{\"$name#?\"," <c_src/stability.c
	has 'the contents of doc/kernel.md' "\[[a-z ]*\b$name\b[a-z ]*\]\(#" <doc/kernel.md
	has 'the sections of doc/kernel.md' "^### .*\b$name\b" <doc/kernel.md
	has "README.md, 'Down to the kernel'" "\`$name|${name^^}" < <(sed -n '/^## Down to/,/^## In/p' README.md)
	has "CHANGELOG.md, 'Kernel probes'" "\`$name|${name^^}" < <(sed -n '/^\*\*Kernel probes/,/^$/p' CHANGELOG.md)
	has "man/erltrace.1, 'KERNEL PROBES'" "^\.[BI].*\b$name|${name^^}" \
		< <(sed -n '/^\.SH KERNEL PROBES/,/^\.SH ERLANG/p' man/erltrace.1)
	has 'any test of test/kernel' "\b$name[0-9a-z\$]*:" < <(cat test/kernel/*.sh)
done
# The maps of folders name their files.
for map in c_src/kernel/kernel.h c_src/output/output.h; do
	for file in "${map%/*}"/*.c; do
		if grep -qE "\\b${file##*/}" "$map"; then ok; else bad "$file is not in $map"; fi
	done
done
covered call "$(grep -oE '\berltrace_[a-z_]+\(' include/erltrace.h | tr -d '(' | sort -u)" \
	man/liberltrace.3

# Every flag that the command's own help tells.
for flag in $("${BIN:-bin}/erltrace" --help | sed -n 's/^	\(-[-a-zA-Z0-9]*\)[ =].*/\1/p'); do
	if sed 's/\\-/-/g' man/erltrace.1 | grep -qE "^\.(B|BI|BR|IP|TP) \"?$flag\b|^\.B $flag\$"; then
		ok
	else
		bad "flag $flag is not in man/erltrace.1"
	fi
done

# Every output that an option chooses: in a table or the text of doc/ too.
for name in $(sed -n 's/^	\.option = "\(.*\)",/\1/p' c_src/output/*.c); do
	if grep -qE -- "[\`/ ]--$name\b" doc/guide.md doc/json.md; then ok; else bad "output --$name is not in doc/"; fi
done

# ---- examples --------------------------------------------------------------------------------

PATH=$(cd "${BIN:-bin}" && pwd):$PATH
root=$PWD
# shellcheck source=tools/examples.sh
. tools/examples.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
echo 'BEGIN { exit(0); }' >script.d

examples others "$root"

echo "$passed passed, $failed failed"
((failed == 0))
