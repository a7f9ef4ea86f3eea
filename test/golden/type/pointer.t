# pointers to pointers, to functions, with qualifiers
< t.d
| const int ci;
| volatile int *restrict vp;
| const char *const *names;
| int (*fp)(void);
| int (*fa[2])(int, ...);
| void *(*ret)(char *);
| BEGIN
| {
| 	this->v = (long *)alloca(8);
| 	this->pp = (long **)alloca(8);
| 	*this->v = 42;
| 	*this->pp = this->v;
| 	printf("%d %d\n", **this->pp, this->pp[0][0]);
| 	fp = (int (*)(void))0x10;
| 	vp = (int *)0x20;
| 	printf("%p %p %d %d %d\n", fp, vp, sizeof (fa), ret == NULL, ci);
| 	exit(0);
| }
$ erltrace -qs t.d
> 42 42
> 10 20 16 1 0
>
# void * goes both ways
$ erltrace -qn 'int *p; void *v; BEGIN { v = (int *)16; p = v; printf("%p %d\n", p, v == p); exit(0); }'
> 10 1
>
