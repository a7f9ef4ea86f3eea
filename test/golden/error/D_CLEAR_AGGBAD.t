# clear() of an element of what is not there
$ erltrace -e -xerrtags -n 'BEGIN { clear(@a[1]); }'
!~ \[D_CLEAR_AGGBAD\]
? 1
