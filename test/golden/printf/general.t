# * takes the width from the arguments; below zero it is - and the width
$ erltrace -qn 'BEGIN { printf("[%*d] [%-*d] [%*d] [%0*d]\n", 5, 42, 5, 42, -5, 42, 5, 42); exit(0); }'
> [   42] [42   ] [42   ] [00042]
>
$ erltrace -qn 'BEGIN { printf("[%*s] [%-*s] [%*s] [%*c]\n", 4, "ab", 4, "ab", -4, "ab", 3, 120); exit(0); }'
> [  ab] [ab  ] [ab  ] [  x]
>
# and the precision; below zero it is none
$ erltrace -qn 'BEGIN { printf("[%.*d] [%*.*d] [%.*s] [%*.*s] [%.*s]\n", 3, 7, 6, 3, 7, 2, "hello", 6, 2, "hello", -1, "hello"); exit(0); }'
> [007] [   007] [he] [    he] [hello]
>
# the size is computed when the probe fires
$ erltrace -qn 'BEGIN { x = 3; printf("[%*d]\n", x + 1, 1); exit(0); }'
> [   1]
>
# %% and text around conversions
$ erltrace -qn 'BEGIN { printf("100%% %d%% %s%%\n", 50, "x"); exit(0); }'
> 100% 50% x%
>
$ erltrace -qn 'BEGIN { printf("no newline"); printf("; "); printf("same line\n"); exit(0); }'
> no newline; same line
>
# escapes in the format: octal, hexadecimal, and what is none stays
$ erltrace -qn 'BEGIN { printf("\101\x42\tC\q\n"); exit(0); }'
> AB	C\q
>
# many arguments
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19); exit(0); }'
> 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
>
