# a size that varies, and is no number
$ erltrace -e -xerrtags -n 'BEGIN { tracemem(16, 8, "a"); }'
!~ \[D_TRACEMEM_DYNSIZE\]
? 1
