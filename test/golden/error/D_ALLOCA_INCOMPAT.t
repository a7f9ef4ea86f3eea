# a variable holds scratch memory here and other memory there
$ erltrace -e -xerrtags -n 'BEGIN { this->p = (char *)alloca(8); this->p = (char *)arg0; }'
!~ \[D_ALLOCA_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->p = pid ? (char *)alloca(8) : (char *)arg0; }'
!~ \[D_ALLOCA_INCOMPAT\]
? 1
# one arm of ?: is scratch memory and the other is another pointer, a constant one too; NULL is none
$ erltrace -e -xerrtags -n 'BEGIN { trace(*(pid ? (char *)alloca(8) : (char *)64)); }'
!~ \[D_ALLOCA_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(*(pid ? (char *)arg0 : (char *)alloca(8))); }'
!~ \[D_ALLOCA_INCOMPAT\]
? 1
$ erltrace -e -q -n 'BEGIN { this->p = pid ? alloca(8) : NULL; this->q = pid ? copyin(arg0, 8) : alloca(8); }'
