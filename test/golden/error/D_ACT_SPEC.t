# a destructive action behind speculate()
$ erltrace -e -w -xerrtags -n 'BEGIN { speculate(1); system("true"); }'
!~ \[D_ACT_SPEC\]
? 1
$ erltrace -e -w -xerrtags -n 'BEGIN { speculate(1); raise(9); }'
!~ \[D_ACT_SPEC\]
? 1
$ erltrace -e -w -xerrtags -n 'BEGIN { speculate(1); if (pid) stop(); }'
!~ \[D_ACT_SPEC\]
? 1
