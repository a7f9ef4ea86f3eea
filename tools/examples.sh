# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The examples of README.md, doc/ and erltrace(1), run; sourced, not run. Those that trace a node (-N)
# are run by test/node/node_manual.sh, which has one, those of the kernel by
# test/kernel/kernel_manual.sh, the others by tools/check-manual.sh. (Those in Erlang are
# run by test/erl/pages_tests.erl.)
#
#	examples nodes|kernel|others ROOT    counts in passed and failed, tells what was wrong

# Numbers, bars and how many lines there are of a kind may differ; and of a node, whose numbers are
# different each time, the order of the lines, which are sorted by them.
plain() { # kind
	sed -E -e 's/[0-9]+/N/g' -e 's/-N/N/g' -e 's/[@ ]+/ /g' | if [[ $1 == nodes ]]; then
		sort -u
	else
		uniq
	fi
}

example_kind() { # command
	if [[ $1 == *' -N '* ]]; then echo nodes; else echo others; fi
}

# erltrace(1): the indented lines of each .EX block that begin with the command.
manual_examples() { # kind, root
	local example='' line said
	while IFS= read -r line; do
		if [[ $line == .EE && $example == '    erltrace '* && $(example_kind "$example") == "$1" ]]
		then
			if said=$(timeout 60 bash -c "$example" 2>&1 </dev/null); then
				passed=$((passed + 1))
			else
				failed=$((failed + 1))
				echo "FAILED example of erltrace(1): $example $said"
			fi
		fi
		case $line in
		.EX | .EE) example='' ;;
		*) example+=$line$'\n' ;;
		esac
	done < <(sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\e/\\/g' "$2/man/erltrace.1")
}

# A page's console blocks: "$ COMMAND", lines that go on with "> ", and what it prints.
page_examples() { # kind, file
	local command='' want='' inside='' line said
	while IFS= read -r line; do
		case $line in
		'```console') inside=1 command='' want='' ;;
		'```')
			if [[ $inside && $command && $(example_kind "$command") == "$1" ]]; then
				said=$(timeout 60 bash -c "$command" 2>&1 </dev/null | plain "$1"; echo .)
				if [[ $said == *'has only one frame here'* ]]; then
					echo "info: not tested: stacks, which this release does not show"
				elif diff <(printf '%s' "$want" | plain "$1") <(printf '%s' "${said%.}"); then
					passed=$((passed + 1))
				else
					failed=$((failed + 1))
					echo "FAILED example of $2: $command"
				fi
			fi
			inside=''
			;;
		'$ '*) [[ $inside ]] && command=${line:2} ;;
		'>'*)
			[[ $inside && -z $want ]] && command+=$'\n'${line:1} && continue
			[[ $inside ]] && want+=$line$'\n'
			;;
		*) [[ $inside ]] && want+=$line$'\n' ;;
		esac
	done <"$2"
}

# Calls a command with each block of a page's that is in a language.
each_block() { # file, language, command...
	local file=$1 language=$2 block='' inside='' line
	shift 2
	while IFS= read -r line; do
		case $line in
		"\`\`\`$language") inside=1 block='' ;;
		'```')
			[[ $inside ]] && "$@" "$block"
			inside=''
			;;
		*) [[ $inside ]] && block+=$line$'\n' ;;
		esac
	done <"$file"
}

succeeds() { # what to say if not, command...
	local what=$1 said
	shift
	if said=$("$@" 2>&1 </dev/null); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED example of $what: ${*: -1} $said"
	fi
}

# In Elixir: each in a VM of its own that has the application in its path.
elixir_example() { # file, root, text
	succeeds "$1" timeout 60 elixir -pa "${ebin:-$2/ebin}" -e "$3"
}

# In D: it compiles, whether there is such a module or not.
d_example() { # file, text
	succeeds "$1" timeout 60 erltrace -Zeqn "$2"
}

# Until ^C, three seconds later; on a busy machine it may not have begun by then (130): then it has longer.
interrupted() { # command
	local seconds status=130
	for seconds in 3 10 60; do
		timeout --preserve-status -s INT "$seconds" bash -c "exec $1"
		status=$?
		((status == 130)) || break
	done
	return $status
}

# Commands, a line each: each runs, until ^C. Those without -N are for the kernel, and may name $PID, a
# node.
sh_example() { # kind, file, text
	local line kind
	while IFS= read -r line; do
		[[ $line == *' -N '* ]] && kind=nodes || kind=kernel
		[[ -z $line || $kind != "$1" ]] ||
			succeeds "$2" interrupted "$line"
	done <<<"${3%$'\n'}"
}

examples() {
	local page
	[[ $1 == kernel ]] || manual_examples "$@"
	for page in "$2/README.md" "$2"/doc/*.md; do
		case $1 in
		kernel) each_block "$page" sh sh_example kernel "$page" ;;
		nodes)
			page_examples nodes "$page"
			each_block "$page" sh sh_example nodes "$page"
			command -v elixir >/dev/null && each_block "$page" elixir elixir_example "$page" "$2"
			;;
		others)
			page_examples others "$page"
			each_block "$page" d d_example "$page"
			;;
		esac
	done
}
