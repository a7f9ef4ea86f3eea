# trunc() of an aggregation that is not there
$ erltrace -e -xerrtags -n 'BEGIN { trunc(@a); }'
!~ \[D_TRUNC_AGGBAD\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trunc(@a, 5); }'
!~ \[D_TRUNC_AGGBAD\]
? 1
