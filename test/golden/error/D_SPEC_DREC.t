# speculate() behind data
$ erltrace -e -xerrtags -n 'BEGIN { trace(1); speculate(1); }'
!~ \[D_SPEC_DREC\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("x"); speculate(1); }'
!~ \[D_SPEC_DREC\]
? 1
