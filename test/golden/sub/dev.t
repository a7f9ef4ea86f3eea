# getmajor, getminor: of a device number
$ erltrace -qn 'BEGIN { d = 0x800011; printf("%d %d\n", getmajor(d), getminor(d)); exit(0); }'
> 8 17
>
