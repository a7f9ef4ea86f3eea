# the high magnitude is no constant
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, pid, 10); }'
!~ \[D_LLQUANT_HMAGTYPE\]
? 1
