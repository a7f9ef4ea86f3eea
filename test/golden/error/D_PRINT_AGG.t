# print() of an aggregation
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); print(@a); }'
!~ \[D_PRINT_AGG\]
? 1
