# the address of a D variable
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; y = &x; }'
!~ \[D_ADDROF_VAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { self->x = 1; y = &self->x; }'
!~ \[D_ADDROF_VAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { a[1] = 1; y = &a[1]; }'
!~ \[D_ADDROF_VAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { y = &pid; }'
!~ \[D_ADDROF_VAR\]
? 1
# an aggregation
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); x = &@a; }'
!~ \[D_ADDROF_VAR\]
? 1
