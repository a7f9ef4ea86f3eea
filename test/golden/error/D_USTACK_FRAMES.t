# ustack() with a bad number of frames
$ erltrace -e -xerrtags -n 'BEGIN { ustack(pid); }'
!~ \[D_USTACK_FRAMES\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { ustack("a"); }'
!~ \[D_USTACK_FRAMES\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { jstack(-1); }'
!~ \[D_USTACK_FRAMES\]
? 1
