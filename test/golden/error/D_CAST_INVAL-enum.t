# an enumeration that was never declared has no size: no value is of it
$ erltrace -e -xerrtags -n 'BEGIN { x = (enum nope)5; }'
!~ \[D_CAST_INVAL\] nothing can be cast to 'enum nope': it is not declared$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = *(enum nope *)alloca(4); }'
!~ \[D_OP_INCOMPLETE\] a pointer to 'enum nope' cannot be dereferenced: it is not declared$
? 1
