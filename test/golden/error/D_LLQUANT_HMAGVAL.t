# a high magnitude that is below the low one, or too large
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 3, 2, 10); }'
!~ \[D_LLQUANT_HMAGVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 19, 10); }'
!~ \[D_LLQUANT_HMAGVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, -1, 10); }'
!~ \[D_LLQUANT_HMAGVAL\]
? 1
