# copyout, copyoutstr: destructive, and only with -w
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(8); copyoutstr("hi", (uintptr_t)this->p, 8); exit(0); }'
!~ destructive
? 1
< t.d
| BEGIN
| {
| 	this->p = (char *)alloca(8);
| 	this->q = (char *)alloca(8);
| 	copyoutstr("hello", (uintptr_t)this->p, 8);
| 	copyout(this->p, (uintptr_t)this->q, 3);
| 	printf("%s %s\n", stringof(this->p), stringof(this->q));
| 	exit(0);
| }

# not in the kernel: not every kernel lets BPF write to programs
$ erltrace -w -qs t.d
> hello hel
>

# to a bad address: a fault

# not in the kernel: not every kernel lets BPF write to programs
$ erltrace -w -qn 'BEGIN { this->p = alloca(8); copyout(this->p, 16, 4); } ERROR { printf("0x%x\n", arg5); exit(0); }'
> 0x10
>
!~ invalid address
