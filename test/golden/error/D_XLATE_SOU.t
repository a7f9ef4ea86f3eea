# a translator to what has no members
$ erltrace -e -xerrtags -n 'translator int < int I > { m = I; }; BEGIN { exit(0); }'
!~ \[D_XLATE_SOU\]
? 1
$ erltrace -e -xerrtags -n 'struct o; translator struct o < int I > { m = I; }; BEGIN { exit(0); }'
!~ \[D_XLATE_SOU\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(xlate <int>(1)); }'
!~ \[D_XLATE_SOU\]
? 1
