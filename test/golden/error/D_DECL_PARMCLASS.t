# a parameter with a storage class
$ erltrace -e -xerrtags -n 'int (*f)(static int a); BEGIN { exit(0); }'
!~ \[D_DECL_PARMCLASS\]
? 1
$ erltrace -e -xerrtags -n 'provider p { probe a(self int x); }; BEGIN { exit(0); }'
!~ \[D_DECL_PARMCLASS\]
? 1
