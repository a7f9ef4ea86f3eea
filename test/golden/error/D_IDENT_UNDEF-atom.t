# an atom beside a term is written as a string
$ erltrace -e -xerrtags -n 'BEGIN /erlarg(0) == sv/ { }'
!~ \[D_IDENT_UNDEF\] 'sv' is not declared or assigned before: an atom is written as a string here, "sv"$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget(user, erlmsg)); }'
!~ \[D_IDENT_UNDEF\] 'user' is not .*: an atom is written as a string here, "user"$
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlmsg, ok)/ { }'
!~ \[D_IDENT_UNDEF\] 'ok' is not .*: an atom is written as a string here, "ok"$
? 1
# a variable that has this name is none
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget(id, erlmsg)); }'
!~ \[D_PROTO_ARG\] argument 1 of erlget\(\) must be a constant, .*: "plan" is the atom, 
? 1
