# strings: width pads, - to the left, precision cuts
$ erltrace -qn 'BEGIN { printf("[%s] [%8s] [%-8s] [%.2s] [%8.2s] [%-8.2s] [%.0s] [%2s]\n", "hello", "hello", "hello", "hello", "hello", "hello", "hello", "hello"); exit(0); }'
> [hello] [   hello] [hello   ] [he] [      he] [he      ] [hello] [hello]
>
$ erltrace -qn 'BEGIN { printf("[%s] [%3s]\n", "", ""); exit(0); }'
> [] [   ]
>
# built-in strings, joined strings, char arrays
$ erltrace -qn 'BEGIN { printf("%s %s %s\n", probeprov, probename, strjoin("a", "b")); exit(0); }'
> dtrace BEGIN ab
>
$ erltrace -qn 'struct s { char c[4]; } s; BEGIN { s.c[0] = 0x61; s.c[1] = 0x62; printf("[%s] [%4s]\n", s.c, s.c); exit(0); }'
> [ab] [  ab]
>
# without an end: all of the array
$ erltrace -qn 'struct s { char c[2]; char d[2]; } s; BEGIN { s.c[0] = 0x61; s.c[1] = 0x62; s.d[0] = 0x63; printf("[%s]\n", s.c); exit(0); }'
> [ab]
>
# %S: as C writes it in a string
$ erltrace -qn 'BEGIN { printf("[%S]\n", "a\tb\n\"c\\ \001\377"); exit(0); }'
> [a\tb\n\"c\\ \001\377]
>
$ erltrace -qn 'BEGIN { printf("[%S] [%6S] [%-6S]\n", "ab", "a\n", "a\n"); exit(0); }'
> [ab] [   a\n] [a\n   ]
>
# a string longer than strsize is cut when it is traced
$ erltrace -q -xstrsize=8 -n 'BEGIN { printf("[%s]\n", "0123456789"); exit(0); }'
> [01234567]
>
# bytes that are no characters pass as they are
$ erltrace -qn 'BEGIN { printf("%s", "\303\244\377"); exit(0); }' | od -An -tx1
>  c3 a4 ff 0a
