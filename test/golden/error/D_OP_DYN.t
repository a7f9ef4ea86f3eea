# a translated object where a value is needed
$ erltrace -e -xerrtags -n 'struct o { int m; }; translator struct o < int I > { m = I; }; BEGIN { x = xlate <struct o *>(1); }'
!~ \[D_OP_DYN\]
? 1
$ erltrace -e -xerrtags -n 'struct o { int m; }; translator struct o < int I > { m = I; }; BEGIN { trace(1 + xlate <struct o>(1)); }'
!~ \[D_OP_DYN\]
? 1
# operators on aggregations
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); @a++; }'
!~ \[D_OP_DYN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = sum(1); @a += 2; }'
!~ \[D_OP_DYN\]
? 1
# an aggregation as an operand of ?: or of a comma
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); x = pid ? @a : 1; }'
!~ \[D_OP_DYN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { pid ? (@a = count()) : 1; }'
!~ \[D_OP_DYN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); x = (@a, 1); }'
!~ \[D_OP_DYN\]
? 1
