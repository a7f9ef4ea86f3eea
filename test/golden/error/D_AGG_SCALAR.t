# an argument that is no scalar
$ erltrace -e -xerrtags -n 'BEGIN { @a = sum("x"); }'
!~ \[D_AGG_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = quantize(probename); }'
!~ \[D_AGG_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN { @a = max(g); }'
!~ \[D_AGG_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize("a", 0, 10); }'
!~ \[D_AGG_SCALAR\]
? 1
# a variable that has got a term keeps its text
$ erltrace -e -xerrtags -n 'BEGIN { self->n = erlarg(0); @ = max(self->n); }'
!~ \[D_AGG_SCALAR\] .*'self->n' keeps the text of the term .*, as in 'self int64_t n;'$
? 1
