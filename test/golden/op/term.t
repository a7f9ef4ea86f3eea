# not in the kernel: terms can be looked into inside nodes only
# where there is no term: it is not equal, less or greater than a number
$ erltrace -qn 'BEGIN { printf("%d%d%d%d%d %d\n", erlmsg == 5, erlmsg < 5, erlmsg <= 5, erlmsg > 5, 5 >= erlmsg, erlmsg != 5); exit(0); }'
> 00000 1
>
$ erltrace -qn 'BEGIN /!(erlmsg < 5) && !(erlmsg >= 5)/ { printf("neither\n"); exit(0); }'
> neither
>
# and equals "" only
$ erltrace -qn 'BEGIN { this->t = erlmsg; printf("%d%d %d%d\n", erlmsg == "", erlmsg != "", this->t == "", this->t == "x"); exit(0); }'
> 10 10
>
$ erltrace -qn 'BEGIN { printf("%d %d\n", erlmsg == erlret, erlmsg != erlret); exit(0); }'
> 0 1
>

# a source is compared with a string as text in the kernel too
$ erltrace -qn 'BEGIN { printf("%d%d %d\n", erlmsg == "", erlmsg != "", "x" == erlarg(0)); exit(0); }'
> 10 0
>
# there is no order of texts
$ erltrace -e -xerrtags -n 'BEGIN /erlmsg < "a"/ { }'
!~ \[D_OP_INCOMPAT\] 'term_t' < 'string': the order of terms is that of numbers: cast to compare others, as in \(string\)T
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlmsg >= erlret/ { }'
!~ \[D_OP_INCOMPAT\] 'term_t' >= 'term_t'
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlmsg == (int *)0/ { }'
!~ \[D_OP_INCOMPAT\] .*a term is compared with a number, a string or a term
? 1
# NULL might be the number 0, or no term
$ erltrace -e -xerrtags -n 'BEGIN /erlmsg == NULL/ { }'
!~ \[D_OP_INCOMPAT\] a term is not compared with NULL: erltype\(T\) == "none" asks whether there is none
? 1
# a term alone is no condition
$ erltrace -e -xerrtags -n 'BEGIN /erlmsg/ { }'
!~ \[D_PRED_SCALAR\] a predicate must be an integer or a pointer, not 'term_t': compare it, as in T == "true"
? 1
$ erltrace -e -xerrtags -n 'BEGIN { if (erlmsg) { trace(1); } }'
!~ \[D_PRED_SCALAR\] .*compare it
? 1
$ erltrace -e -xerrtags -n 'BEGIN /!erlmsg/ { }'
!~ \[D_OP_SCALAR\] .*compare it, as in T == "true" or T > 0; erltype\(T\) != "none"
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlmsg == 1 && erlret/ { }'
!~ \[D_OP_SCALAR\] operator && .*compare it
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlmsg ? 1 : 2); }'
!~ \[D_OP_SCALAR\] the condition of \?: .*compare it
? 1

# not in the kernel: terms can be looked into inside nodes only
# the branches of ?:
$ erltrace -qn 'BEGIN { x = 1; this->t = x ? erlmsg : erlret; printf("[%s] %s [%s]\n", x ? erlmsg : "no", x ? "yes" : erlmsg, erltype(this->t)); exit(0); }'
> [] yes [none]
>
$ erltrace -e -n 'BEGIN { x = 1; y = x ? erlmsg : 2; y = 7; }'
!~ matched 1 probe
# beside a number a term is a number, beside a text it is text
$ erltrace -qn 'BEGIN { x = 0; printf("%d %d %s %s\n", x ? erlarg(1) : 0, x ? erlarg(1) : -3, x ? erlarg(1) : "-", x ? erlarg(1) : execname[0] == 0 ? "a" : "b"); exit(0); }'
> 0 -3 - b
>
$ erltrace -qn 'BEGIN { x = 1; trace(x ? erlarg(1) : 0); } ERROR { printf("%d %d\n", arg4, arg5); exit(0); }' 2>/dev/null
> 14 1
>
$ erltrace -e -n 'struct s { char text[8]; }; struct s v; BEGIN { x = 1; y = x ? erlmsg : v.text; y = "text"; }'
!~ matched 1 probe
# NULL would be the number 0, or no term
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; trace(x ? erlarg(1) : NULL); }'
!~ \[D_OP_INCOMPAT\] the branches of \?: are a term and NULL: beside a term there can be a number, a string or a term, as in c \? T : 0 or c \? T : ""$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; trace(x ? (int *)8 : erlmsg); }'
!~ \[D_OP_INCOMPAT\] the branches of \?: are a term and 'int \*': 
? 1

# a character constant of several characters is a number, as in C: nobody means that
$ erltrace -e -xerrtags -n 'BEGIN /erlarg(0) == '"'sv'"'/ { }'
!~ \[D_OP_INCOMPAT\] 'sv' is a number, .* write "sv"$
? 1
$ erltrace -e -xerrtags -n 'BEGIN /'"'sv'"' != erlmsg/ { }'
!~ \[D_OP_INCOMPAT\] 'sv' is a number, .* write "sv"$
? 1
$ erltrace -e -n 'BEGIN /erlarg(0) == '"'s'"'/ { }'
!~ matched 1 probe
# nor does a text equal the first strsize bytes of another
$ erltrace -e -xerrtags -xstrsize=4 -n 'BEGIN /erlmsg != "abcde"/ { }'
!~ \[D_OP_INCOMPAT\] the string has 5 bytes, more than the 4 of strsize .*: raise it with -x strsize
? 1
$ erltrace -e -xstrsize=4 -n 'BEGIN /erlmsg == "abcd"/ { }'
!~ matched 1 probe
