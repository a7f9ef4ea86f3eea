# with different low magnitudes
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, 10); @ = llquantize(1, 10, 1, 6, 10); }'
!~ \[D_LLQUANT_MATCHLMAG\]
? 1
