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
>         unsigned int b:3 = 0x5
>         unsigned int c:5 = 0x11
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
