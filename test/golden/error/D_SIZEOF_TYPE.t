# sizeof what has no size
$ erltrace -e -xerrtags -n 'BEGIN { trace(sizeof (void)); }'
!~ \[D_SIZEOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'struct s; BEGIN { trace(sizeof (struct s)); }'
!~ \[D_SIZEOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(sizeof (int (int))); }'
!~ \[D_SIZEOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'struct s *p; BEGIN { trace(sizeof (*p)); }'
!~ \[D_SIZEOF_TYPE\]
? 1
