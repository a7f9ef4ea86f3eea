# a base that is not below the limit
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 10, 5, 1); }'
!~ \[D_LQUANT_MISMATCH\]
? 1
# compared before the step is looked at
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 10, 5, 0); }'
!~ \[D_LQUANT_MISMATCH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 10, -5); }'
!~ \[D_LQUANT_MISMATCH\]
? 1
