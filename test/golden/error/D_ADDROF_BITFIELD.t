# the address of a bit-field
$ erltrace -e -xerrtags -n 'struct s { int b : 3; }; BEGIN { this->p = (struct s *)alloca(4); x = &this->p->b; }'
!~ \[D_ADDROF_BITFIELD\]
? 1
