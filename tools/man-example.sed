# SPDX-License-Identifier: Apache-2.0
# The lines of a manual page between the two comments, with roff's escapes taken back.
/^\.\\" EXAMPLE BEGIN/,/^\.\\" EXAMPLE END/ {
	/^\./d
	s/\\&//g
	s/\\-/-/g
	s/\\(aq/'/g
	s/\\(ha/^/g
	s/\\(ti/~/g
	s/\\e/\\/g
	p
}
