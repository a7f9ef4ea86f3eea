# a member that the translator says nothing of
$ erltrace -e -xerrtags -n 'struct o { int m; int u; }; translator struct o < int I > { m = I; }; BEGIN { trace(xlate <struct o>(1).u); }'
!~ \[D_XLATE_NOCONV\]
? 1
