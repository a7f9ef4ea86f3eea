# integers: decimal, hexadecimal, octal
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d\n", 10, 0x1f, 0X1F, 017, 0); exit(0); }'
> 10 31 31 15 0
>
# the type is the first that fits; unsuffixed decimal stays signed
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", sizeof (1), sizeof (2147483647), sizeof (2147483648), sizeof (4294967295)); exit(0); }'
> 4 4 8 8
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", sizeof (0x7fffffff), sizeof (0xffffffff), sizeof (0x100000000), sizeof (037777777777)); exit(0); }'
> 4 4 8 4
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d %d\n", sizeof (1u), sizeof (1l), sizeof (1ul), sizeof (1ll), sizeof (1ULL), sizeof (1UL)); exit(0); }'
> 4 8 8 8 8 8
>
# hexadecimal 0xffffffff is unsigned: so are comparisons with it, in 64 bits
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", -1 == 0xffffffff, -1 > 1u, -1 > 1); exit(0); }'
> 0 1 0
>
# the edges of 64 bits
$ erltrace -qn 'BEGIN { printf("%d %d %u\n", 9223372036854775807, -9223372036854775807 - 1, 18446744073709551615u); exit(0); }'
> 9223372036854775807 -9223372036854775808 18446744073709551615
>
$ erltrace -qn 'BEGIN { printf("%u %x %d\n", 0xffffffffffffffff, 0xFEDCBA9876543210, 01777777777777777777777 == 0xffffffffffffffff); exit(0); }'
> 18446744073709551615 fedcba9876543210 1
>
