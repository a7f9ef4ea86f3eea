# globals: by assignment or declared; 0 or "" at first; shared by all clauses
$ erltrace -qn 'int x; string s; BEGIN { printf("%d [%s]\n", x, s); x = 5; s = "a"; } BEGIN { printf("%d [%s]\n", x, s); y = x + 1; exit(0); } END { printf("%d %d\n", x, y); }'
> 0 []
> 5 [a]
> 5 6
>
# the first assignment gives the type
$ erltrace -qn 'BEGIN { c = (char)300; l = 1L; u = 1u; printf("%d %d %d %d\n", c, sizeof (c), sizeof (l), sizeof (u)); l = 0x7fffffffffffffff; printf("%d\n", l); u = -1; printf("%d\n", u); exit(0); }'
> 44 1 8 4
> 9223372036854775807
> 4294967295
>
# several in one declaration
$ erltrace -qn 'int a, *b, c[2]; BEGIN { a = 1; b = (int *)2; c[1] = 3; printf("%d %p %d\n", a, b, c[1]); exit(0); }'
> 1 2 3
>
# used in a clause above the declaration: an error
$ erltrace -e -xerrtags -n 'BEGIN { trace(x); } int x;'
!~ \[D_IDENT_UNDEF\]
? 1
# an extern declaration is one without storage
$ erltrace -qn 'extern int x; int x; BEGIN { x = 3; printf("%d\n", x); exit(0); }'
> 3
>
