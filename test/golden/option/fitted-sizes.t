# a buffer that is too small is made larger, quietly
$ for o in bufsize aggsize dynvarsize; do erltrace -q -x$o=1 -n 'BEGIN { self->x = 1; @[self->x] = count(); printf("%d ", self->x); exit(0); }'; done
> 1 
>         1                1
> 1 
>         1                1
> 1 
>         1                1
# one that is too large is halved until it fits
$ for o in bufsize aggsize dynvarsize specsize; do erltrace -q -x$o=99t -n 'BEGIN { self->x = speculation(); @[self->x] = count(); printf("%d ", self->x); exit(0); }' | head -1; done
> 1 
> 1 
> 1 
> 1 
# with bufresize=manual that is an error
$ erltrace -q -xbufresize=manual -xbufsize=8g -n 'BEGIN { exit(0); }'
! erltrace: could not enable tracing: option bufsize: 8589934592 is more than 4294967296 bytes; bufresize=auto would halve it
? 1
# specsize is taken as it is
$ erltrace -q -xspecsize=1 -n 'BEGIN { s = speculation(); } BEGIN { speculate(s); printf("no\n"); } BEGIN { exit(0); }'
>
! erltrace: 1 speculative drop: -x specsize=SIZE makes the buffers larger
