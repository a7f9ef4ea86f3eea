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
# one that would fire too often
$ erltrace -e -xerrtags -n 'tick-1us { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'profile-1ns { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'profile-10000hz { exit(0); }'
!~ \[D_PDESC_ZERO\]
? 1
