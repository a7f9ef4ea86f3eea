# bit-fields are packed as the C compiler of this machine does
< t.d
| struct b { unsigned a : 3; unsigned b : 5; int c : 4; unsigned d : 20; unsigned e : 1; };
| struct z { unsigned a : 3; unsigned : 0; unsigned b : 3; };
| struct w { uint64_t lo : 40; uint64_t hi : 24; };
| BEGIN
| {
| 	printf("%d %d %d\n", sizeof (struct b), sizeof (struct z), sizeof (struct w));
| 	this->p = (struct b *)alloca(sizeof (struct b));
| 	this->p->a = 5;
| 	this->p->b = 17;
| 	this->p->c = -3;
| 	this->p->d = 0xabcde;
| 	this->p->e = 1;
| 	printf("%d %d %d %x %d\n", this->p->a, this->p->b, this->p->c, this->p->d, this->p->e);
| 	printf("%x %x\n", *(uint32_t *)this->p, *((uint32_t *)this->p + 1));
| 	/* too large a value is cut, its neighbours stay */
| 	this->p->a = 10;
| 	this->p->b++;
| 	this->p->c += 1;
| 	printf("%d %d %d %x\n", this->p->a, this->p->b, this->p->c, this->p->d);
| 	this->w = (struct w *)alloca(sizeof (struct w));
| 	*(uint64_t *)this->w = 0x123456789abcdef0;
| 	printf("%x %x\n", this->w->lo, this->w->hi);
| 	exit(0);
| }
$ erltrace -qs t.d
> 8 8 8
> 5 17 -3 abcde 1
> abcded8d 1
> 2 18 -2 abcde
> 789abcdef0 123456
>
# a signed field of one bit is 0 or -1; bit-fields promote to int
< s.d
| struct s { int b : 1; unsigned u : 3; } g;
| BEGIN
| {
| 	g.b = 1;
| 	g.u = 7;
| 	printf("%d %d %d\n", g.b, g.u, -1 < g.u);
| 	exit(0);
| }
$ erltrace -qs s.d
> -1 7 1
>
