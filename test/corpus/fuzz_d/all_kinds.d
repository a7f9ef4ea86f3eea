#pragma D option quiet
typedef struct point { int x, y; unsigned f : 3, g : 5; char name[8]; } point_t;
enum colour { RED, GREEN = 5, BLUE };
union u { long l; char c[8]; };
int x, c; struct point *pp; string s; self int depth; self uint64_t ts; this uint64_t d; int grid[3][4]; long by[string, int];
inline int TWICE[int v] = v * 2;
translator struct point < union u *p > { x = p->l; y = 2; };
BEGIN, END, tick-1s, profile-97hz, dtrace:::ERROR
/pid != 0 && (execname == "a" || arg0 > 0x10UL) ^^ !x/
{
	this->d = timestamp - self->ts; self->ts = 0; by["k", 1]++; grid[1][x] = 3;
	pp = (struct point *)alloca(sizeof (struct point)); pp->x = 1; pp->f = 2;
	@a[probefunc, pid] = quantize(this->d); @b = lquantize(x, 0, 100, 10, -1);
	@c["s"] = llquantize(x, 10, 0, 6, 20); @["x"] = stddev(x); @m = min(-1);
	printf("%-10s %5.3d %x %c %Y %a\n", strjoin("a", lltostr(x, 16)), x, x, 65, walltimestamp, x);
	printa("%s %d %@d\n", @a); trunc(@a, 5); normalize(@a, 1000); clear(@b);
	x = c ? TWICE[3] : xlate <struct point>((union u *)arg0).x;
	if (x > 1) { trace(x); } else if (x) trace("no"); else { stack(3); ustack(); }
	s = substr("hello", -3, 2); tracemem(arg0, 16); print(*pp); exit(sizeof (point_t));
}
