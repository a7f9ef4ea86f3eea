# string is a value: copied when assigned, "" at first
$ erltrace -qn 'string g; BEGIN { printf("[%s]", g); g = "abc"; h = g; g = "xyz"; printf("%s %s\n", g, h); exit(0); }'
> []xyz abc
>
# characters by index; 0 at the end
$ erltrace -qn 'BEGIN { s = "abc"; i = 1; printf("%d %d %d %c\n", s[0], s[i], s[3], s[2]); exit(0); }'
> 97 98 0 c
>
# cut at strsize
$ erltrace -xstrsize=8 -qn 'BEGIN { s = "0123456789"; printf("%s %d\n", s, strlen(s)); exit(0); }'
> 01234567 8
>
# from a char array
$ erltrace -qn 'char a[8]; BEGIN { a[0] = 104; a[1] = 105; printf("%s %s %d\n", stringof(a), a, strlen(a)); exit(0); }'
> hi hi 2
>
# a char array without a NUL ends where it ends
$ erltrace -qn 'struct s { char a[2]; char b[2]; } g; BEGIN { g.a[0] = 65; g.a[1] = 66; g.b[0] = 67; printf("%s\n", stringof(g.a)); exit(0); }'
> AB
>
# in self->, this->, associative arrays; as key and as value
$ erltrace -qn 'BEGIN { self->s = "a"; this->s = "b"; m["k"] = "c"; m[self->s] = "d"; printf("%s %s %s %s %d\n", self->s, this->s, m["k"], m["a"], m["none"] == NULL); exit(0); }'
> a b c d 1
>
