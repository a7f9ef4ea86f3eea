# a base that is not below the limit
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 10, 10, 1); }'
!~ \[D_LQUANT_MISMATCH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 10, 5, 1); }'
!~ \[D_LQUANT_MISMATCH\]
? 1
