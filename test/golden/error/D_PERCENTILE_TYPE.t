# a percentage that is not a constant, or not a number
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, pid); }'
!~ \[D_PERCENTILE_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 50, "99"); }'
!~ \[D_PERCENTILE_TYPE\]
? 1
