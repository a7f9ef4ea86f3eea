# trunc() of what is no aggregation
$ erltrace -e -xerrtags -n 'BEGIN { trunc(1); }'
!~ \[D_TRUNC_AGGARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trunc("a", 1); }'
!~ \[D_TRUNC_AGGARG\]
? 1
