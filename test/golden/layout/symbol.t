# an address that nothing is known of stays a number; two spaces, 50 columns
$ erltrace -qn 'BEGIN { sym(16); exit(0); }' | sed 's/$/|/'
>   0x10                                              |
$ for a in func mod usym ufunc umod uaddr sym; do erltrace -qn "BEGIN { $a(0x1234); exit(0); }"; done | tr -d ' '
> 0x1234
> 0x1234
> 0x1234
> 0x1234
> 0x1234
> 0x1234
> 0x1234
# as keys they sort by address
$ erltrace -qn 'BEGIN { @[usym(0x30)] = count(); @[usym(0x20)] = count(); @[usym(0x20)] = count(); printa("%A %@d\n", @); exit(0); }'
> 0x30 1
> 0x20 2
>
$ erltrace -qn 'BEGIN { printf("[%a] [%8a] [%-8a] [%A]\n", 0x40, 0x40, 0x40, 0x40); exit(0); }'
> [0x40] [    0x40] [0x40    ] [0x40]
>
