# %u: the bits of the type, unsigned
$ erltrace -qn 'BEGIN { printf("[%u] [%u] [%u] [%u] [%u]\n", (char)-1, (short)-1, -1, -1ll, 7); exit(0); }'
> [255] [65535] [4294967295] [18446744073709551615] [7]
>
$ erltrace -qn 'BEGIN { printf("[%6u] [%-6u] [%06u] [%.4u]\n", 42, 42, 42, 42); exit(0); }'
> [    42] [42    ] [000042] [0042]
>
# hexadecimal: negative numbers in the width of their type
$ erltrace -qn 'BEGIN { printf("[%x] [%x] [%x] [%x]\n", (char)-1, (short)-1, -1, -1ll); exit(0); }'
> [ff] [ffff] [ffffffff] [ffffffffffffffff]
>
$ erltrace -qn 'BEGIN { printf("[%x] [%X] [%#x] [%#X] [%8x] [%-8x] [%08x] [%#8x] [%#08x] [%.4x] [%#.4x]\n", 0xbeef, 0xbeef, 0xbeef, 0xbeef, 0xbeef, 0xbeef, 0xbeef, 0xbeef, 0xbeef, 0xbeef, 0xbeef); exit(0); }'
> [beef] [BEEF] [0xbeef] [0XBEEF] [    beef] [beef    ] [0000beef] [  0xbeef] [0x00beef] [beef] [0xbeef]
>
$ erltrace -qn 'BEGIN { printf("[%#x] [%x]\n", 0, 0); exit(0); }'
> [0] [0]
>
# octal
$ erltrace -qn 'BEGIN { printf("[%o] [%#o] [%6o] [%-6o] [%06o]\n", 8, 8, 8, 8, 8); exit(0); }'
> [10] [010] [    10] [10    ] [000010]
>
$ erltrace -qn 'BEGIN { printf("[%o]\n", (char)-1); exit(0); }'
> [377]
>
# %p has no 0x of its own; ? is the width of an address
$ erltrace -qn 'BEGIN { printf("[%p] [%#p] [%?p] [%0?p] [%-?p]\n", 0x1234, 0x1234, 0x1234, 0x1234, 0x1234); exit(0); }'
> [1234] [0x1234] [            1234] [0000000000001234] [1234            ]
>
$ erltrace -qn 'BEGIN { printf("[%?x] [%0?x]\n", 0x1234, 0x1234); exit(0); }'
> [            1234] [0000000000001234]
>
$ erltrace -qn 'BEGIN { printf("[%p]\n", (char *)0x10); exit(0); }'
> [10]
>
# ' groups by the locale; C has no groups
$ LC_ALL=C erltrace -qn 'BEGIN { printf("%'\''d %'\''u\n", 1234567, 1234567); exit(0); }'
> 1234567 1234567
>
