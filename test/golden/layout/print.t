# print(): the type, then the value; integers in hexadecimal
$ erltrace -qn 'BEGIN { print(10); print((uint16_t)65535); print(-1ll); exit(0); }'
> int 0xa
> uint16_t 0xffff
> long long 0xffffffffffffffff
>
# strings and characters
$ erltrace -qn 'BEGIN { print("a\tb"); print((char)65); exit(0); }'
> string "a\tb"
> char 'A'
>
# enums by name; a value without a name by number
$ erltrace -qn 'enum e { ONE = 1, TWO }; BEGIN { print((enum e)2); print((enum e)7); exit(0); }'
> enum e TWO
> enum e 7
>
# structs, nested, with arrays, bit-fields and pointers
< s.d
| struct in { short a; unsigned int b:3; unsigned int c:5; };
| struct out { int x; char name[8]; struct in i; int v[3]; void *p; };
| struct out o;
| BEGIN
| {
| 	o.x = 1; o.name[0] = 0x6f; o.name[1] = 0x6b;
| 	o.i.a = -1; o.i.b = 5; o.i.c = 17;
| 	o.v[0] = 1; o.v[2] = 3; o.p = (void *)0x10;
| 	print(o);
| 	exit(0);
| }
$ erltrace -qs s.d
> struct out {
>     int x = 0x1
>     char [8] name = [ "ok" ]
>     struct in i = {
>         short a = 0xffff
>         unsigned int b :3 = 0x5
>         unsigned int c :5 = 0x11
>     }
>     int [3] v = [ 0x1, 0, 0x3 ]
>     void *p = 0x10
> }
>
# arrays, arrays of structs, unions, typedefs
< a.d
| struct p { int x; int y; };
| struct line { struct p ends[2]; };
| union u { int i; char c[4]; };
| typedef int num_t;
| struct line l; union u u; num_t n; int m[2];
| BEGIN
| {
| 	l.ends[0].x = 1; l.ends[1].y = 2; u.i = 0x434241; n = 3; m[1] = 4;
| 	print(l); print(u); print(n); print(m);
| 	exit(0);
| }
$ erltrace -qs a.d
> struct line {
>     struct p [2] ends = [
>         struct p {
>             int x = 0x1
>             int y = 0
>         },
>         struct p {
>             int x = 0
>             int y = 0x2
>         }
>     ]
> }
> union u {
>     int i = 0x434241
>     char [4] c = [ "ABC" ]
> }
> num_t 0x3
> int [2] [ 0, 0x4 ]
>
# printsize bounds it; ... stands for the rest
$ erltrace -q -xprintsize=8 -n 'struct s { int a; int b; int c; } s; BEGIN { s.a = 1; s.b = 2; s.c = 3; print(s); exit(0); }'
> struct s {
>     int a = 0x1
>     int b = 0x2
>     ...
> }
>

# a pointer: its type, a space, the address
$ erltrace -qn 'struct s *p; BEGIN { print((void *)0x1234); p = (struct s *)0; print(p); this->c = (char *)16; print(this->c); exit(0); }'
> void * 0x1234
> struct s * 0
> char * 0x10
>
# a bit-field is its bits, without a sign; those that are whole integers show no width
< b.d
| struct b { int a : 5; unsigned b : 3; short c : 8; int d : 24; unsigned e : 32; int64_t f : 64; int g : 16; };
| struct b v;
| BEGIN
| {
| 	v.a = -3; v.b = 5; v.c = -1; v.d = -1; v.e = 1; v.f = -1; v.g = -2;
| 	print(v.a); print(v.b); print(v.c); print(v.d); print(v.f); print(v.a + 1); print(v);
| 	exit(0);
| }
$ erltrace -qs b.d
> int 0x1d
> unsigned int 0x5
> short 0xff
> int 0xffffff
> int64_t 0xffffffffffffffff
> int 0xfffffffe
> struct b {
>     int a :5 = 0x1d
>     unsigned int b :3 = 0x5
>     short c = 0xff
>     int d :24 = 0xffffff
>     unsigned int e = 0x1
>     int64_t f = 0xffffffffffffffff
>     int g = 0xfffe
> }
>
