# SPDX-License-Identifier: Apache-2.0
#
# c_src/state.def -> the kinds of objects of the provider state and their members, as types for
# src/state/erltrace_objects.erl.

function add(list, item, by) { return list == "" ? item : list by item }

function close_kind() {
	if (kind == "")
		return
	printf "-type %s_member() :: %s.\n", kind, types
}

BEGIN {
	print "%% Made from c_src/state.def."
}

/^KIND\(/ {
	close_kind()
	split($0, f, "\"")
	kind = f[2]
	kinds = add(kinds, kind, " | ")
	any = add(any, kind "_member()", " | ")
	types = ""
}

/^(NUMBER|TEXT)\(/ {
	split($0, f, /, */)
	types = add(types, f[2], " | ")
}

END {
	close_kind()
	print "-type kind() :: " kinds "."
	print "-type member() :: " any "."
}
