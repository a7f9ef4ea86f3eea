# a declaration without a type is of type int
$ erltrace -qn 'self x; this y; const z; BEGIN { self->x = 5000000000; this->y = -1; printf("%d %d %d %d\n", self->x, sizeof (self->x), this->y, sizeof (z)); exit(0); }'
> 705032704 4 -1 4
>
$ erltrace -qn 'self x, *p; BEGIN { printf("%d %d\n", sizeof (self->x), sizeof (self->p)); exit(0); }'
> 4 8
>
# uint is unsigned int
$ erltrace -qn 'uint u; BEGIN { u = -1; printf("%u %d\n", u, sizeof (uint)); exit(0); }'
> 4294967295 4
>
# an array that is declared elsewhere needs no size
$ erltrace -qn 'extern int a[]; BEGIN { printf("ok\n"); exit(0); }'
> ok
>
# a parameter without a name is given, and not used
$ erltrace -qn 'inline int f[int, int b] = b * 2; BEGIN { printf("%d\n", f[1, 4]); exit(0); }'
> 8
>
