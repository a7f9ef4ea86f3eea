# sizeof a bit-field
$ erltrace -e -xerrtags -n 'struct s { int b : 3; } g; BEGIN { trace(sizeof (g.b)); }'
!~ \[D_SIZEOF_BITFIELD\]
? 1
