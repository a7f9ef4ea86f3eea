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
# op= and ++ make a number; what is no number is not what the variable can become
$ for e in 'x += "a"' 'x &= "a"' 'self->x *= "a"' 'this->x -= "a"' 'x["k"] += "a"' 'x -= curthread'; do erltrace -e -xerrtags -n "BEGIN { $e; }" 2>&1; done | grep -c D_VAR_UNDEF
> 6
$ erltrace -e -n 'BEGIN { x += "a"; }'
!~ x has not been declared or assigned before, and operator \+= cannot make it a 'string': use =
? 1
$ erltrace -e -q -n 'BEGIN { x += 1; self->y++; z[1] |= 2; }'
