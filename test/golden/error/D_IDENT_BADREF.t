# a name that is no value
$ erltrace -e -xerrtags -n 'BEGIN { x = strlen; }'
!~ \[D_IDENT_BADREF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(trace); }'
!~ \[D_IDENT_BADREF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = args; }'
!~ \[D_IDENT_BADREF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { a[1] = 2; x = a; }'
!~ \[D_IDENT_BADREF\]
? 1
$ erltrace -e -xerrtags -n 'inline int f[int a] = a; BEGIN { x = f; }'
!~ \[D_IDENT_BADREF\]
? 1
# an aggregating function that is not called
$ erltrace -e -xerrtags -n 'BEGIN { @a = count; }'
!~ \[D_IDENT_BADREF\]
? 1
