# -F: no probe numbers; what is neither entry nor return stands at |
$ erltrace -F -n 'BEGIN { trace(1); exit(0); } END { printf("bye"); }' 2>/dev/null | cut -c5- | sed 's/$/;/'
> FUNCTION                                 ;
> | :BEGIN                                            1;
> | :END                                    bye;
> ;
$ erltrace -xflowindent -n 'BEGIN { exit(0); }' 2>/dev/null | sed -n 1p
> CPU FUNCTION                                 
# -q wins
$ erltrace -q -F -n 'BEGIN { printf("x\n"); exit(0); }'
> x
>
