# an aggregation behind commit()
$ erltrace -e -xerrtags -n 'BEGIN { commit(1); @ = count(); }'
!~ \[D_AGG_COMM\]
? 1
