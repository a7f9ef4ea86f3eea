# a bit-field of width 0 pads up to its type's boundary, at the end of a struct too, as C's compilers do
$ erltrace -qn 'struct a { unsigned x; long : 0; }; struct b { struct a a; char c; }; struct d { char c; int : 0; short s; }; struct e { int : 0; char c; }; union u { int : 0; char c; }; BEGIN { printf("%d %d %d %d %d %d %d\n", sizeof (struct a), sizeof (struct b), offsetof(struct b, c), offsetof(struct d, s), sizeof (struct d), sizeof (struct e), sizeof (union u)); exit(0); }'
> 8 12 8 4 6 1 1
>
