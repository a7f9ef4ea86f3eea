# printa() of an element of what is not there
$ erltrace -e -xerrtags -n 'BEGIN { printa(@a[1]); }'
!~ \[D_PRINTA_AGGBAD\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printa("%@d", @a[1]); }'
!~ \[D_PRINTA_AGGBAD\]
? 1
