# speculation() gives 0 where all are in use, and that is told; 0 is no speculation to write to
$ erltrace -qn 'BEGIN { a = speculation(); b = speculation(); printf("%d %d\n", a > 0, b); exit(0); }'
> 1 0
>
! erltrace: 1 failed speculation (no speculative buffer available): -x nspec=N makes more
$ erltrace -xnspec=2 -qn 'BEGIN { a = speculation(); b = speculation(); printf("%d %d\n", a > 0 && b > 0, a != b); exit(0); }'
> 1 1
>
# speculate(0), commit(0), discard(0) do nothing
$ erltrace -qn 'BEGIN { speculate(0); printf("no\n"); } BEGIN { commit(0); } BEGIN { discard(0); } BEGIN { printf("end\n"); exit(0); }'
> end
>
# nor does one that is not active
$ erltrace -qn 'BEGIN { commit(1); discard(1); } BEGIN { speculate(1); printf("no\n"); } BEGIN { printf("end\n"); exit(0); }'
> end
>
# speculate() of a number that speculation() cannot have given ends the clause, quietly
$ erltrace -qn 'BEGIN { speculate(99); printf("no\n"); } BEGIN { speculate(-1); printf("no\n"); } BEGIN { printf("end\n"); exit(0); } ERROR { printf("error\n"); }'
> end
>
# commit() and discard() of one above nspec are illegal operations
$ erltrace -qn 'BEGIN { commit(2); } BEGIN { discard(-1); } BEGIN { printf("end\n"); exit(0); } ERROR { printf("%d %d %d\n", arg1, arg2, arg4); }'
> 1 1 3
> 2 1 3
> end
>
! erltrace: error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): illegal operation in action #1 at BPF pc 3
! erltrace: error on enabled probe ID 2 (ID 1: dtrace:::BEGIN): illegal operation in action #1 at BPF pc 3
$ erltrace -xnspec=99 -qn 'BEGIN { commit(99); discard(2); } BEGIN { printf("end\n"); exit(0); }'
> end
>
