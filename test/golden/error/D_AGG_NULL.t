# an aggregation as a statement
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); } BEGIN { @a; }'
!~ \[D_AGG_NULL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @; }'
!~ \[D_AGG_NULL\]
? 1
