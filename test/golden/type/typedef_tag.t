# a typedef without a name declares what it has a tag for
$ erltrace -qn 'typedef struct pair { int a; string b; }; struct pair x; BEGIN { x.a = 3; printf("%d\n", x.a); exit(0); }'
> 3
>
$ erltrace -e -xerrtags -n 'typedef int; BEGIN { exit(0); }'
!~ \[D_DECL_USELESS\]
? 1
$ erltrace -e -xerrtags -n 'typedef struct { int a; }; BEGIN { exit(0); }'
!~ \[D_DECL_USELESS\]
? 1
