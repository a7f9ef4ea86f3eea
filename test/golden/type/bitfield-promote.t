# a bit-field is as wide as its bits: next to a wider int the type is int, also just assigned,
# behind a comma or a +
$ erltrace -qn 'struct s { unsigned b : 5; }; struct s v; BEGIN { printf("%d%d%d%d%d%d%d\n", v.b > -1, +v.b > -1, (v.b = 3) > -1, (0, v.b) > -1, ++v.b > -1, v.b++ > -1, (v.b += 1) > -1); exit(0); }'
> 1111111
>
# so is what is computed from bit-fields alone
$ erltrace -qn 'struct s { unsigned b : 5; unsigned c : 9; }; struct s v; BEGIN { printf("%d%d%d\n", v.b + v.c > -1, v.b * 2u > -1, (v.b ? v.c : v.b) > -1); exit(0); }'
> 101
>
# what + gives is a number, and no bit-field any more
$ erltrace -qn 'struct s { int64_t a : 64; int b : 32; }; struct s v; BEGIN { printf("%d %d %d\n", sizeof (+v.a), sizeof (+v.b), sizeof (1 ? v.b : 0)); exit(0); }'
> 8 4 4
>
