# a * without argument
$ erltrace -e -xerrtags -n 'BEGIN { printf("%*d"); }'
!~ \[D_PRINTF_DYN_PROTO\]
? 1
