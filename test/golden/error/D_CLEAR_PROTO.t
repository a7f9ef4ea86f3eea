# clear() of nothing, or of two
$ erltrace -e -xerrtags -n 'BEGIN { clear(); }'
!~ \[D_CLEAR_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); @b = count(); clear(@a, @b); }'
!~ \[D_CLEAR_PROTO\]
? 1
