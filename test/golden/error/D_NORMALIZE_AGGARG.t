# normalize() and denormalize() of what is no aggregation
$ erltrace -e -xerrtags -n 'BEGIN { normalize(1, 2); }'
!~ \[D_NORMALIZE_AGGARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { denormalize("a"); }'
!~ \[D_NORMALIZE_AGGARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); normalize(@a[1], 2); }'
!~ \[D_NORMALIZE_AGGARG\]
? 1
