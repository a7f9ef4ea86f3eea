# speculation() gives 0 where all are in use, and that is told; 0 is no speculation to write to
$ erltrace -qn 'BEGIN { a = speculation(); b = speculation(); printf("%d %d\n", a > 0, b); exit(0); }'
> 1 0
>
! erltrace: 1 failed speculation (no speculative buffer available)
$ erltrace -xnspec=2 -qn 'BEGIN { a = speculation(); b = speculation(); printf("%d %d\n", a > 0 && b > 0, a != b); exit(0); }'
> 1 1
>
# speculate(0), commit(0), discard(0) and numbers never given do nothing
$ erltrace -qn 'BEGIN { speculate(0); printf("no\n"); } BEGIN { commit(0); } BEGIN { discard(0); } BEGIN { printf("end\n"); exit(0); }'
> end
>
$ erltrace -qn 'BEGIN { commit(99); } BEGIN { discard(-1); } BEGIN { speculate(99); printf("no\n"); } BEGIN { printf("end\n"); exit(0); }'
> end
>
