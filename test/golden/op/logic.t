# && || ^^ ! give int 0 or 1
$ erltrace -qn 'BEGIN { printf("%d%d%d%d %d%d%d%d %d%d%d%d\n", 0 && 0, 0 && 2, 2 && 0, 2 && 3, 0 || 0, 0 || 2, 2 || 0, 2 || 3, 0 ^^ 0, 0 ^^ 2, 2 ^^ 0, 2 ^^ 3); exit(0); }'
> 0001 0111 0110
>
$ erltrace -qn 'BEGIN { z = 0; a = 2; b = 3L; printf("%d%d%d%d %d%d%d%d %d%d%d%d\n", z && z, z && a, a && z, a && b, z || z, z || a, a || z, a || b, z ^^ z, z ^^ a, a ^^ z, a ^^ b); exit(0); }'
> 0001 0111 0110
>
$ erltrace -qn 'BEGIN { x = 5; z = 0; printf("%d%d%d%d%d\n", !0, !5, !x, !z, !!x); exit(0); }'
> 10011
>
# 64 bits count
$ erltrace -qn 'BEGIN { x = 0x100000000; printf("%d%d%d%d\n", x && 1, x || 0, x ^^ 0, !x); exit(0); }'
> 1110
>
# the right side of && and || is evaluated only if needed, both sides of ^^ always
$ erltrace -qn 'BEGIN { x = 0; z = 0; o = 1; r = z && x++; r = o || x++; printf("%d ", x); r = o && x++; r = z || x++; printf("%d ", x); r = o ^^ x++; r = z ^^ x++; printf("%d\n", x); exit(0); }'
> 0 2 4
>
# no fault on the side not taken
$ erltrace -qn 'BEGIN { p = (int *)0; printf("%d %d\n", p != NULL && *p == 1, p == NULL || *p == 1); exit(0); }'
> 0 1
>
# pointers are fine
$ erltrace -qn 'BEGIN { p = (int *)8; printf("%d %d\n", p && 1, !p); exit(0); }'
> 1 0
>
