# clear() of an aggregation that is not there
$ erltrace -e -xerrtags -n 'BEGIN { clear(@a); }'
!~ \[D_CLEAR_AGGBAD\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { clear(@b); @b = count(); }'
!~ \[D_CLEAR_AGGBAD\]
? 1
