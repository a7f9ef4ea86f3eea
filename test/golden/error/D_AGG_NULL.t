# an aggregation as a statement
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); } BEGIN { @a; }'
!~ \[D_AGG_NULL\]
? 1
# one with keys too
$ erltrace -e -xerrtags -n 'BEGIN { @a[1]; }'
!~ \[D_AGG_NULL\]
? 1
