# printa() of nothing
$ erltrace -e -xerrtags -n 'BEGIN { printa("text"); }'
!~ \[D_PRINTA_PROTO\]
? 1
