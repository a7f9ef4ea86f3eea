# ?: groups to the right, evaluates one side, and has the common type of both
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", 1 ? 2 : 3, 0 ? 2 : 3, 0 ? 1 : 0 ? 2 : 3); exit(0); }'
> 2 3 3
>
$ erltrace -qn 'BEGIN { x = 2; printf("%s\n", x == 1 ? "one" : x == 2 ? "two" : "many"); exit(0); }'
> two
>
$ erltrace -qn 'BEGIN { x = 1; y = x ? 10 : y++; z = x ? x++ : 0; printf("%d %d %d\n", x, y, z); exit(0); }'
> 2 10 1
>
$ erltrace -qn 'BEGIN { x = 1; printf("%u %d %d\n", x ? -1 : 1u, sizeof (x ? 1 : 1L), x ? -1 : 1L); exit(0); }'
> 4294967295 8 -1
>
$ erltrace -qn 'BEGIN { p = (int *)0; printf("%d\n", p == NULL ? -1 : *p); exit(0); }'
> -1
>
# a pointer and NULL, strings and characters
$ erltrace -qn 'BEGIN { x = 0; p = x ? (char *)4096 : NULL; printf("%p\n", p); exit(0); }'
> 0
>
$ erltrace -qn 'BEGIN { x = 0; s = x ? "a" : probename; printf("%s\n", s); exit(0); }'
> BEGIN
>
# ?: may hold an assignment in parentheses
$ erltrace -qn 'BEGIN { x = 1; x ? (y = 5) : (y = 6); printf("%d\n", y); exit(0); }'
> 5
>
