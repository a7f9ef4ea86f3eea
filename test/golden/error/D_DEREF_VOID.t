# following a pointer to void
$ erltrace -e -xerrtags -n 'BEGIN { trace(*(void *)16); }'
!~ \[D_DEREF_VOID\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->p = alloca(8); x = *this->p; }'
!~ \[D_DEREF_VOID\]
? 1
