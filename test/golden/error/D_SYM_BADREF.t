# a symbol of a process
$ erltrace -e -xerrtags -n 'BEGIN { trace(libc.so.6`environ); }'
!~ \[D_SYM_BADREF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(a.out`main); }'
!~ \[D_SYM_BADREF\]
? 1
