# expressions whose value is a struct: assignments, commas, choices, and their effects
$ erltrace -qn 'struct s { int a; }; struct s x; BEGIN { pid ? (x.a = 1, x) : x; printf("%d\n", x.a); exit(0); }'
> 1
>
$ erltrace -qn 'struct s { int a; }; struct s x; struct s y; BEGIN { x.a = 3; printf("%d %d\n", (y = x).a, y.a); exit(0); }'
> 3 3
>
$ erltrace -qn 'struct s { int a; }; struct s x; struct s y; BEGIN { y = (x.a = 1, x); printf("%d\n", y.a); exit(0); }'
> 1
>
$ erltrace -qn 'struct s { int a; int b; }; struct s x; this struct s y; struct s z; BEGIN { x.b = 1; this->y.b = 2; z = pid ? x : this->y; printf("%d %d\n", z.b, (pid ? this->y : x).b); exit(0); }'
> 1 2
>
$ erltrace -qn 'struct s { int a; }; struct s v[string]; struct s x; BEGIN { x.a = 7; v["k"] = v["l"] = x; printf("%d %d %d\n", v["k"].a, v["l"].a, v["m"].a); exit(0); }'
> 7 7 0
>
