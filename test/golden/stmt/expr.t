# statements: lists, empty ones, the last ; optional, expressions without effect on output
$ erltrace -qn 'BEGIN { x = 1; ; ; y = 2 ; printf("%d %d\n", x, y) ; exit(0) }'
> 1 2
>
# an expression on its own is evaluated
$ erltrace -qn 'BEGIN { x++; (x += 2); x; printf("%d\n", x); exit(0); }'
> 3
>
