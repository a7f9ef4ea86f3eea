# more than 65535 levels
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 65536, 1); }'
!~ \[D_LQUANT_STEPSMALL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, -100000, 100000); }'
!~ \[D_LQUANT_STEPSMALL\]
? 1
