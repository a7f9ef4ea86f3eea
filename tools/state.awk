# SPDX-License-Identifier: Apache-2.0
#
# c_src/state.def -> a D library with the types of args[0] at the probes of the provider state: for
# KIND(PROCESS, "process") a structure state_process_t, and a translator to it. The probes are declared
# too, so that args[] has its types where there is no node: erltrace -e -Z.

function close_kind() {
	if (kind == "")
		return
	printf "typedef struct state_%s {\n%s} state_%s_t;\n", kind, members, kind
	printf "translator state_%s_t < uintptr_t object > {\n%s};\n", kind, translations
}

/^KIND\(/ {
	close_kind()
	split($0, f, "\"")
	kind = kinds[nkinds++] = f[2]
	members = translations = ""
	n = 0
}

/^(NUMBER|TEXT)\(/ {
	split($0, f, /, */)
	text = /^TEXT/
	members = members "\t" (text ? "string" : "int64_t") " " f[2] ";\n"
	translations = translations "\t" f[2] " = state_" (text ? "text" : "number") "(" n++ ");\n"
}

END {
	close_kind()
	print "provider state {"
	for (i = 0; i < nkinds; i++)
		printf "\tprobe %s(uintptr_t object) : (state_%s_t *object);\n", kinds[i], kinds[i]
	print "\tprobe round(int64_t number, int64_t objects, int64_t whole, int64_t all);\n};"
}
