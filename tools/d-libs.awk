# SPDX-License-Identifier: Apache-2.0
#
# D library files -> C: one line of {"name.d", "text"}, for each, as d/lib.c includes it. The text
# is cut into a string literal for each line, which C joins.

function finish()
{
	if (open)
		print "},"
	open = 0
}

FNR == 1 {
	finish()
	name = FILENAME
	sub(/.*\//, "", name)
	printf "{\"%s\", \"\"", name
	open = 1
}

{
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	gsub(/\t/, "\\t")
	gsub(/\?/, "\\?")
	printf "\n\t\"%s\\n\"", $0
}

END {
	finish()
}
