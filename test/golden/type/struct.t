# struct and union are laid out as in C
< t.d
| struct a { char c; int i; short s; long l; char d; };
| union u { char c; int i; long l; char b[13]; };
| struct in { int x; struct { char p; short q; } n; union { int i; char b[4]; }; struct a a[2]; };
| struct list { struct list *next; int v; };
| BEGIN
| {
| 	printf("%d %d %d %d\n", sizeof (struct a), sizeof (union u), sizeof (struct in),
| 	    sizeof (struct list));
| 	printf("%d %d %d %d %d\n", offsetof(struct a, c), offsetof(struct a, i),
| 	    offsetof(struct a, s), offsetof(struct a, l), offsetof(struct a, d));
| 	printf("%d %d %d %d\n", offsetof(union u, b), offsetof(struct in, n),
| 	    offsetof(struct in, b), offsetof(struct in, a));
| 	exit(0);
| }
$ erltrace -qs t.d
> 32 16 80 16
> 0 4 8 16 24
> 0 4 8 16
>
# written and read through alloca()
< rw.d
| struct p { char c; int i; short s; long l; unsigned char uc; };
| BEGIN
| {
| 	this->p = (struct p *)alloca(2 * sizeof (struct p));
| 	this->p->c = -1;
| 	this->p->i = -2;
| 	this->p->s = 70000;
| 	this->p->l = 0x123456789abcdef0;
| 	this->p->uc = 300;
| 	this->p[1].i = 9;
| 	printf("%d %d %d %x %d %d\n", this->p->c, this->p->i, this->p->s, this->p->l,
| 	    this->p->uc, (this->p + 1)->i);
| 	printf("%d %d\n", (*this->p).i, *(int *)((char *)this->p + 4));
| 	exit(0);
| }
$ erltrace -qs rw.d
> -1 -2 4464 123456789abcdef0 44 9
> -2 -2
>
# by value in D variables: members are set one by one, the whole is assigned
< val.d
| struct pt { int x; int y; char name[8]; };
| struct pt g, h;
| struct pt a[int];
| self struct pt s;
| this struct pt t;
| BEGIN
| {
| 	g.x = 1;
| 	g.y = 2;
| 	h = g;
| 	h.y = 20;
| 	self->s = h;
| 	this->t.x = 7;
| 	a[5] = g;
| 	printf("%d %d %d %d %d %d %d\n", g.x, g.y, h.x, h.y, self->s.y, this->t.x, a[5].y);
| 	exit(0);
| }
$ erltrace -qs val.d
> 1 2 1 20 20 7 2
>
# members of members, pointers to structs, a list
< list.d
| struct node { struct node *next; int v; };
| BEGIN
| {
| 	this->a = (struct node *)alloca(sizeof (struct node));
| 	this->b = (struct node *)alloca(sizeof (struct node));
| 	this->a->v = 1;
| 	this->b->v = 2;
| 	this->a->next = this->b;
| 	this->b->next = NULL;
| 	printf("%d %d %d\n", this->a->v, this->a->next->v, this->a->next->next == NULL);
| 	exit(0);
| }
$ erltrace -qs list.d
> 1 2 1
>
