# %a and %A: a symbol, or the address where none is known
$ erltrace -qn 'BEGIN { printf("[%a] [%A] [%10a] [%-10a]\n", 0x1234, 0x1234, 0x1234, 0x1234); exit(0); }'
> [0x1234] [0x1234] [    0x1234] [0x1234    ]
>
$ erltrace -qn 'BEGIN { printf("[%a]\n", 0); exit(0); }'
> [0x0]
>
$ erltrace -qn 'BEGIN { printf("[%a] [%a]\n", (void *)16, (uint64_t)-1); exit(0); }'
> [0x10] [0xffffffffffffffff]
>
# symbols of this process: module`name, with an offset inside a function
$ erltrace -qn 'BEGIN { printf("%A\n", ucaller); exit(0); }' | grep -cE '^([^`]+`[^+]+(\+0x[0-9a-f]+)?|0x[0-9a-f]+)$'
> 1
