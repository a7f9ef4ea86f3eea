# the step is no constant
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, pid); }'
!~ \[D_LQUANT_STEPTYPE\]
? 1
