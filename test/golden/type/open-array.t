# an array of one element at the end of a struct behind a pointer is not bounded
< t.d
| struct v { int n; int data[1]; };
| BEGIN
| {
| 	this->v = (struct v *)alloca(32);
| 	this->v->n = 3; this->v->data[1] = 5; i = 2; this->v->data[i] = 7;
| 	printf("%d %d %d\n", this->v->data[0], this->v->data[1], this->v->data[2]);
| 	exit(0);
| }
$ erltrace -qs t.d
> 0 5 7
>
# one that is not at the end, that has more elements, or is part of a variable is
$ erltrace -e -xerrtags -n 'struct v { int data[1]; int n; }; BEGIN { trace(((struct v *)arg0)->data[1]); }'
!~ \[D_ARR_BOUNDS\]
? 1
$ erltrace -e -xerrtags -n 'struct v { int n; int data[2]; }; BEGIN { trace(((struct v *)arg0)->data[2]); }'
!~ \[D_ARR_BOUNDS\]
? 1
$ erltrace -e -xerrtags -n 'struct v { int n; int data[1]; }; struct v g; BEGIN { trace(g.data[1]); }'
!~ \[D_ARR_BOUNDS\]
? 1
