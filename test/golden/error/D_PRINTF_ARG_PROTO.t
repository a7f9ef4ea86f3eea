# fewer arguments than conversions
$ erltrace -e -xerrtags -n 'BEGIN { printf("%d"); }'
!~ \[D_PRINTF_ARG_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%s %d", "a"); }'
!~ \[D_PRINTF_ARG_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); printa("%d %d", @a); }'
!~ \[D_PRINTF_ARG_PROTO\]
? 1
