# normalize() of an element of what is not there
$ erltrace -e -xerrtags -n 'BEGIN { normalize(@a[1], 10); }'
!~ \[D_NORMALIZE_AGGBAD\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { denormalize(@a[1]); }'
!~ \[D_NORMALIZE_AGGBAD\]
? 1
