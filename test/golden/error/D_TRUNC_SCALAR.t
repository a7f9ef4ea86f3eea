# trunc() to what is no number
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); trunc(@a, "x"); }'
!~ \[D_TRUNC_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); trunc(@a, trace(1)); }'
!~ \[D_TRUNC_SCALAR\]
? 1
