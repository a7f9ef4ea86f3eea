# a statement ?: with a constant condition is the branch that is chosen, an action or not
$ erltrace -e -qn 'BEGIN { 1 ? printf("a\n") : 1; }'
$ erltrace -qn 'BEGIN { 1 ? printf("a\n") : 1; 0 ? printf("b\n") : 1; 0 ? 1 : printf("c\n"); exit(0); }'
> a
> c
>

# an inline, a macro and a comparison of them are constants
$ erltrace -qn 'inline int OPT_time = $1; BEGIN { OPT_time ? printf("time\n") : 1; OPT_time == 2 ? printf("two\n") : printf("not two\n"); exit(0); }' 1
> time
> not two
>

# an aggregation, with and without parentheses
$ erltrace -qn 'inline int OPT = 1; BEGIN { OPT ? @a["x"] = count() : 1; OPT ? 1 : (@b["y"] = count()); OPT ? (@c = sum(3)) : 1; exit(0); }'
>
>   x                                                                 1
>                 3

# one in another, a list, a list in parentheses
$ erltrace -qn 'BEGIN { 1 ? 0 ? printf("a\n") : printf("b\n") : 1; 1 ? (n++, printf("%d\n", n)) : 1; 0, 1 ? printf("d\n") : 1; exit(0); }'
> b
> 1
> d
>

# the branch that is not chosen is thrown away: what it names need not be there
$ erltrace -qn 'BEGIN { 0 ? nosuch(self->nowhere) : 1; 1 ? 1 : stack(); exit(0); }'
>

# what is chosen is a statement like any other
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); 1 ? @a : 1; }'
!~ \[D_AGG_NULL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { commit(1); 1 ? printf("x") : 1; }'
!~ \[D_DREC_COMM\]
? 1

# no constant, no statement: the action has no place
$ erltrace -e -xerrtags -n 'BEGIN { pid ? printf("a\n") : printf("b\n"); }'
!~ \[D_OP_ACT\] .*; use if
? 1
$ erltrace -e -xerrtags -n 'BEGIN { pid ? printf("a\n") : 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { pid ? 1 : (@a = count()); }'
!~ \[D_OP_DYN\] .*an aggregation cannot be an operand of \?:; use if
? 1

# where a value is needed it is that branch too, of its own type
$ erltrace -qn 'BEGIN { printf("%s %d\n", 1 ? "text" : 0, sizeof (0 ? 1L : 2)); this->n = 1 ? 2 : nosuch; trace(this->n); exit(0); }'
> text 4
> 2
