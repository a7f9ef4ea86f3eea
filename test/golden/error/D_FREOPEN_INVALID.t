# freopen() to a folder
$ erltrace -e -w -xerrtags -n 'BEGIN { freopen("."); }'
!~ \[D_FREOPEN_INVALID\]
? 1
$ erltrace -e -w -xerrtags -n 'BEGIN { freopen(".."); }'
!~ \[D_FREOPEN_INVALID\]
? 1
