# SPDX-License-Identifier: Apache-2.0
#
# c_src/beam/nifs.def -> what erltrace_nif.erl exports, and what of it the library has.

/^NIF\(/ {
	split($0, f, /[(), ]+/)
	name = "'" f[2] "'/" f[3]
	list = list (list == "" ? "" : ",\n    ") name
	if (f[4] != "JOB")
		nifs = nifs (nifs == "" ? "" : ",\n    ") name
}

END {
	print "%% Made from c_src/beam/nifs.def."
	print "-export([" list "])."
	print "-nifs([" nifs "])."
}
