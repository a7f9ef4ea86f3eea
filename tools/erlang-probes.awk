# SPDX-License-Identifier: Apache-2.0
#
# c_src/erlang_probes.def -> a D library that declares the probes of the erlang provider, so that
# args[] has its types where there is no node: erltrace -e -Z. A probe ends with its arguments, each
# a letter for its type and a name: S(sender), U(words)).

BEGIN {
	type["S"] = "string"
	type["U"] = "uint32_t"
	type["I"] = "int"
	type["N"] = "int64_t"
	type["C"] = "string"
	type["K"] = "int64_t"
	print "provider erlang {"
}

/^(PROBE|FN_PROBE|ABSENT)\(/ { text = "" }
/^(PROBE|FN_PROBE|ABSENT)\(/, /\)\)$/ {
	text = text " " $0
	if (!/\)\)$/)
		next
	n = split(text, f, /,[ \t]*/)
	name = f[2]
	gsub(/"/, "", name)
	gsub(/-/, "__", name)
	args = ""
	for (i = 3; i <= n; i++)
		if (match(f[i], /^[SUINCK]\(/))
			args = args (args == "" ? "" : ", ") type[substr(f[i], 1, 1)]
	printf "\tprobe %s(%s);\n", name, args
}

END { print "};" }
