# the base is no constant
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, pid, 10, 1); }'
!~ \[D_LQUANT_BASETYPE\]
? 1
