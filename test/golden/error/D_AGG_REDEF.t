# one name, two functions
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); @a = sum(1); }'
!~ \[D_AGG_REDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = quantize(1); } END { @ = lquantize(1, 0, 10); }'
!~ \[D_AGG_REDEF\]
? 1
