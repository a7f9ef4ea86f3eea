# assigning 0 to a self-> or associative struct deletes it: it is all zeroes then
< t.d
| struct s { int a; char b[4]; };
| self struct s x;
| struct s y[int, string];
| BEGIN
| {
| 	self->x.a = 1; self->x.b[2] = 2;
| 	y[1, "k"].a = 3; y[2, "k"].a = 4;
| 	printf("%d %d %d %d\n", self->x.a, self->x.b[2], y[1, "k"].a, y[2, "k"].a);
| 	self->x = 0; y[1, "k"] = 0;
| 	printf("%d %d %d %d\n", self->x.a, self->x.b[2], y[1, "k"].a, y[2, "k"].a);
| 	y[2, "k"] = NULL; self->x.a = 5;
| 	printf("%d %d %d\n", self->x.a, self->x.b[2], y[2, "k"].a);
| 	exit(0);
| }
$ erltrace -qs t.d
> 1 2 3 4
> 0 0 0 4
> 5 0 0
>
# only of these: a struct in a global or this-> variable is not deleted
$ erltrace -e -xerrtags -n 'struct s { int a; }; struct s g; BEGIN { g = 0; }'
!~ \[D_OP_INCOMPAT\]
? 1
