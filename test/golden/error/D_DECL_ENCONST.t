# an enumerator that is no constant
$ erltrace -e -xerrtags -n 'int x; enum e { A = x }; BEGIN { exit(0); }'
!~ \[D_DECL_ENCONST\]
? 1
$ erltrace -e -xerrtags -n 'enum e { A = "x" }; BEGIN { exit(0); }'
!~ \[D_DECL_ENCONST\]
? 1
