# trunc() of nothing, of too much
$ erltrace -e -xerrtags -n 'BEGIN { trunc(); }'
!~ \[D_TRUNC_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); trunc(@a, 1, 2); }'
!~ \[D_TRUNC_PROTO\]
? 1
