# typedefs, of everything
< t.d
| typedef unsigned int u32;
| typedef struct pt { int x, y; } pt_t, *ptp_t;
| typedef char name_t[16];
| typedef int (*fn_t)(int, char *);
| typedef u32 again_t;
| u32 g;
| again_t h;
| pt_t p;
| name_t n;
| fn_t f;
| BEGIN
| {
| 	g = -1;
| 	h = g;
| 	p.y = 4;
| 	this->q = (ptp_t)alloca(sizeof (pt_t));
| 	this->q->x = 3;
| 	f = (fn_t)0x1000;
| 	printf("%d %u %d %d %d %d %p\n", g, h, p.y, this->q->x, sizeof (n), sizeof (fn_t), f);
| 	exit(0);
| }
$ erltrace -qs t.d
> 4294967295 4294967295 4 3 16 8 1000
>
# a name that is a type may be a member
< m.d
| struct s { int size_t; int string_len; } g;
| BEGIN { g.size_t = 5; printf("%d\n", g.size_t); exit(0); }
$ erltrace -qs m.d
> 5
>
