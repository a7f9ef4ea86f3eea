# no such type
$ erltrace -e -xerrtags -n 'BEGIN { x = (nosuch_t)1; }'
!~ \[D_TYPE_ERR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(sizeof (nosuch_t)); }'
!~ \[D_TYPE_ERR\]
? 1
$ erltrace -e -xerrtags -n 'translator nosuch_t < int I > { a = I; }; BEGIN { exit(0); }'
!~ \[D_TYPE_ERR\]
? 1
