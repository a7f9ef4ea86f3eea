# ++ and --, before and behind
$ erltrace -qn 'BEGIN { x = 5; printf("%d %d ", x++, x); printf("%d %d ", ++x, x); printf("%d %d ", x--, x); printf("%d %d\n", --x, x); exit(0); }'
> 5 6 7 7 7 6 5 5
>
# on what was never seen
$ erltrace -qn 'BEGIN { a++; ++a; b--; self->c++; d["x", 1]++; d["x", 1]++; printf("%d %d %d %d\n", a, b, self->c, d["x", 1]); exit(0); }'
> 2 -1 1 2
>
# narrow types wrap
$ erltrace -qn 'uint8_t u; int8_t s; uint16_t w; BEGIN { u = 255; s = 127; w = 0; u++; s++; w--; printf("%d %d %d\n", u, s, w); exit(0); }'
> 0 -128 65535
>
$ erltrace -qn 'uint8_t u; BEGIN { u = 255; printf("%d ", u++); printf("%d ", --u); printf("%d\n", u--); exit(0); }'
> 255 255 255
>
# pointers move by what they point to
$ erltrace -qn 'int *p; struct s { char c[12]; } *q; BEGIN { p = (int *)1000; q = (struct s *)1000; p++; q++; printf("%d %d ", (long)p, (long)q); p--; --q; printf("%d %d ", (long)p, (long)q); p += 3; q -= 2; printf("%d %d\n", (long)p, (long)q); exit(0); }'
> 1004 1012 1000 1000 1012 976
>
# memory
$ erltrace -qn 'BEGIN { this->p = (int *)alloca(8); this->p[0] = 4; this->p[0]++; ++*this->p; printf("%d %d %d\n", this->p[0]--, *this->p, this->p[0] += 10); exit(0); }'
> 6 5 15
>
