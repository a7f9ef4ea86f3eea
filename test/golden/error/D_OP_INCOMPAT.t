# operands that do not go together
$ erltrace -e -xerrtags -n 'BEGIN { x = "a" - 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; x = "a"; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace("a" == 1); }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (int *)8; q = (char *)8; x = p - q; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; } g; struct t { int a; } h; BEGIN { g = h; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = pid ? "a" : 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
# an action is void, an aggregation dynamic: neither fits
$ erltrace -e -xerrtags -n 'BEGIN { x = trace(1); }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1 + exit(0); }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); x = @a; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = count(); }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); x = @a + 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); x = @a == 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = (@a = count()); }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = stack(); }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = pid ? trace(1) : 2; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'inline int x = trace(1); BEGIN { exit(0); }'
!~ \[D_OP_INCOMPAT\]
? 1
# a pointer to void or to a function has no next element
$ erltrace -e -xerrtags -n 'BEGIN { p = (void *)8; q = p + 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (void *)8; q = p - p; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (void *)8; q = p[1]; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'int (*f)(int); BEGIN { g = f + 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
# an operator that changes, with a string
$ erltrace -e -xerrtags -n 'BEGIN { i = 1; i += "x"; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { s = "x"; s += 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { s = "x"; s -= "x"; }'
!~ \[D_OP_INCOMPAT\]
? 1
# a variable that has got a term keeps its text: what is to be a number is declared
$ erltrace -e -xerrtags -n 'BEGIN { self->n = erlarg(0); } BEGIN /self->n > 100/ { }'
!~ \[D_OP_INCOMPAT\] 'string' > 'int': these types are not compatible: 'self->n' keeps the text of the term .*, as in 'self int64_t n;'$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { n["a"] = erlarg(0); x = n["a"] * 2; }'
!~ \[D_OP_ARITH\] .*'n' keeps the text of the term .*, as in 'int64_t n\[string\];'$
? 1
$ erltrace -q -e -n 'self int64_t n; BEGIN { self->n = erlarg(0); } BEGIN /self->n > 100/ { }'
