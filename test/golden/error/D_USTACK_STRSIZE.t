# ustack() with a bad string size
$ erltrace -e -xerrtags -n 'BEGIN { ustack(1, pid); }'
!~ \[D_USTACK_STRSIZE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { jstack(1, -1); }'
!~ \[D_USTACK_STRSIZE\]
? 1
