# trunc() of an element of what is not there
$ erltrace -e -xerrtags -n 'BEGIN { trunc(@a[1]); }'
!~ \[D_TRUNC_AGGBAD\]
? 1
