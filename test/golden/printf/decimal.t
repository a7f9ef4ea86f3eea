# %d and %i: width, precision and flags as in C
$ erltrace -qn 'BEGIN { printf("[%d] [%5d] [%-5d] [%05d] [%+d] [% d] [%.3d] [%8.3d] [%-8.3d] [%+05d] [%+-6d]\n", 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42); exit(0); }'
> [42] [   42] [42   ] [00042] [+42] [ 42] [042] [     042] [042     ] [+0042] [+42   ]
>
$ erltrace -qn 'BEGIN { printf("[%d] [%5d] [%-5d] [%05d] [%+d] [% d] [%.3d] [%8.3d]\n", -42, -42, -42, -42, -42, -42, -42, -42); exit(0); }'
> [-42] [  -42] [-42  ] [-0042] [-42] [-42] [-042] [    -042]
>
$ erltrace -qn 'BEGIN { printf("[%i] [%6i] [%-6i]\n", -7, -7, -7); exit(0); }'
> [-7] [    -7] [-7    ]
>
# a precision takes the zero flag away; zero with precision 0 is nothing
$ erltrace -qn 'BEGIN { printf("[%08.3d] [%.0d] [%5.0d]\n", 0, 0, 0); exit(0); }'
> [     000] [0] [    0]
>
# by the type of the argument: no size is needed, and a wrong one does no harm
$ erltrace -qn 'BEGIN { printf("[%d] [%d] [%d] [%d] [%d] [%d]\n", (int8_t)-128, (uint8_t)200, (int16_t)-32768, (uint16_t)65535, (uint32_t)-1, (int64_t)-1); exit(0); }'
> [-128] [200] [-32768] [65535] [4294967295] [-1]
>
$ erltrace -qn 'BEGIN { printf("[%d] [%d]\n", -9223372036854775807 - 1, 18446744073709551615u); exit(0); }'
> [-9223372036854775808] [18446744073709551615]
>
$ erltrace -qn 'BEGIN { printf("[%hd] [%ld] [%lld] [%hhd] [%hi] [%li] [%lli]\n", 70000, 70000, 70000, 70000, 1, 2, 3); exit(0); }'
> [70000] [70000] [70000] [70000] [1] [2] [3]
>
$ erltrace -qn 'BEGIN { printf("[%hu] [%lu] [%llu] [%hx] [%lx] [%llx] [%ho] [%lo] [%llo] [%lX]\n", 70000, 1, 2, 70000, 255, 255, 8, 8, 8, 255); exit(0); }'
> [70000] [1] [2] [11170] [ff] [ff] [10] [10] [10] [FF]
>
