# copyin, copyinto, copyinstr, bcopy: from memory of the process (here: our own scratch)
< t.d
| struct s { int a; char t[8]; };
| BEGIN
| {
| 	this->p = (struct s *)alloca(sizeof (struct s));
| 	this->p->a = 1234;
| 	this->p->t[0] = 104;
| 	this->p->t[1] = 105;
| 	this->p->t[2] = 0;
| 	this->q = (struct s *)copyin((uintptr_t)this->p, sizeof (struct s));
| 	printf("%d %s %d\n", this->q->a, this->q->t, this->p != this->q);
| 	printf("%s %s\n", copyinstr((uintptr_t)this->p->t), copyinstr((uintptr_t)this->p->t, 1));
| 	this->r = (struct s *)alloca(sizeof (struct s));
| 	copyinto((uintptr_t)this->p, sizeof (struct s), this->r);
| 	printf("%d %s\n", this->r->a, stringof(this->r->t));
| 	this->r->a = 7;
| 	bcopy(this->r, this->p, 4);
| 	printf("%d %d\n", this->p->a, this->q->a);
| 	printf("%d\n", *(int *)copyin((uintptr_t)this->p, 4));
| 	exit(0);
| }
$ erltrace -qs t.d
> 1234 hi 1
> hi h
> 1234 hi
> 7 1234
> 7
>
