# a macro that is not there
$ erltrace -e -xerrtags -n 'BEGIN { trace($1); }'
!~ \[D_MACRO_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace($$3); }'
!~ \[D_MACRO_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace($nosuch); }'
!~ \[D_MACRO_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'dtrace:::$1 { exit(0); }'
!~ \[D_MACRO_UNDEF\]
? 1
