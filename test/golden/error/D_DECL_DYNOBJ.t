# a variable of a type that only exists while printing
$ erltrace -e -xerrtags -n 'self stack s; BEGIN { exit(0); }'
!~ \[D_DECL_DYNOBJ\]
? 1
