# a pattern's variables are in this->, not names of their own, nor is a built-in variable meant
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlmsg, "{fetch, Id}")/ { @[Id] = count(); }'
!~ \[D_IDENT_UNDEF\] 'Id' is not declared or assigned before: did you mean this->Id\? \(variables of patterns are in this->\)$
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlmsg, "{fetch, Id}")/ { @[self->Id] = count(); }'
!~ \[D_VAR_UNDEF\] self->Id has not been declared or assigned before: did you mean this->Id\? \(variables of patterns are in this->\)$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->x = 1; trace(x); }'
!~ \[D_IDENT_UNDEF\] 'x' is not declared or assigned before: did you mean this->x\?$
? 1
