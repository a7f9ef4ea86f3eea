# more than four parts
$ erltrace -e -xerrtags -n 'a:b:c:d:e { exit(0); }'
!~ \[D_PDESC_INVAL\]
? 1
