# pointer arithmetic is in units of what is pointed to
$ erltrace -qn 'BEGIN { p = (int *)1000; printf("%d %d %d\n", (long)(p + 2), (long)(2 + p), (long)(p - 1)); exit(0); }'
> 1008 1008 996
>
$ erltrace -qn 'BEGIN { p = (long *)1000; q = (long *)1040; printf("%d %d\n", q - p, p - q); exit(0); }'
> 5 -5
>
# & and * undo each other; & of an element and of a member
$ erltrace -qn 'struct s { int a; int b[4]; }; BEGIN { this->p = (struct s *)alloca(sizeof (struct s)); this->p->b[2] = 77; this->q = &this->p->b[2]; printf("%d %d %d\n", *this->q, *&*this->q, (char *)this->q - (char *)this->p); exit(0); }'
> 77 77 12
>
# negative indexes
$ erltrace -qn 'BEGIN { this->p = (int *)alloca(12); this->p[1] = 8; this->q = this->p + 2; printf("%d %d\n", this->q[-1], *(this->q - 1)); exit(0); }'
> 8 8
>
