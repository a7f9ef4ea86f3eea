# tracemem() with a bad size
$ erltrace -e -xerrtags -n 'BEGIN { tracemem(16, pid); }'
!~ \[D_TRACEMEM_SIZE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { tracemem(16, 0); }'
!~ \[D_TRACEMEM_SIZE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { tracemem(16, -1); }'
!~ \[D_TRACEMEM_SIZE\]
? 1
