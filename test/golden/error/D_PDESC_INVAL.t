# more than four parts
$ erltrace -e -xerrtags -n 'a:b:c:d:e { exit(0); }'
!~ \[D_PDESC_INVAL\]
? 1
# more often than may be
$ erltrace -e -xerrtags -n 'tick-1us { exit(0); }'
!~ \[D_PDESC_INVAL\]
? 1
