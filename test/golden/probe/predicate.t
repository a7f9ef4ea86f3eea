# a clause runs if its predicate is not 0: integers and pointers
$ erltrace -qn 'BEGIN /0/ { printf("no\n"); } BEGIN /-1/ { printf("yes\n"); } BEGIN /(void *)8/ { printf("ptr\n"); } BEGIN /(char *)NULL/ { printf("no\n"); } BEGIN { exit(0); }'
> yes
> ptr
>
# it sees what the clauses before it did, and may change things itself
$ erltrace -qn 'BEGIN { x = 1; } BEGIN /x++ == 1/ { printf("%d\n", x); } BEGIN /x == 2 && probename == "BEGIN"/ { printf("both\n"); } BEGIN { exit(0); }'
> 2
> both
>
# a 64-bit value is not cut
$ erltrace -qn 'BEGIN /0x100000000/ { printf("yes\n"); } BEGIN { exit(0); }'
> yes
>
