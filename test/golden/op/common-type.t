# nothing is promoted to int: the result has the type of the wider operand
$ erltrace -qn 'BEGIN { c = (unsigned char)253; s = (short)-2; printf("%d %d %d %d\n", c + c, sizeof (c + c), sizeof (c + s), sizeof (s * 1L)); exit(0); }'
> 250 1 2 8
>
$ erltrace -qn 'BEGIN { c = (unsigned char)253; d = c + c; @ = sum(c + c); printf("%d %d %d\n", d, c + c == 506, -c); exit(0); }'
> 250 1 3
>
>               506
# of equal size the unsigned one, and its sign chooses / % >> and <
$ erltrace -qn 'BEGIN { c = (char)-1; u = (unsigned char)1; printf("%d %d %d\n", c < u, c / u == c, (c >> u) > 0); exit(0); }'
> 0 1 1
>
$ erltrace -qn 'BEGIN { c = (char)-8; u = (unsigned char)1; i = 1; printf("%d %d %d\n", c < i, c / 3, c >> i); exit(0); }'
> 1 -2 -4
>
# shifts are no exception: the type is the wider one of both
$ erltrace -qn 'BEGIN { i = -8; printf("%d %d %d %u\n", sizeof (i << 1L), i >> 1, i >> 1L, i >> 1UL); exit(0); }'
> 8 -4 -4 9223372036854775804
>
# enumerations and _Bool count as int
$ erltrace -qn 'enum e { A = 3 }; _Bool b; enum e x; BEGIN { b = 1; x = A; printf("%d %d %d %d\n", b + b, sizeof (b + b), x - 4, sizeof (x + b)); exit(0); }'
> 2 4 -1 4
>
# a constant that is negated or complemented is a constant of its type; a value is not cut
$ erltrace -qn 'BEGIN { u = 1u; @a = sum(-1u); @b = sum(~0u); @c = sum(-u); @d = sum(-1); printa("%@d %@d %@d %@d\n", @a, @b, @c, @d); exit(0); }'
> 4294967295 4294967295 -1 -1
>
# and so is one that is cast
$ erltrace -qn 'BEGIN { @a = sum((uint64_t)-1 >> 60); @b = sum((unsigned char)(250 + 10)); printa("%@d %@d\n", @a, @b); exit(0); }'
> 15 4
>
# a constant in 64 bits: wherever one is needed
< t.d
| enum { BIG = 1 << 31 };
| inline int64_t TERA = 1 << 40;
| char x[(1 << 33) >> 30];
| BEGIN { printf("%d %d %d\n", BIG, TERA, sizeof (x)); exit(0); }
$ erltrace -qs t.d
> 2147483648 1099511627776 8
>
