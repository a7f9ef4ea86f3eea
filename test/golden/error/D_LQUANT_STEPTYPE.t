# the step is no constant
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, pid); }'
!~ \[D_LQUANT_STEPTYPE\]
? 1
# a step that is not positive
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, 0); }'
!~ \[D_LQUANT_STEPTYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, -1); }'
!~ \[D_LQUANT_STEPTYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, "a"); }'
!~ \[D_LQUANT_STEPTYPE\]
? 1
