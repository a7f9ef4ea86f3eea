# a bit-field of no integer
$ erltrace -e -xerrtags -n 'struct s { int *a : 3; }; BEGIN { exit(0); }'
!~ \[D_DECL_BFTYPE\]
? 1
$ erltrace -e -xerrtags -n 'struct s { string a : 3; }; BEGIN { exit(0); }'
!~ \[D_DECL_BFTYPE\]
? 1
