# two uses of a name with different factors
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, 10); @ = llquantize(1, 2, 0, 6, 4); }'
!~ \[D_LLQUANT_MATCHFACTOR\]
? 1
