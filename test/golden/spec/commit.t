# what is recorded under speculate() comes out at commit(), in its order
< t.d
| BEGIN
| {
| 	self->s = speculation();
| 	printf("id %d\n", self->s);
| }
| BEGIN
| {
| 	speculate(self->s);
| 	printf("first %d %s\n", 1, "text");
| }
| BEGIN
| {
| 	speculate(self->s);
| 	printf("second\n");
| 	trace(5);
| 	printf("\n");
| }
| BEGIN { printf("before\n"); }
| BEGIN { commit(self->s); }
| tick-1ms { printf("after\n"); exit(0); }
$ erltrace -qs t.d
> id 1
> before
> first 1 text
> second
> 5
> after
>
