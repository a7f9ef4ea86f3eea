# no such type
$ erltrace -e -xerrtags -n 'BEGIN { trace(offsetof(nosuch_t, a)); }'
!~ \[D_TYPE_ERR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(xlate <nosuch_t>(1).a); }'
!~ \[D_TYPE_ERR\]
? 1
$ erltrace -e -xerrtags -n 'translator nosuch_t < int I > { a = I; }; BEGIN { exit(0); }'
!~ \[D_TYPE_ERR\]
? 1
