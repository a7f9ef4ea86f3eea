# self x; and this x; declare int; self x[..] an associative array of them
$ erltrace -qn 'self x; this y, z; self a[string, int]; BEGIN { self->x = 1 << 31; this->y = 2; this->z = sizeof (self->x); self->a["k", 1] = 3; printf("%d %d %d %d\n", self->x, this->y, this->z, self->a["k", 1]); exit(0); }'
> -2147483648 2 4 3
>
# a type that does not exist is still told
$ erltrace -e -xerrtags -n 'self foo_t x; BEGIN { exit(0); }'
!~ \[D_SYNTAX\].*foo_t
? 1
