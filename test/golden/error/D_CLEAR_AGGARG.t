# clear() of what is no aggregation
$ erltrace -e -xerrtags -n 'BEGIN { clear(1); }'
!~ \[D_CLEAR_AGGARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); clear(@a[1]); }'
!~ \[D_CLEAR_AGGARG\]
? 1
