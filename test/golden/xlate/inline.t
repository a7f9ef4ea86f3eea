# inlines: constants, expressions that are evaluated anew, of every type
< t.d
| inline int TEN = 10;
| inline string NAME = "inl";
| inline int TWICE = x * 2;
| inline uint8_t CUT = 300;
| inline int HUNDRED = TEN * TEN;
| int x;
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_IDENT_UNDEF\] line 3: 
? 1
< u.d
| int x;
| inline int TEN = 10;
| inline string NAME = "inl";
| inline int TWICE = x * 2;
| inline uint8_t CUT = 300;
| inline int HUNDRED = TEN * TEN;
| inline int *PTR = (int *)16;
| int a[TEN];
| BEGIN
| {
| 	x = 4;
| 	printf("%d %s %d %d %d %p\n", TEN, NAME, TWICE, CUT, HUNDRED, PTR);
| 	x = 5;
| 	printf("%d %d %d %d\n", TWICE, sizeof (CUT), sizeof (a), TEN + TWICE * 2);
| 	exit(0);
| }
$ erltrace -qs u.d
> 10 inl 8 44 100 10
> 10 1 40 30
>
# with parameters
< p.d
| inline int add[int a, int b] = a + b;
| inline string pick[int c, string s, string t] = c ? s : t;
| inline int abs[int v] = v < 0 ? -v : v;
| inline uint8_t low[uint64_t v] = v;
| inline int twice[int v] = add[v, v];
| BEGIN
| {
| 	x = 3;
| 	printf("%d %d %d\n", add[1, 2], add[x, add[x, 1]], abs[-7] + abs[x - 10]);
| 	printf("%s %s %d %d\n", pick[1, "yes", "no"], pick[x == 4, "a", "b"], low[0x1ff], twice[x + 1]);
| 	exit(0);
| }
$ erltrace -qs p.d
> 3 7 14
> yes b 255 8
>
# a parameter hides a global of its name, and is one value: precedence stays
< h.d
| int a;
| inline int mul[int a, int b] = a * b;
| BEGIN { a = 100; printf("%d %d\n", mul[1 + 1, 2 + 1], a); exit(0); }
$ erltrace -qs h.d
> 6 100
>
# an inline does not know itself: there is no recursion
$ erltrace -e -xerrtags -n 'inline int f[int a] = a > 0 ? f[a - 1] : 0; BEGIN { trace(f[3]); }'
!~ \[D_VAR_UNDEF\]
? 1
# what it does, it does at every use
$ erltrace -qn 'int x; inline int next = x++; BEGIN { printf("%d ", next); printf("%d %d\n", next, x); exit(0); }'
> 0 1 2
>
