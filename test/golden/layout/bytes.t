# a struct that is no text: its bytes
$ erltrace -qn 'struct s { int a; int b; } s; BEGIN { s.a = 0x64636261; s.b = 0x10203; trace(s); exit(0); }'
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 61 62 63 64 03 02 01 00                          abcd....
>
# char arrays that are text print as text; -xrawbytes: as bytes
$ erltrace -qn 'struct s { char c[8]; } s; BEGIN { s.c[0] = 0x68; s.c[1] = 0x69; trace(s.c); exit(0); }'
> hi
$ erltrace -qn 'struct s { char c[8]; } s; BEGIN { s.c[0] = 0x68; s.c[1] = 0x69; s.c[4] = 1; trace(s.c); exit(0); }'
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 68 69 00 00 01 00 00 00                          hi......
>
$ erltrace -q -xrawbytes -n 'struct s { char c[8]; } s; BEGIN { s.c[0] = 0x68; s.c[1] = 0x69; trace(s.c); exit(0); }'
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 68 69 00 00 00 00 00 00                          hi......
>
# with rawbytes a string is its whole array of strsize
$ erltrace -q -xrawbytes -xstrsize=16 -n 'BEGIN { trace("abc"); exit(0); }'
>
>              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
>          0: 61 62 63 00 00 00 00 00 00 00 00 00 00 00 00 00  abc.............
>
