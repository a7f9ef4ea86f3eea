# a factor below 2, or beyond 16 bits
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 1, 0, 6, 10); }'
!~ \[D_LLQUANT_FACTORVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, -2, 0, 6, 10); }'
!~ \[D_LLQUANT_FACTORVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 65536, 0, 1, 65536); }'
!~ \[D_LLQUANT_FACTORVAL\]
? 1
