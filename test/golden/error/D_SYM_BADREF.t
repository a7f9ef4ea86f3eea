# a symbol of a process
$ erltrace -e -xerrtags -n 'BEGIN { trace(libc`environ); }'
!~ \[D_SYM_BADREF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = libm``sin; }'
!~ \[D_SYM_BADREF\]
? 1
