# a slash ends the predicate only before { ; / or the end, else it divides
$ erltrace -qn 'BEGIN /6 / 2 == 3/ { printf("yes\n"); } BEGIN { exit(0); }'
> yes
>
$ erltrace -qn 'BEGIN /8/2/2 == 2/ { printf("yes\n"); } BEGIN { exit(0); }'
> yes
>
$ erltrace -qn 'BEGIN /1/{ x = 12; x /= 3; printf("%d %d\n", x, x/2/1); } BEGIN { exit(0); }'
> 4 2
>
$ erltrace -qn 'BEGIN /0/ { printf("no\n"); } BEGIN /1/ /* comment */ { exit(3); }'
>
? 3
