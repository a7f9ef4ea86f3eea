# SPDX-License-Identifier: Apache-2.0
#
# c_src/beam/needs.def -> types and a guard for erltrace_needs.erl.

function add(list, item, by) { return list == "" ? item : list by item }

/^NEED\(/ {
	split($0, f, /[(), ]+/)
	name = "'" f[3] "'"
	flags = add(flags, name, " | ")
	guard = add(guard, "Need =:= " name, " orelse ")
	if (f[5] == "SERVES")
		serving = add(serving, name, ", ")
}

/^NEED_VALUE\(/ {
	split($0, f, /[(), ]+/)
	type = $0
	sub(/^[^,]*,[^,]*, /, "", type)
	sub(/\)$/, "", type)
	values = add(values, "{'" f[3] "', " type "}", " | ")
	keys = add(keys, "'" f[3] "'", " | ")
	key_guard = add(key_guard, "Need =:= '" f[3] "'", " orelse ")
}

END {
	print "%% Made from c_src/beam/needs.def."
	print "-type flag() :: " flags "."
	print "-type key() :: " keys "."
	print "-type value() :: " values "."
	print "-define(IS_FLAG(Need), (" guard "))."
	print "-define(IS_KEY(Need), (" key_guard "))."
	print "-define(SERVING, [" serving "])."
}
