# the limit is no constant
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, pid, 1); }'
!~ \[D_LQUANT_LIMTYPE\]
? 1
