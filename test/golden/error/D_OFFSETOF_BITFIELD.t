# offsetof() a bit-field
$ erltrace -e -xerrtags -n 'struct s { int b : 3; }; BEGIN { trace(offsetof(struct s, b)); }'
!~ \[D_OFFSETOF_BITFIELD\]
? 1
