# casts cut and extend as in C
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", (char)200, (unsigned char)300, (short)40000, (unsigned short)70000); exit(0); }'
> -56 44 -25536 4464
>
$ erltrace -qn 'BEGIN { x = 0x1ffffffff; printf("%d %u %d %d\n", (int)x, (unsigned)x, (int8_t)x, (uint8_t)x); exit(0); }'
> -1 4294967295 -1 255
>
$ erltrace -qn 'BEGIN { x = -1; printf("%u %u %u %u\n", (uint8_t)x, (uint16_t)x, (uint32_t)x, (uint64_t)x); exit(0); }'
> 255 65535 4294967295 18446744073709551615
>
# zero extension from unsigned, sign extension from signed
$ erltrace -qn 'BEGIN { u = (uint32_t)-1; i = -1; printf("%d %d\n", (int64_t)u, (int64_t)i); exit(0); }'
> 4294967295 -1
>
# to _Bool: 0 or 1
$ erltrace -qn 'BEGIN { x = 256; printf("%d %d %d\n", (_Bool)x, (_Bool)0, (_Bool)-1); exit(0); }'
> 1 0 1
>
# pointers to integers and back
$ erltrace -qn 'BEGIN { p = (void *)0x1234; printf("%x %d %p\n", (uintptr_t)p, (int)(long)p, (char *)0xffffffffffffffff); exit(0); }'
> 1234 4660 ffffffffffffffff
>
# to an enumeration and to void
$ erltrace -qn 'enum e { A = 1, B = 2 }; BEGIN { x = (enum e)2; (void)x; printf("%d %d\n", x, x == B); exit(0); }'
> 2 1
>
# (string) and stringof
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(3); this->p[0] = 65; this->p[1] = 0; printf("%s %s %s\n", (string)this->p, stringof(this->p), stringof this->p); exit(0); }'
> A A A
>
