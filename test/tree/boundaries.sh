#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The boundaries of the tree: folders of c_src include each other as doc/architecture.md draws it
# (tools/includes.sh), and what belongs to one folder is done nowhere else. The check of includes
# is tried on small trees that break each of its rules.
. "$(dirname "$0")/../lib/checks.sh"
trap 'rm -rf "$tmp"' EXIT
cd "$root" || exit 1

ok 'includes follow the arrows' tools/includes.sh --check

# FROM/FILE:INCLUDE ..., with these arrows: what the check says of such a tree
tree() { # arrows, then files
	local arrows=$1 f
	shift
	rm -rf "$tmp/t"
	mkdir -p "$tmp/t/tools" "$tmp/t/doc" "$tmp/t/c_src"
	cp tools/includes.sh "$tmp/t/tools/"
	printf '```arrows\n%s\n```\n' "$arrows" >"$tmp/t/doc/architecture.md"
	for f; do
		mkdir -p "$(dirname "$tmp/t/c_src/${f%%:*}")"
		echo "#include \"${f#*:}\"" >>"$tmp/t/c_src/${f%%:*}"
		[[ ${f#*:} != */* ]] || { mkdir -p "$tmp/t/c_src/$(dirname "${f#*:}")" && touch "$tmp/t/c_src/${f#*:}"; }
	done
	"$tmp/t/tools/includes.sh" --check 2>&1
}
is 'a tree as drawn' '' "$(tree 'a -> b' a/x.c:b/y.h b/y.c:y.h)"
like 'an include without an arrow' 'no arrow.*: b -> a' "$(tree 'a -> b' a/x.c:b/y.h b/y.h:a/z.h)"
like 'an arrow without an include' 'no include follows: a -> c' "$(tree 'a -> b c' a/x.c:b/y.h)"
is 'a folder inside a folder belongs to it' '' "$(tree 'a -> b' a/in/x.c:b/y.h a/in/x.c:a/z.h)"
is 'floors' '' "$(tree $'a/low -> b\na/high -> a/low' a/high/x.c:a/low/y.h a/low/y.c:b/z.h)"
like 'a floor without an arrow' 'no arrow.*: a/high -> a/low' "$(tree 'a/low -> b' a/high/x.c:a/low/y.h a/low/y.c:b/z.h)"
like 'a floor below that includes one above' 'no arrow.*: a/low -> a/high' \
	"$(tree 'a/high -> a/low' a/high/x.c:a/low/y.h a/low/y.c:a/high/z.h)"
like 'a way around' 'no arrow.*: a/low -> \.\./high/z.h' \
	"$(tree 'a/high -> a/low' a/high/x.c:a/low/y.h a/low/y.c:../high/z.h)"
like 'a cycle' 'a cycle' "$(tree $'a -> b\nb -> a' a/x.c:b/y.h b/y.c:a/z.h)"

library=(c_src/{api,bpf,consume,d,engine,kernel,prog,provider,symbols} c_src/*.[ch])
is 'the library starts no copy of the program' '' "$(grep -rn '/proc/self/exe' "${library[@]}")"
is 'only the compiler reads D' '' \
	"$(grep -rnE 'strstr\(.*(destructive|pragma)|TOK_[A-Z]' c_src --include='*.[ch]' | grep -v '^c_src/d/')"
scan='(->|\.)code ([!=]= EBPF_|& (7|0x))|switch \(.*(->|\.)code|CLASS_(LD|ST|ALU|JMP)|ebpf_(decode|const_arg)\('
is 'only bpf/ reads finished bytecode' '' \
	"$(grep -rnE "$scan" c_src --include='*.[ch]' | grep -v '^c_src/bpf/')"
is 'json_ is the prefix of jansson: a function of ours would take the place of its own' '' \
	"$(grep -rnE '^[a-z][a-z_ ]*[ *]json_[a-z_]+\(' c_src --include='*.h')"
is 'a file name occurs once' '' "$(find c_src src test -name '*.[ch]' -o -name '*.def' -o -name '*.erl' \
	-o -path 'test/*.sh' | sed 's|.*/||' | sort | uniq -d)"
make -n O="$tmp/dry" >/dev/null 2>&1
is 'make -n writes nothing' '' "$(find "$tmp/dry" 2>/dev/null)"
options=$(sed -n 's/^	\.option = "\(.*\)",/\1/p' c_src/output/*.c | paste -sd'|')
is 'the command line knows outputs by their list' '' "$(grep -nE "\"(--)?($options)\b" c_src/cli/main/*.c)"
is 'a folder has at most 40 files' '' "$(find c_src src -type f | sed 's|/[^/]*$||' | sort | uniq -c |
	awk '$1 > 40')"
is 'lines of Erlang have at most 100 columns' '' "$(awk 'length > 100 { print FILENAME ":" FNR }' src/*.erl src/*/*.erl)"
finish
