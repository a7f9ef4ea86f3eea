# -L: every *.d of the folder is read before the script, in the order of depends_on
< lib/a.d
| #pragma D depends_on library b.d
| inline int A = B + 1;
< lib/b.d
| #pragma D depends_on library c.d
| inline int B = C + 1;
< lib/c.d
| inline int C = 40;
| typedef struct point { int x; int y; } point_t;
| translator point_t < int V > { x = V; y = -V; };
< lib/not-read.txt
| this is no D
< t.d
| BEGIN { printf("%d %d %d\n", A, B, xlate <point_t>(A).y); exit(0); }
$ erltrace -L lib -qs t.d
> 42 41 -42
>
# several folders; a later one replaces a library of the same name
< lib2/c.d
| inline int C = 50;
| inline int D = 1;
$ erltrace -L lib -L lib2 -qn 'BEGIN { printf("%d %d\n", A, D); exit(0); }'
> 52 1
>
# a library that depends on a provider that is not there is left out
< lib3/p.d
| #pragma D depends_on provider nosuch
| inline int P = this is not even D;
< lib3/q.d
| #pragma D depends_on provider dtrace
| inline int Q = 3;
$ erltrace -L lib3 -qn 'BEGIN { printf("%d\n", Q); exit(0); }'
> 3
>
$ erltrace -L lib3 -e -xerrtags -n 'BEGIN { printf("%d\n", P); exit(0); }'
!~ \[D_IDENT_UNDEF\]
? 1
# an error in a library names its file and line
< bad/e.d
| inline int E =
| 	nosuch;
$ erltrace -L bad -e -xerrtags -n 'BEGIN { exit(0); }'
!~ \[D_IDENT_UNDEF\] "bad/e.d", line 2: 
? 1
# a circle
< circle/x.d
| #pragma D depends_on library y.d
| inline int X = 1;
< circle/y.d
| #pragma D depends_on library x.d
| inline int Y = 1;
$ erltrace -L circle -e -xerrtags -n 'BEGIN { exit(0); }'
!~ \[D_PRAGMA_DEPEND\]
? 1
# no such folder
$ erltrace -L nosuch -e -n 'BEGIN { exit(0); }'
!~ nosuch
? 1
