# what is copied has a NUL behind it: a string of it ends there, whatever was there before
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(32); bcopy("abcdefghijklmnopqrst", this->p, 20); this->a = copyin((uintptr_t)this->p, 16); } BEGIN { this->q = (char *)alloca(32); bcopy("0123456789012345", this->q, 16); printf("%s %s\n", stringof(copyin((uintptr_t)this->q, 8)), stringof(copyin((uintptr_t)this->q, 3))); exit(0); }'
> 01234567 012
>

# a script may put it there itself
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(32); bcopy("abcdefghijklmnopqrst", this->p, 20); this->s = (char *)copyin((uintptr_t)this->p, 16); this->s[16] = 0; this->s[4] = 0; printf("%s\n", stringof(this->s)); exit(0); }'
> abcd
>

# nothing is too long to be noticed
$ erltrace -qn 'BEGIN { trace(copyin(0x1000, -1)); } tick-1 { exit(0); }'
>
!~ out of scratch space
