# a variable holds scratch memory here and other memory there
$ erltrace -e -xerrtags -n 'BEGIN { this->p = (char *)alloca(8); this->p = (char *)arg0; }'
!~ \[D_ALLOCA_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->p = pid ? (char *)alloca(8) : (char *)arg0; }'
!~ \[D_ALLOCA_INCOMPAT\]
? 1
