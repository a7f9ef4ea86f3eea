# exit() behind speculate()
$ erltrace -e -xerrtags -n 'BEGIN { speculate(1); exit(0); }'
!~ \[D_EXIT_SPEC\]
? 1
