# no format at all
$ erltrace -e -xerrtags -n 'BEGIN { printf(""); }'
!~ \[D_PRINTF_FMT_EMPTY\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); printa("", @a); }'
!~ \[D_PRINTF_FMT_EMPTY\]
? 1
