# tracemem() of what is no address
$ erltrace -e -xerrtags -n 'BEGIN { tracemem("a", 8); }'
!~ \[D_TRACEMEM_ADDR\]
? 1
