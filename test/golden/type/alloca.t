# alloca() gives zeroed memory, 8-byte aligned, for one clause
< t.d
| BEGIN
| {
| 	this->p = (char *)alloca(3);
| 	this->q = (long *)alloca(8);
| 	printf("%d %d %d %d\n", this->p[0], this->p[2], *this->q, (uintptr_t)this->q % 8);
| 	*this->q = -1;
| 	printf("%d %x\n", *this->q, *(uint16_t *)this->q);
| 	exit(0);
| }
$ erltrace -qs t.d
> 0 0 0 0
> -1 ffff
>
# scratchsize says how much there is in all
$ erltrace -xscratchsize=4096 -qn 'BEGIN { this->p = (int *)alloca(4000); this->p[999] = 5; printf("%d\n", this->p[999]); exit(0); }'
> 5
>
