# printa() of what is no aggregation
$ erltrace -e -xerrtags -n 'BEGIN { printa(1); }'
!~ \[D_PRINTA_AGGARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printa("%d", 1); }'
!~ \[D_PRINTA_AGGARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); printa(@a[1]); }'
!~ \[D_PRINTA_AGGARG\]
? 1
# a format that is no constant is no format
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); printa(probename, @a); }'
!~ \[D_PRINTA_AGGARG\]
? 1
