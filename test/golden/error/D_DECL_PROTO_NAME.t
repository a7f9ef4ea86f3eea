# a translated argument without a name
$ erltrace -e -xerrtags -n 'provider p { probe a(int x) : (int); }; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_NAME\]
? 1
# void with a name
$ erltrace -e -xerrtags -n 'int (*f)(void x); BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_NAME\]
? 1
$ erltrace -e -xerrtags -n 'provider p { probe a(void v); }; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_NAME\]
? 1
