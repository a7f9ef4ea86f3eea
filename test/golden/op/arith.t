# + - * / % on int: division cuts towards zero, the remainder has the sign of the dividend
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d\n", 7 + 3, 7 - 10, -7 * 3, -7 / 2, -7 % 2); exit(0); }'
> 10 -3 -21 -3 -1
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", 7 / -2, 7 % -2, -7 / -2, -7 % -2); exit(0); }'
> -3 1 3 -1
>
# the same where nothing is constant
$ erltrace -qn 'BEGIN { x = -7; y = 2; printf("%d %d %d %d %d\n", x + y, x - y, x * y, x / y, x % y); y = -2; printf("%d %d\n", x / y, x % y); exit(0); }'
> -5 -9 -14 -3 -1
> 3 -1
>
# unsigned: both are taken as unsigned numbers of 64 bits, and what is printed is cut
$ erltrace -qn 'BEGIN { printf("%u %u %u %u\n", -1 / 2u, -7 % 3u, 1u - 2, 4294967295u * 2); exit(0); }'
> 4294967295 0 4294967295 4294967294
>
$ erltrace -qn 'BEGIN { x = -1; u = 2u; printf("%u %u %u\n", x / u, x % u, u - 3); exit(0); }'
> 4294967295 1 4294967295
>
# 64 bits, signed and unsigned
$ erltrace -qn 'BEGIN { x = 0xffffffffffffffff; printf("%u %u %d\n", x / 3, x % 10, (int64_t)x / 3); exit(0); }'
> 6148914691236517205 5 0
>
$ erltrace -qn 'BEGIN { printf("%d %d\n", 3000000000 * 3, -9223372036854775807 + 7); exit(0); }'
> 9000000000 -9223372036854775800
>
# a long and an unsigned int: the long is wide enough
$ erltrace -qn 'BEGIN { printf("%d %d\n", -1L / 2u, -5L + 3u); exit(0); }'
> 0 -2
>
# the smallest integer divided by -1 stays, its remainder is 0: no trap
$ erltrace -qn 'BEGIN { x = -9223372036854775807 - 1; y = -1L; printf("%d %d\n", x / y, x % y); exit(0); }'
> -9223372036854775808 0
>
$ erltrace -qn 'BEGIN { x = -2147483647 - 1; y = -1; printf("%d %d\n", x / y, x % y); exit(0); }'
> -2147483648 0
>
# int results wrap at 32 bits when they are recorded
$ erltrace -qn 'BEGIN { x = 2147483647; printf("%d %d %d\n", x + 1, x * 2, -x - 2); exit(0); }'
> -2147483648 -2 2147483647
>
# but not before: what comes after sees all of it
$ erltrace -qn 'BEGIN { u = 4294967295u; printf("%d %u %d\n", u + 1 == 0, (u + 1) / 2, (long)(u + 1)); exit(0); }'
> 0 2147483648 4294967296
>
