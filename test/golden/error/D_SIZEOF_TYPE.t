# sizeof what has no size
$ erltrace -e -xerrtags -n 'BEGIN { trace(sizeof (void)); }'
!~ \[D_SIZEOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'struct undefined_s; BEGIN { trace(sizeof (struct undefined_s)); }'
!~ \[D_SIZEOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(sizeof (int (int))); }'
!~ \[D_SIZEOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'struct undefined_s *p; BEGIN { trace(sizeof (*p)); }'
!~ \[D_SIZEOF_TYPE\]
? 1
