# tracemem() with too many arguments
$ erltrace -e -xerrtags -n 'BEGIN { tracemem(16, 8, 1, 2); }'
!~ \[D_TRACEMEM_ARGS\]
? 1
