# a translated struct can be assigned: all members are copied, those not translated become 0
< t.d
| struct in { int a; };
| typedef struct out { int x; string name; struct out *p; uint32_t b:3; } out_t;
| translator out_t < struct in *I > { x = I->a; name = strjoin("n", lltostr(I->a)); b = I->a; };
| out_t g, all[int];
| BEGIN
| {
| 	this->p = (struct in *)alloca(sizeof (struct in));
| 	this->p->a = 5;
| 	g.p = (out_t *)16;
| 	g = xlate <out_t>(this->p);
| 	this->o = xlate <out_t>(this->p);
| 	all[3] = xlate <out_t>(this->p);
| 	this->p->a = 7;
| 	self->s = *xlate <out_t *>(this->p);
| 	printf("%d %s %p %d\n", g.x, g.name, g.p, g.b);
| 	printf("%d %s, %d %s, %d %s\n", this->o.x, this->o.name, all[3].x, all[3].name,
| 	    self->s.x, self->s.name);
| 	exit(0);
| }
$ erltrace -qs t.d
> 5 n5 0 5
> 5 n5, 5 n5, 7 n7
>
# under a condition
$ erltrace -qn 'struct o { int m; }; translator struct o < int I > { m = I; }; struct o q; BEGIN { if (pid) q = xlate <struct o>(9); trace(q.m); exit(0); }'
> 9
# a pointer cannot be kept, nor a struct of another type take it
$ erltrace -e -xerrtags -n 'struct o { int m; }; translator struct o < int I > { m = I; }; BEGIN { x = xlate <struct o *>(1); }'
!~ \[D_OP_DYN\] a translated pointer cannot be kept
? 1
$ erltrace -e -xerrtags -n 'struct o { int m; }; translator struct o < int I > { m = I; }; BEGIN { x = 1; x = xlate <struct o>(1); }'
!~ \[D_OP_INCOMPAT\]
? 1
# each member is an assignment of its own: what is evaluated again must stay the same
$ erltrace -e -xerrtags -n 'struct o { int m; }; translator struct o < int I > { m = I; }; BEGIN { x[i++] = xlate <struct o>(1); }'
!~ \[D_OP_DYN\] each member is translated by itself
? 1
