# a term is kept in this-> only, by a declaration or by what is assigned
$ erltrace -e -n 'this term_t x, y; BEGIN { this->x = erlmsg; this->y = this->x; this->z = this->y; this->z = erlhd(this->z); }'
!~ matched 1 probe
# an undeclared variable that outlives the event keeps the text
$ erltrace -qn 'BEGIN { x = erlmsg; self->y = erlret; z[erlarg(0)] = erlargs; x = "a"; self->y = "b"; z["c"] = "d"; printf("%s %s %s %d\n", x, self->y, z["c"], sizeof(x)); exit(0); }'
> a b d 256
>
# one that is declared keeps what it is declared as
$ erltrace -e -n 'string s; int n; self int64_t m; this string t; BEGIN { s = erlmsg; n = erlmsg; self->m = erlmsg; this->t = erlmsg; }'
!~ matched 1 probe
$ erltrace -e -xerrtags -n 'term_t x;'
!~ \[D_DECL_DYNOBJ\] 'x' cannot be declared with type 'term_t': a term is valid while its event lasts
? 1
$ erltrace -e -xerrtags -n 'self term_t x;'
!~ \[D_DECL_DYNOBJ\] .*keep its text \(string\) or number, or declare it as this
? 1
$ erltrace -e -xerrtags -n 'term_t x[int];'
!~ \[D_DECL_DYNOBJ\]
? 1
$ erltrace -e -xerrtags -n 'int x[string, term_t];'
!~ \[D_DECL_PROTO_TYPE\] key 2 of 'x' cannot be of type 'term_t': .*declare a string or a number
? 1
# it is in no memory of D
$ erltrace -e -xerrtags -n 'this term_t *x;'
!~ \[D_DECL_DYNOBJ\] a pointer to a term
? 1
$ erltrace -e -xerrtags -n 'this term_t x[4];'
!~ \[D_DECL_DYNOBJ\] an array of terms
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; term_t b; };'
!~ \[D_DECL_DYNOBJ\] a member cannot be a term
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(*(term_t *)arg0); }'
!~ \[D_DECL_DYNOBJ\] a pointer to a term
? 1
$ erltrace -e -xerrtags -n 'provider p { probe q(term_t); };'
!~ \[D_DECL_PROTO_TYPE\] a probe parameter cannot be a term
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(sizeof(erlmsg)); }'
!~ \[D_SIZEOF_TYPE\] sizeof cannot be applied to type 'term_t': erlsize\(\) is the size of a term
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(sizeof(term_t)); }'
!~ \[D_SIZEOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(&erlmsg); }'
!~ \[D_ADDROF_VAR\]
? 1
# nothing else becomes a term
$ erltrace -e -xerrtags -n 'BEGIN { this->t = erlmsg; this->t = 5; }'
!~ \[D_OP_INCOMPAT\] 'term_t' = 'int'
? 1
$ erltrace -e -xerrtags -n 'this term_t t; BEGIN { this->t = "x"; }'
!~ \[D_OP_INCOMPAT\] 'term_t' = 'string'
? 1
$ erltrace -e -xerrtags -n 'this term_t t; BEGIN { this->t = 0; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace((term_t)5); }'
!~ \[D_CAST_INVAL\] a value of type 'int' cannot be cast to 'term_t': only an event, and functions such as erlelement\(\), give terms
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->t = erlmsg; this->t++; }'
!~ \[D_OP_SCALAR\] operator \+\+ needs an integer or a pointer, not 'term_t'
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->t = erlmsg; this->t += 1; }'
!~ \[D_OP_VFPTR\]
? 1
# a cast gives a number or a text, and no address
$ erltrace -e -n 'BEGIN { trace((int)erlmsg); trace((uint8_t)erlarg(0)); trace((string)erlmsg); trace(stringof(erlmsg)); trace((term_t)erlmsg); }'
!~ matched 1 probe
$ erltrace -e -xerrtags -n 'BEGIN { trace((char *)erlmsg); }'
!~ \[D_CAST_INVAL\] a value of type 'term_t' cannot be cast to 'char \*': cast it to int64_t or string
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace((double)erlmsg); }'
!~ \[D_CAST_INVAL\]
? 1
# inlines take and give terms
$ erltrace -e -n 'inline term_t plan[term_t t] = erlget("plan", t); inline string name = erlarg(0); inline int64_t n = erlarg(1); BEGIN /plan[erlmsg] == "gold"/ { trace(name); trace(n + 1); }'
!~ matched 1 probe
$ erltrace -e -n 'typedef term_t body_t; this body_t b; BEGIN { this->b = erlmsg; trace(this->b); }'
!~ matched 1 probe
