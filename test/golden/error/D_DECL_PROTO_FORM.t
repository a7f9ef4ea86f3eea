# a translated argument with the name of no native one
$ erltrace -e -xerrtags -n 'provider p { probe a(int x) : (int y); }; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_FORM\]
? 1
# two parameters with one name
$ erltrace -e -xerrtags -n 'provider p { probe a(int x, int x); }; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_FORM\]
? 1
$ erltrace -e -xerrtags -n 'int (*f)(int x, char x); BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_FORM\]
? 1
$ erltrace -e -xerrtags -n 'inline int f[int a, int a] = a; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_FORM\]
? 1
