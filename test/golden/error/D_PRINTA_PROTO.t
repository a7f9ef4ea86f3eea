# printa() of nothing
$ erltrace -e -xerrtags -n 'BEGIN { printa(); }'
!~ \[D_PRINTA_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printa("text"); }'
!~ \[D_PRINTA_PROTO\]
? 1
