# a translator declared twice
$ erltrace -e -xerrtags -n 'struct o { int m; int u; }; translator struct o < int I > { m = I; }; translator struct o < int J > { m = J; }; BEGIN { exit(0); }'
!~ \[D_XLATE_REDECL\]
? 1
