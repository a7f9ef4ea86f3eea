# strsize=N: a string has up to N characters, the NUL not counted, wherever it is kept
$ for n in 1 2 3 7 8 9; do erltrace -xstrsize=$n -qn 'BEGIN { g = "0123456789"; self->s = g; this->t = self->s; a[1] = this->t; m[g] = 1; @[a[1]] = count(); printf("%s %s %s %s %d %d ", g, self->s, this->t, a[1], strlen(g), m["0123456789"]); printa("%s\n", @); exit(0); }'; done | grep .
> 0 0 0 0 1 1 0
> 01 01 01 01 2 1 01
> 012 012 012 012 3 1 012
> 0123456 0123456 0123456 0123456 7 1 0123456
> 01234567 01234567 01234567 01234567 8 1 01234567
> 012345678 012345678 012345678 012345678 9 1 012345678

# what subroutines give, too
$ for n in 1 4 8; do erltrace -xstrsize=$n -qn 'BEGIN { printf("%s %s %s %s %s %s %s %d\n", strjoin("abcde", "fghij"), toupper("abcdefghij"), substr("abcdefghij", 1), lltostr(1234567890), basename("/abcdefghij"), copyinstr((uint64_t)(char *)"abcdefghij"), strchr("abcdefghij", 97), strlen("abcdefghij")); exit(0); }'; done | grep .
> a A  1 / a a 1
> abcd ABCD bcd 1234 abc abcd abcd 4
> abcdefgh ABCDEFGH bcdefgh 12345678 abcdefg abcdefgh abcdefgh 8

# built-in variables
$ for n in 1 3 8; do erltrace -xstrsize=$n -qn 'BEGIN { printf("%s %s %s %s\n", probename, probeprov, execname, curpsinfo->pr_fname); exit(0); }'; done | grep .
> B d e e
> BEG dtr erl erl
> BEGIN dtrace erltrace erltrace

# the default is 256, the most 65536
$ erltrace -qn 'BEGIN { s = "0123456789abcdef"; s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); printf("%d ", strlen(s)); s = strjoin(s, "x"); printf("%d %d\n", strlen(s), index(s, "x")); exit(0); }'
> 256 256 -1
>
$ erltrace -xstrsize=64k -xmaxwork=0 -qn 'BEGIN { s = "0123456789abcdef"; s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); } BEGIN { s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); } BEGIN { s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); printf("%d ", strlen(s)); } BEGIN { s = strjoin(s, "x"); printf("%d %d\n", strlen(s), index(s, "x")); exit(0); }'
> 65536 65536 -1
>
