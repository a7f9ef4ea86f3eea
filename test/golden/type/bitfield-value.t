# the value of an assignment to a bit-field is what the field holds afterwards
< t.d
| struct s { unsigned a : 3; int b : 3; };
| BEGIN
| {
| 	this->p = (struct s *)alloca(sizeof (struct s));
| 	printf("%d %d %d\n", (this->p->a = 10), (this->p->b = 5), (this->p->b = -5));
| 	this->p->a = 7;
| 	printf("%d ", ++this->p->a);
| 	printf("%d ", this->p->a--);
| 	printf("%d %d\n", this->p->a, (this->p->a += 5));
| 	this->p->b = 3;
| 	printf("%d %d %d\n", this->p->b++, this->p->b, (this->p->b += 7));
| 	exit(0);
| }
$ erltrace -qs t.d
> 2 -3 3
> 0 0 7 4
> 3 -4 3
>
