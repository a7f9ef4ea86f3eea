# SPDX-License-Identifier: Apache-2.0
#
# c_src/beam/probes.def -> a D library that declares the probes of the erlang provider, so that
# args[] has its types where there is no node: erltrace -e -Z. The types are the letters that end
# a PROBE or ABSENT.

BEGIN {
	type["S"] = "string"
	type["U"] = "uint32_t"
	type["I"] = "int"
	type["N"] = "int64_t"
	print "provider erlang {"
}

/^(PROBE|ABSENT)\(/ { text = "" }
/^(PROBE|ABSENT)\(/, /\)$/ {
	text = text " " $0
	if (!/[SUIN]\)$/ && !/[0-9]\)$/)
		next
	n = split(text, f, /,[ \t]*/)
	name = f[2]
	gsub(/"/, "", name)
	gsub(/-/, "__", name)
	sub(/\)$/, "", f[n])
	for (first = n; f[first] in type; first--)
		;
	args = ""
	for (i = first + 1; i <= n; i++)
		args = args (args == "" ? "" : ", ") type[f[i]]
	printf "\tprobe %s(%s);\n", name, args
	text = ""
}

END { print "};" }
