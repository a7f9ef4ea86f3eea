# void beside other parameters
$ erltrace -e -xerrtags -n 'int (*f)(int, void); BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_VOID\]
? 1
$ erltrace -e -xerrtags -n 'provider p { probe a(void, int x); }; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_VOID\]
? 1
