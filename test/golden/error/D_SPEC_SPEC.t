# speculate() behind speculate()
$ erltrace -e -xerrtags -n 'BEGIN { speculate(1); speculate(2); }'
!~ \[D_SPEC_SPEC\]
? 1
