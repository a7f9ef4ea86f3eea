# every change of a _Bool leaves 0 or 1: of a global, self->, this->, memory, a bit-field
< t.d
| _Bool g;
| self _Bool s;
| this _Bool t;
| struct b { unsigned x : 3; _Bool f : 1; };
| BEGIN
| {
| 	g ^= 0xffff; printf("%d ", g);
| 	g += 7; printf("%d ", g);
| 	g -= 1; printf("%d ", g);
| 	g |= 6; printf("%d ", g);
| 	g <<= 4; printf("%d ", g);
| 	g--; printf("%d ", g);
| 	g--; printf("%d\n", g);
| 	self->s += 256; printf("%d ", self->s);
| 	self->s++; printf("%d ", self->s);
| 	this->t = 2; this->t *= 3; printf("%d ", this->t);
| 	this->p = (struct b *)alloca(sizeof (struct b));
| 	this->p->f += 2; printf("%d %d\n", this->p->f, this->p->x);
| 	exit(0);
| }
$ erltrace -qs t.d
> 1 1 0 1 1 0 1
> 1 1 1 1 0
>
