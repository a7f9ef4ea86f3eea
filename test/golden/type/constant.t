# constants in declarations have types, as everywhere
< t.d
| enum { CMP = -1 > 1u, SHIFT = ~0u >> 28, CUT = (unsigned char)300 / 7, NEG = -7 / 2, COND = 1 ? 5 : 6 };
| enum { FIRST = 3, SECOND = FIRST * 2, THIRD = SECOND | 1 };
| struct s { int a; unsigned b : FIRST + 1; char c[SECOND]; };
| inline int LEN = 4;
| char x[sizeof (struct s)];
| short y[LEN * 2][offsetof(struct s, c)];
| BEGIN
| {
| 	printf("%d %d %d %d %d\n", CMP, SHIFT, CUT, NEG, COND);
| 	printf("%d %d %d\n", sizeof (x), sizeof (y), THIRD);
| 	exit(0);
| }
$ erltrace -qs t.d
> 1 15 6 -3 5
> 12 80 7
>
# a size that is no constant is told as such
$ erltrace -e -xerrtags -n 'int a[nosuch + 1]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRSUB\]
? 1
$ erltrace -e -xerrtags -n 'int a[1 / 0]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRSUB\]
? 1
$ erltrace -e -xerrtags -n 'int a[x = 3]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRSUB\]
? 1
