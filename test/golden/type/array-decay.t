# an array of D decays to a pointer, elements and members have addresses, and can be written there
< t.d
| int a[4];
| struct s { int x; int y[3]; };
| struct s g;
| this struct s t;
| int *p;
| BEGIN
| {
| 	p = a; p[1] = 5; *p = 3; *(a + 2) = 7; this->q = &a[3]; *this->q = 9;
| 	printf("%d %d %d %d %d %d\n", a[0], a[1], a[2], a[3], *a, &a[3] - a);
| 	this->q = &g.y[1]; this->q[1] = 4; *this->q += 2; g.x = 8; this->r = &g.x; (*this->r)++;
| 	printf("%d %d %d\n", g.y[1], g.y[2], g.x);
| 	this->t.x = 0; this->q = &this->t.x; *this->q = 11;
| 	printf("%d %d\n", this->t.x, this->q == &this->t.x);
| 	i = 1; bcopy(a, g.y, 12); bcopy(&a[i], &this->t.y[0], 8);
| 	printf("%d %d %d %d %d\n", g.y[0], g.y[1], g.y[2], this->t.y[0], this->t.y[1]);
| 	exit(0);
| }
$ erltrace -qs t.d
> 3 5 7 9 3 3
> 2 4 9
> 11 1
> 3 5 7 5 7
>
# outside of the variables it is a fault; what else there is in them is not guarded
$ erltrace -qn 'int a[4]; BEGIN { this->p = &a[0]; this->p[1000000] = 1; } BEGIN { exit(0); } ERROR { printf("fault %d\n", arg4); }'
> fault 1
>
!~ invalid address
# variables as a whole, self-> and associative ones have no address
$ erltrace -e -xerrtags -n 'int x; BEGIN { trace(&x); }'
!~ \[D_ADDROF_VAR\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int y[3]; }; self struct s x; BEGIN { trace(&self->x.y[1]); }'
!~ \[D_ADDROF_VAR\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int y[3]; }; struct s x[int]; int *p; BEGIN { p = x[1].y; }'
!~ \[D_ADDROF_VAR\]
? 1
