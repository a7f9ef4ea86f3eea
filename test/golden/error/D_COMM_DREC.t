# commit() behind data
$ erltrace -e -xerrtags -n 'BEGIN { trace(1); commit(1); }'
!~ \[D_COMM_DREC\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("x"); commit(1); }'
!~ \[D_COMM_DREC\]
? 1
