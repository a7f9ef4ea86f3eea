# this-> lives for one firing: later clauses of the same probe see it
$ erltrace -qn 'BEGIN { this->x = 5; this->s = "abc"; } BEGIN { printf("%d %s\n", this->x, this->s); exit(0); }'
> 5 abc
>
# declared
$ erltrace -qn 'this int x; this uint8_t b; this string s; BEGIN { this->x = 1; this->b = 257; this->s = "s"; printf("%d %d %s\n", this->x, this->b, this->s); exit(0); }'
> 1 1 s
>
# a name of its own beside globals and self->
$ erltrace -qn 'BEGIN { x = 1; self->x = 2; this->x = 3; printf("%d %d %d\n", x, self->x, this->x); exit(0); }'
> 1 2 3
>
