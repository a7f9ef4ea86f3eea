#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints man/erltrace.1 with its tables made anew from those of the source: options, error tags,
# built-ins. A table stands between the comments TABLE name BEGIN and TABLE name END.
# `make manual` writes the result back; `make test` fails if it differs.

set -u
cd "$(dirname "$0")/.." || exit 1

# Options of one phase, each with its default in parentheses.
options() {
	awk -v phase="$1" '
	function fallback(kind, def)
	{
		gsub(/ /, "", def)
		if (kind == "BOOL")
			return def == "1" ? "on" : ""
		if (kind == "WORD") { # the help text begins with it
			def = help
			sub(/,.*/, "", def)
			return def
		}
		if (kind == "STR" || def ~ /UINT/)
			return ""
		if (kind == "RATE")
			return def == "0" ? "0" : def == "S_" ? "1s" : \
				sub(/\*S_$/, "s", def) ? def : "101hz"
		sub(/\*K_/, "k", def)
		sub(/\*M_/, "m", def)
		sub(/\*G_/, "g", def)
		return def
	}
	/^OPT\(/ {
		help = $0
		sub(/^[^"]*"[^"]*"[^"]*"/, "", help)
		sub(/"\)$/, "", help)
		gsub(/\\"/, "\"", help)
		gsub(/-/, "\\-", help)
		sub(/^OPT\("/, "")
		split($0, f, /"?, /)
		if (f[4] != phase)
			next
		d = fallback(f[3], f[5])
		printf ".TP\n"
		if (d != "")
			printf ".BR %s \" (%s)\"\n", f[1], d
		else
			printf ".B %s\n", f[1]
		printf "%s.\n", help
	}' c_src/options.def
}

tags() {
	sed -n 's/^ERROR_\(TAG\|LASTS\)(\([A-Z0-9_]*\), "\(.*\)")$/\2 \3/p' c_src/errors.def |
		awk '{
			tag = $1
			sub(/^[^ ]* */, "")
			gsub(/\\"/, "\"")
			gsub(/\\/, "\\e")
			gsub(/-/, "\\-")
			if (/^[.\047]/) # would be a request of roff
				$0 = "\\&" $0
			printf ".TP\n.B %s\n%s.\n", tag, $0
		}'
}

# The names of one kind, as one paragraph.
builtins() { # macro, what follows a name
	sed -En "s/^($1)\(\"([a-z0-9_]*)\".*/\\2/p" c_src/prog/builtins.def | awk -v after="$2" '
		NR > 1 { printf ".BR %s \"%s,\"\n", name, after }
		{ name = $0 }
		END { printf ".BR %s \"%s\"\n", name, after }'
}

table() {
	case $1 in
	options-compile) options COMPILE ;;
	options-go) options GO ;;
	options-run) options RUN ;;
	tags) tags ;;
	variables) builtins 'D_[BP]VAR' '' ;;
	subroutines) builtins 'D_[BPR]FUNC' '()' ;;
	actions) builtins D_BACT '()' ;;
	aggregations) builtins D_BAGG '()' ;;
	*) echo ".\\\" no such table: $1" ;;
	esac
}

inside=''
while IFS= read -r line; do
	case $line in
	'.\" TABLE '*' BEGIN')
		inside=${line#'.\" TABLE '}
		inside=${inside% BEGIN}
		printf '%s\n' "$line"
		table "$inside"
		;;
	'.\" TABLE '*' END')
		inside=''
		printf '%s\n' "$line"
		;;
	*) [[ $inside ]] || printf '%s\n' "$line" ;;
	esac
done <man/erltrace.1
