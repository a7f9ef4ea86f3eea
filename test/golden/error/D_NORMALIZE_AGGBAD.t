# of an aggregation that is not there
$ erltrace -e -xerrtags -n 'BEGIN { normalize(@a, 2); }'
!~ \[D_NORMALIZE_AGGBAD\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { denormalize(@a); }'
!~ \[D_NORMALIZE_AGGBAD\]
? 1
