# no such probe
$ erltrace -e -xerrtags -n 'nosuch:::probe { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'BEGINN { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'dtrace:mod::BEGIN { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
