# only scratch memory of this firing can be written
$ erltrace -qn 'BEGIN { *(int *)0 = 1; } BEGIN { exit(0); }'
>
!~ invalid address \(0x0\)
$ erltrace -qn 'BEGIN { this->p = (char *)-1; *this->p = 1; } BEGIN { exit(0); }'
>
!~ invalid address \(0xffffffffffffffff\)
$ erltrace -qn 'BEGIN { bcopy("abc", (void *)0x1000, 3); } BEGIN { exit(0); }'
>
!~ invalid address \(0x1000\)
# beyond the end of an alloca()
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(8); this->p[1000000] = 1; } BEGIN { exit(0); }'
>
!~ invalid address
$ erltrace -qn 'BEGIN { this->p = (long *)alloca(8); this->p[-1] = 1; } BEGIN { exit(0); }'
>
!~ invalid address
# memory of the process that is not ours to write
$ erltrace -qn 'BEGIN { this->s = "const"; this->p = (char *)alloca(8); *(char *)((uintptr_t)this->p - 1048576) = 0; } BEGIN { exit(0); }'
>
!~ invalid address
