# an enumerator beyond 32 bits
$ erltrace -e -xerrtags -n 'enum e { A = 2147483647, B }; BEGIN { exit(0); }'
!~ \[D_DECL_ENOFLOW\]
? 1
$ erltrace -e -xerrtags -n 'enum e { A = 0x100000000 }; BEGIN { exit(0); }'
!~ \[D_DECL_ENOFLOW\]
? 1
