# loads outside of what alloca() gave in this clause fault, as stores do
< load.d
| BEGIN { this->p = (long *)alloca(16); this->p[1] = 7; trace(this->p[1]); trace(this->p[2]); }
| BEGIN { exit(0); }
| ERROR { printf("fault %d\n", arg4); }
$ erltrace -qs load.d
> fault 1
>
!~ invalid address
< store.d
| BEGIN { this->p = (long *)alloca(16); this->p[2] = 7; }
| BEGIN { exit(0); }
| ERROR { printf("fault %d\n", arg4); }
$ erltrace -qs store.d
> fault 1
>
!~ invalid address
# of every kind: a struct, bcopy(), tracemem(), a string that does not end within it
$ erltrace -qn 'struct s { char c[24]; }; struct s g; BEGIN { g = *(struct s *)alloca(16); } BEGIN { exit(0); } ERROR { printf("fault %d\n", arg4); }'
> fault 1
>
!~ invalid address
$ erltrace -qn 'BEGIN { this->p = alloca(16); bcopy((char *)this->p + 8, this->p, 16); } BEGIN { exit(0); } ERROR { printf("fault %d\n", arg4); }'
> fault 1
>
!~ invalid address
$ erltrace -qn 'BEGIN { tracemem(alloca(16), 24); } BEGIN { exit(0); } ERROR { printf("fault %d\n", arg4); }'
> fault 1
>
!~ invalid address
$ erltrace -qn 'BEGIN { this->p = (long *)alloca(8); *this->p = 0x4141414141414141; trace(stringof((char *)this->p)); } BEGIN { exit(0); } ERROR { printf("fault %d\n", arg4); }'
> fault 1
>
!~ invalid address
# below it, and across its bottom
< below.d
| BEGIN { this->p = (char *)alloca(16); trace(this->p[-1]); }
| BEGIN { this->p = (char *)alloca(16); trace(*(uint64_t *)(this->p - 4)); }
| BEGIN { this->p = (char *)alloca(16); bcopy(this->p - 8, this->p, 16); }
| BEGIN { this->p = (char *)alloca(16); tracemem(this->p - 8, 16); }
| BEGIN { this->p = (char *)alloca(16); trace(stringof(this->p - 8)); }
| BEGIN { exit(0); }
| ERROR { printf("fault %d of clause %d\n", arg4, arg1); }
$ erltrace -qs below.d 2>/dev/null
> fault 1 of clause 1
> fault 1 of clause 2
> fault 1 of clause 3
> fault 1 of clause 4
> fault 1 of clause 5
>
# what another clause has allocated is not there any more
$ erltrace -qn 'BEGIN { this->p = (long *)alloca(8); *this->p = 1; } BEGIN { trace(*this->p); } BEGIN { exit(0); } ERROR { printf("fault %d\n", arg4); }'
> fault 1
>
!~ invalid address
# all of it can be read
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(16); this->p[0] = 65; this->p[14] = 66; this->p[13] = 67; printf("%s %s %d %s\n", stringof(this->p), stringof(this->p + 13), this->p[15], copyinstr((uintptr_t)this->p, 16)); exit(0); }'
> A CB 0 A
>
