# variables of other systems
$ erltrace -e -xerrtags -n 'BEGIN { trace(zonename); }'
!~ \[D_VAR_UNSUP\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(curproc); }'
!~ \[D_VAR_UNSUP\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(jailname); }'
!~ \[D_VAR_UNSUP\]
? 1
