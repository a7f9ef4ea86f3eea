# char is neither short nor long
$ erltrace -e -xerrtags -n 'long char x; BEGIN { exit(0); }'
!~ \[D_DECL_CHARATTR\]
? 1
$ erltrace -e -xerrtags -n 'short char x; BEGIN { exit(0); }'
!~ \[D_DECL_CHARATTR\]
? 1
