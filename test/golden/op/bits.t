# & | ^ ~ << >>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", 12 & 10, 12 | 10, 12 ^ 10, ~12); exit(0); }'
> 8 14 6 -13
>
$ erltrace -qn 'BEGIN { x = 12; y = 10; printf("%d %d %d %d\n", x & y, x | y, x ^ y, ~x); exit(0); }'
> 8 14 6 -13
>
$ erltrace -qn 'BEGIN { printf("%u %u %d\n", ~0u, ~0UL, ~0); exit(0); }'
> 4294967295 18446744073709551615 -1
>
# right shifts of signed ones keep the sign
$ erltrace -qn 'BEGIN { printf("%d %u %d %d\n", 1 << 31, 1u << 31, 1L << 32, 1 << 4L); exit(0); }'
> -2147483648 2147483648 4294967296 16
>
$ erltrace -qn 'BEGIN { printf("%d %u %d %u\n", -8 >> 1, 0xfffffff8 >> 1, -8L >> 62, 0xfffffffffffffff8 >> 62); exit(0); }'
> -4 2147483644 -1 3
>
$ erltrace -qn 'BEGIN { x = -8; u = 0xfffffff8; n = 1; printf("%d %u %d %u\n", x >> n, u >> n, x << n, u << n); exit(0); }'
> -4 2147483644 -16 4294967280
>
$ erltrace -qn 'BEGIN { x = -8L; u = 0xfffffffffffffff8; n = 62; printf("%d %u\n", x >> n, u >> n); exit(0); }'
> -1 3
>
# the type is the wider one of both operands
$ erltrace -qn 'BEGIN { c = (unsigned char)0x80; printf("%d %d %d\n", c << 1, c << c / c, sizeof (c << 1L)); exit(0); }'
> 256 0 8
>
# mixed widths: sign extension before the operation
$ erltrace -qn 'BEGIN { x = -1; printf("%x %x\n", x & 0xffffffffffL, (unsigned)x & 0xffffffffffL); exit(0); }'
> ffffffffff ffffffff
>
