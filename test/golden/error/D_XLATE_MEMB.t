# a member that is not there, or twice
$ erltrace -e -xerrtags -n 'struct o { int m; }; translator struct o < int I > { x = I; }; BEGIN { exit(0); }'
!~ \[D_XLATE_MEMB\]
? 1
$ erltrace -e -xerrtags -n 'struct o { int m; }; translator struct o < int I > { m = I; m = 2; }; BEGIN { exit(0); }'
!~ \[D_XLATE_MEMB\]
? 1
