# more scratch memory than there is
$ erltrace -qn 'BEGIN { n = 100000; } BEGIN { this->p = alloca(n); printf("no\n"); } BEGIN { printf("on\n"); exit(0); }'
> on
>
!~ out of scratch space
$ erltrace -qn 'BEGIN { this->p = alloca(200); this->q = alloca(200); printf("no\n"); } BEGIN { exit(0); }'
>
!~ out of scratch space
$ erltrace -qn 'BEGIN { n = -1L; } BEGIN { this->p = alloca(n); printf("no\n"); } BEGIN { exit(0); }'
>
!~ out of scratch space
$ erltrace -xscratchsize=1k -qn 'BEGIN { this->p = alloca(200); this->q = alloca(200); printf("yes\n"); exit(0); }'
> yes
>
# the next clause, and the next firing, has all of it again
$ erltrace -qn 'BEGIN { this->p = alloca(200); } BEGIN { this->q = alloca(200); printf("yes\n"); } tick-1ms { this->r = alloca(200); printf("again\n"); exit(0); }'
> yes
> again
>
