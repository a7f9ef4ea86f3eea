# the comma gives its last operand, after all others were evaluated
$ erltrace -qn 'BEGIN { x = 0; y = (x++, x++, x + 10); printf("%d %d\n", x, y); exit(0); }'
> 2 12
>
$ erltrace -qn 'BEGIN { x = 1, y = 2; printf("%d %d\n", x, y); exit(0); }'
> 1 2
>
