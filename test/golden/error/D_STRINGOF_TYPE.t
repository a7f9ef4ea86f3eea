# stringof() of what is no text
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN { x = stringof(g); }'
!~ \[D_STRINGOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'int a[3]; BEGIN { x = stringof(a); }'
!~ \[D_STRINGOF_TYPE\]
? 1
# an action, an aggregation
$ erltrace -e -xerrtags -n 'BEGIN { x = stringof(trace(1)); }'
!~ \[D_STRINGOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); x = stringof(@a); }'
!~ \[D_STRINGOF_TYPE\]
? 1
