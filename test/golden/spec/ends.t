# speculate() of 0, of one that is not active, ends the clause: nothing behind it is done
$ erltrace -qn 'int n; BEGIN { n = 1; speculate(0); n = 2; } BEGIN { speculate(1); n = 3; } BEGIN { printf("%d\n", n); exit(0); }'
> 1
>
$ erltrace -qn 'int n; BEGIN { s = speculation(); } BEGIN { speculate(s); n++; } BEGIN { discard(s); } BEGIN { speculate(s); n++; } BEGIN { printf("%d\n", n); exit(0); }'
> 1
>
$ erltrace -qn 'int n; BEGIN { if (1) { speculate(0); n = 1; } else { n = 2; } n = 3; } BEGIN { printf("%d\n", n); exit(0); }'
> 0
>
# the same without room, which is told
$ erltrace -xspecsize=200 -qn 'int n; BEGIN { s = speculation(); } BEGIN { speculate(s); n++; tracemem(0, 8); }' -n 'BEGIN { printf("%d\n", n); exit(0); }' 2>&1 | sed 's/.*invalid address.*/fault/'
> fault
> 1
>
$ erltrace -xspecsize=100 -qn 'int n; struct s { char c[64]; } v; BEGIN { s = speculation(); } BEGIN { speculate(s); n++; trace(v); } BEGIN { speculate(s); n++; trace(v); } BEGIN { printf("%d\n", n); exit(0); }'
> 1
>
! erltrace: 1 speculative drop: -x specsize=SIZE makes the buffers larger
$ erltrace -xspecsize=0 -qn 'int n; BEGIN { s = speculation(); } BEGIN { speculate(s); n++; } BEGIN { printf("%d %d\n", s, n); exit(0); }'
> 1 0
>
! erltrace: 1 speculative drop: -x specsize=SIZE makes the buffers larger
