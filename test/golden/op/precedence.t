# from low to high: , = ?: || ^^ && | ^ & == < << + * unary
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", 1 + 2 * 3, (1 + 2) * 3, 10 - 4 - 3); exit(0); }'
> 7 9 3
>
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", 1 << 2 + 1, 100 / 10 / 5, 100 / 10 * 5 % 7); exit(0); }'
> 8 2 1
>
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", 5 & 3 == 3, 1 | 2 ^ 3 & 4, 1 < 2 == 1); exit(0); }'
> 1 3 1
>
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", 1 || 1 ^^ 1, 1 ^^ 0 && 0, 0 && 1 || 1); exit(0); }'
> 1 1 1
>
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", 4 | 1 && 0, 2 ^ 3 | 4, 7 & 3 ^ 1); exit(0); }'
> 0 5 2
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", -2 * -3, - -5, !0 + 1, ~1 + 2); exit(0); }'
> 6 5 2 0
>
$ erltrace -qn 'BEGIN { printf("%d %d\n", 4 > 3 > 2, 16 >> 2 >> 1); exit(0); }'
> 0 2
>
# casts and sizeof bind tighter than binary operators
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", (char)200 + 100, sizeof (char) + 1, (int)3 * 2); exit(0); }'
> 44 2 6
>
