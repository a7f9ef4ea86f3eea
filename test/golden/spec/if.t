# speculate() and commit() inside of if
< t.d
| BEGIN
| {
| 	self->s = speculation();
| }
| BEGIN
| {
| 	if (self->s) {
| 		speculate(self->s);
| 		printf("in\n");
| 	}
| }
| BEGIN
| {
| 	if (self->s)
| 		commit(self->s);
| }
| tick-1ms { printf("out\n"); exit(0); }
$ erltrace -qs t.d
> in
> out
>
