# an aggregation behind speculate()
$ erltrace -e -xerrtags -n 'BEGIN { speculate(1); @ = count(); }'
!~ \[D_AGG_SPEC\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { if (pid) speculate(1); @ = count(); }'
!~ \[D_AGG_SPEC\]
? 1
