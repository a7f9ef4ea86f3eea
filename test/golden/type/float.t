# float and double: in memory and for printf only
< t.d
| BEGIN
| {
| 	this->d = (double *)alloca(8);
| 	*(uint64_t *)this->d = 0x3ff8000000000000;
| 	this->f = (float *)alloca(4);
| 	*(uint32_t *)this->f = 0xc0200000;
| 	printf("%f %.2f %e\n", *this->d, *this->f, *this->d);
| 	exit(0);
| }
$ erltrace -qs t.d
> 1.500000 -2.50 1.500000e+00
>
# no arithmetic with them
$ erltrace -e -xerrtags -n 'BEGIN { this->d = (double *)alloca(8); trace(*this->d + 1); }'
!~ \[D_OP_ARITH\]
? 1
