# a struct whose members are not known has no value that could be assigned
$ erltrace -xerrtags -n 'BEGIN { x = *(struct foo *)5; }'
!~ \[D_OP_INCOMPLETE\] a value of type 'struct foo' cannot be assigned: its members are not known$
? 1
$ erltrace -xerrtags -n 'BEGIN { *(struct foo *)5 = *(struct foo *)6; }'
!~ \[D_OP_INCOMPLETE\]
? 1
