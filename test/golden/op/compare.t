# == != < <= > >= give int 0 or 1
$ erltrace -qn 'BEGIN { printf("%d%d%d%d%d%d %d\n", 1 == 1, 1 != 1, 1 < 2, 2 <= 2, 1 > 2, 2 >= 3, sizeof (1L == 1L)); exit(0); }'
> 101100 4
>
$ erltrace -qn 'BEGIN { x = -1; y = 1; printf("%d%d%d%d%d%d\n", x == y, x != y, x < y, x <= y, x > y, x >= y); exit(0); }'
> 011100
>
# unsigned against signed: all 64 bits, by the sign of the common type
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", -1 < 1u, -1L < 1u, -1L < 1UL, -1 == 4294967295u); exit(0); }'
> 0 1 0 0
>
$ erltrace -qn 'BEGIN { x = -1; l = -1L; u = 1u; ul = 1UL; printf("%d %d %d %d\n", x < u, l < u, l < ul, x < ul); exit(0); }'
> 0 1 0 0
>
# narrow types keep their values
$ erltrace -qn 'BEGIN { c = (char)-1; uc = (unsigned char)255; printf("%d %d %d\n", c == uc, c == -1, uc == 255); exit(0); }'
> 0 1 1
>
# the edges
$ erltrace -qn 'BEGIN { x = -9223372036854775807 - 1; y = 9223372036854775807; printf("%d %d %d\n", x < y, (uint64_t)x > (uint64_t)y, x - 1 == y); exit(0); }'
> 1 1 1
>
# pointers compare as addresses, unsigned
$ erltrace -qn 'BEGIN { p = (char *)0xffff800000000000; printf("%d %d %d\n", p > (char *)8, p == NULL, p != 0); exit(0); }'
> 1 0 1
>
