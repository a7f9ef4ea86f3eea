# x op= e reads x before e
$ erltrace -qn 'BEGIN { x = 1; x += (x = 10); y = 2; y *= y++; z = 7; z -= (z = 3, z); printf("%d %d %d\n", x, y, z); exit(0); }'
> 11 4 4
>
# of every kind: self->, this->, elements, members, bit-fields, memory
< t.d
| struct s { int a; unsigned b : 5; int c; };
| self struct s t;
| struct s g[int];
| struct s h;
| int arr[4];
| BEGIN
| {
| 	self->x = 1; self->x += (self->x = 10);
| 	this->y = 1; this->y += (this->y = 10);
| 	as["k"] = 1; as["k"] += (as["k"] = 10);
| 	arr[2] = 1; i = 2; arr[i] += (arr[2] = 10, i = 0, 10);
| 	h.b = 3; h.b += (h.b = 9);
| 	this->p = (int *)alloca(8); this->p[1] = 1; this->p[1] += (this->p[1] = 10);
| 	printf("%d %d %d %d %d %d\n", self->x, this->y, as["k"], arr[2], h.b, this->p[1]);
| 	self->t.a = 1; self->t.a += (self->t.a = 10, self->t.c = 5, 10);
| 	g[1].a = 1; g[1].a += (g[1].c = 6);
| 	printf("%d %d %d %d\n", self->t.a, self->t.c, g[1].a, g[1].c);
| 	exit(0);
| }
$ erltrace -qs t.d
> 11 11 11 11 12 11
> 11 5 7 6
>
# the value is what was stored
$ erltrace -qn 'uint8_t b; int8_t c; BEGIN { b = 250; @a = sum(b += 10); @b = sum(c = 200); @c = sum(++b * 100); @d = sum(b-- + 0); printa("%@d %@d %@d %@d\n", @a, @b, @c, @d); exit(0); }'
> 4 -56 500 5
>
