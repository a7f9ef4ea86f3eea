# a translator gives members of one type from a value of another
< t.d
| struct raw { int a; int b; char name[8]; };
| typedef struct info { int sum; long prod; string name; int unset; } info_t;
| translator info_t < struct raw *R > {
| 	sum = R->a + R->b;
| 	prod = R->a * R->b;
| 	name = stringof(R->name);
| };
| BEGIN
| {
| 	this->r = (struct raw *)alloca(sizeof (struct raw));
| 	this->r->a = 6;
| 	this->r->b = 7;
| 	this->r->name[0] = 104;
| 	this->r->name[1] = 105;
| 	printf("%d %d %s\n", xlate <info_t>(this->r).sum, xlate <info_t *>(this->r)->prod,
| 	    xlate <info_t *>(this->r)->name);
| 	exit(0);
| }
$ erltrace -qs t.d
> 13 42 hi
>
# a struct by name, members converted to their types, from an integer
< i.d
| struct parts { uint8_t lo; uint8_t hi; };
| translator struct parts < int X > { lo = X; hi = X >> 8; };
| BEGIN
| {
| 	x = 0x1234;
| 	printf("%x %x %x\n", xlate <struct parts>(x).lo, xlate <struct parts>(x).hi,
| 	    xlate <struct parts *>(x + 1)->lo);
| 	exit(0);
| }
$ erltrace -qs i.d
> 34 12 35
>
# one translator may use another
< n.d
| struct in { int v; };
| struct mid { int w; };
| struct out { int z; };
| translator struct mid < struct in *I > { w = I->v * 10; };
| translator struct out < struct in *I > { z = xlate <struct mid>(I).w + 1; };
| BEGIN
| {
| 	this->i = (struct in *)alloca(4);
| 	this->i->v = 5;
| 	printf("%d\n", xlate <struct out *>(this->i)->z);
| 	exit(0);
| }
$ erltrace -qs n.d
> 51
>
# two to one output, told apart by their input
< o.d
| struct out { int kind; };
| struct a { int x; };
| struct b { int y; };
| translator struct out < struct a *P > { kind = 1; };
| translator struct out < struct b *P > { kind = 2; };
| BEGIN
| {
| 	printf("%d %d\n", xlate <struct out>((struct a *)0).kind, xlate <struct out>((struct b *)0).kind);
| 	exit(0);
| }
$ erltrace -qs o.d
> 1 2
>
