# arrays of one and of several dimensions
< t.d
| int a[4];
| short m[2][3];
| char c[2][2][2];
| BEGIN
| {
| 	a[0] = 1;
| 	a[3] = 4;
| 	i = 2;
| 	a[i] = 30;
| 	printf("%d %d %d %d\n", a[0], a[1], a[i], a[i + 1]);
| 	m[1][2] = 12;
| 	m[0][1] = -1;
| 	j = 1;
| 	printf("%d %d %d %d %d\n", m[1][2], m[0][1], m[0][j], m[j][0], sizeof (m));
| 	c[1][0][1] = 65;
| 	printf("%d %d %d\n", c[1][0][1], sizeof (c), sizeof (c[0]));
| 	exit(0);
| }
$ erltrace -qs t.d
> 1 0 30 4
> 12 -1 -1 0 12
> 65 8 4
>
# arrays in structs, pointers to arrays, arrays of pointers
< s.d
| struct s { int n; int v[2][3]; char *names[2]; };
| BEGIN
| {
| 	this->p = (struct s *)alloca(sizeof (struct s));
| 	this->p->v[1][2] = 6;
| 	this->p->names[1] = (char *)0x2000;
| 	this->row = (int (*)[3])this->p->v;
| 	printf("%d %d %d %d %p\n", sizeof (struct s), this->p->v[1][2], this->row[1][2],
| 	    *(this->p->v[1] + 2), this->p->names[1]);
| 	exit(0);
| }
$ erltrace -qs s.d
> 48 6 6 6 2000
>
# in this-> and self-> by declaration, and as the value of an associative array
< d.d
| this int t[3];
| self int s[3];
| BEGIN
| {
| 	this->t[1] = 5;
| 	self->s[2] = 6;
| 	printf("%d %d\n", this->t[1], self->s[2]);
| 	exit(0);
| }
$ erltrace -qs d.d
> 5 6
>
