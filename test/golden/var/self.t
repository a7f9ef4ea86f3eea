# self-> is of a thread: 0 at first, kept between probes, deleted by storing 0
$ erltrace -qn 'self int x; self string s; BEGIN { printf("%d %d\n", self->x, self->s == NULL); self->x = 5; self->s = "a"; } BEGIN { printf("%d %s\n", self->x, self->s); self->x = 0; self->s = 0; } BEGIN { printf("%d %d\n", self->x, self->s == NULL); exit(0); }'
> 0 1
> 5 a
> 0 1
>
# associative
$ erltrace -qn 'BEGIN { self->a["x", 1] = 10; self->a["x", 2] = 20; printf("%d %d %d\n", self->a["x", 1], self->a["x", 2], self->a["y", 1]); self->a["x", 1] = 0; printf("%d %d\n", self->a["x", 1], self->a["x", 2]); exit(0); }'
> 10 20 0
> 0 20
>
# deleting gives the room back: far more sets than dynvarsize holds at once
$ erltrace -xdynvarsize=64k -qn 'tick-1ms { self->x = 1; self->t[1] = 2; self->x = 0; self->t[1] = 0; n++; } tick-1ms /n == 20/ { printf("%d\n", self->x); exit(0); }'
> 0
>
