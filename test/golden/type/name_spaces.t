# struct, union and enum tags each have a name space of their own
$ erltrace -qn 'struct s { int a; char b; }; union s { int a; char b; }; enum s { A = 7 }; BEGIN { printf("%d %d %d\n", sizeof (struct s), sizeof (union s), (enum s)A); exit(0); }'
> 8 4 7
>
# and a typedef may have that name too
$ erltrace -qn 'union u { long l; }; struct u { char c; union u u; }; typedef short u; BEGIN { printf("%d %d %d\n", sizeof (union u), sizeof (struct u), sizeof (u)); exit(0); }'
> 8 16 2
>
# one that is only declared does not become the other
$ erltrace -e -xerrtags -n 'struct f; union f { int a; }; BEGIN { x = sizeof (struct f); }'
!~ \[D_SIZEOF_TYPE\]
? 1
