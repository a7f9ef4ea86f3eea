# a name that is two things
$ erltrace -e -xerrtags -n 'BEGIN { exit(0); }'
!~ \[D_IDENT_AMBIG\]
? 1
