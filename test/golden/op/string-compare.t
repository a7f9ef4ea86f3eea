# strings compare with all relational operators, byte by byte
$ erltrace -qn 'BEGIN { printf("%d%d%d%d%d%d\n", "a" == "a", "a" != "a", "a" < "b", "a" <= "a", "a" > "b", "b" >= "a"); exit(0); }'
> 101101
>
$ erltrace -qn 'BEGIN { s = "abc"; t = "abd"; printf("%d%d%d%d%d%d\n", s == t, s != t, s < t, s <= t, s > t, s >= t); exit(0); }'
> 011100
>
# a prefix is smaller, upper case is smaller, the empty string is the smallest
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", "ab" < "abc", "Z" < "a", "" < "a", "" == ""); exit(0); }'
> 1 1 1 1
>
# bytes are unsigned
$ erltrace -qn 'BEGIN { printf("%d %d\n", "\xff" > "a", "\x80" < "\x81"); exit(0); }'
> 1 1
>
# only up to strsize
$ erltrace -xstrsize=8 -qn 'BEGIN { s = "0123456789"; t = "01234567xy"; printf("%d %s\n", s == t, s); exit(0); }'
> 1 01234567
>
# with characters in memory
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(4); this->p[0] = 104; this->p[1] = 105; this->p[2] = 0; printf("%d %d %d\n", stringof(this->p) == "hi", this->p == "hi", "ha" > stringof(this->p)); exit(0); }'
> 1 1 0
>
# a string that is not there
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", strstr("abc", "x") == NULL, strstr("abc", "b") == NULL, strstr("abc", "b") != NULL); exit(0); }'
> 1 0 1
>
# conditional strings
$ erltrace -qn 'BEGIN { x = 1; printf("%s %s\n", x ? "yes" : "no", x == 2 ? "two" : "other"); exit(0); }'
> yes other
>
# one never set, and one not found, is the same as an empty one, wherever it is kept
$ erltrace -qn 'string g; self string s; string a[int]; BEGIN { printf("%d%d%d%d %d%d%d%d %d%d\n", g == "", self->s == "", a[1] == "", strchr("a", 98) == "", g != "", self->s != "", a[1] != "", strstr("a", "b") != "", self->s == g, self->s == "x"); exit(0); }'
> 1111 0000 10
>
