# data behind commit()
$ erltrace -e -xerrtags -n 'BEGIN { commit(1); trace(1); }'
!~ \[D_DREC_COMM\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { commit(1); printf("x"); }'
!~ \[D_DREC_COMM\]
? 1
