# an argument that the script does not use
$ erltrace -e -xerrtags -n 'BEGIN { trace($1); }' 1 2
!~ \[D_MACRO_UNUSED\]
? 1
# any argument
$ erltrace -e -xerrtags -n 'BEGIN { exit(0); }' x
!~ \[D_MACRO_UNUSED\]
? 1
