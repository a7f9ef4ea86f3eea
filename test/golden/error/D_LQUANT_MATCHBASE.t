# two uses of a name with different bases
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, 2); @ = lquantize(1, 2, 10, 2); }'
!~ \[D_LQUANT_MATCHBASE\]
? 1
