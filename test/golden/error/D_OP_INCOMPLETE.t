# a type whose size is not known
$ erltrace -e -xerrtags -n 'struct undefined_s *p; BEGIN { p++; }'
!~ \[D_OP_INCOMPLETE\]
? 1
$ erltrace -e -xerrtags -n 'struct undefined_s *p; BEGIN { trace(p->a); }'
!~ \[D_OP_INCOMPLETE\]
? 1
$ erltrace -e -xerrtags -n 'struct undefined_s *p; BEGIN { q = p + 1; }'
!~ \[D_OP_INCOMPLETE\]
? 1
