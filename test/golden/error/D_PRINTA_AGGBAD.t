# printa() of an aggregation that is not there
$ erltrace -e -xerrtags -n 'BEGIN { printa(@a); }'
!~ \[D_PRINTA_AGGBAD\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printa("%@d", @a); }'
!~ \[D_PRINTA_AGGBAD\]
? 1
