# self-> and this-> that are not there
$ erltrace -e -xerrtags -n 'BEGIN { trace(self->x); }'
!~ \[D_VAR_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(this->x); }'
!~ \[D_VAR_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN /self->x/ { exit(0); }'
!~ \[D_VAR_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(self->a[1]); }'
!~ \[D_VAR_UNDEF\]
? 1
# an array that is not there
$ erltrace -e -xerrtags -n 'BEGIN { x = a["k"]; }'
!~ \[D_VAR_UNDEF\]
? 1
# a variable in its own first value
$ erltrace -e -xerrtags -n 'BEGIN { x = x + 1; }'
!~ \[D_VAR_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { a[1] = a[2]; }'
!~ \[D_VAR_UNDEF\]
? 1
