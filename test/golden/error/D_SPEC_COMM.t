# speculate() behind commit()
$ erltrace -e -xerrtags -n 'BEGIN { commit(1); speculate(1); }'
!~ \[D_SPEC_COMM\]
? 1
