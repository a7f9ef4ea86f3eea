# a step larger than the range
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, 11); }'
!~ \[D_LQUANT_STEPLARGE\]
? 1
# no range at all
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 5, 5); }'
!~ \[D_LQUANT_STEPLARGE\]
? 1
