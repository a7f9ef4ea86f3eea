# two at once: one committed, one discarded
< t.d
| #pragma D option nspec=2
| BEGIN { self->a = speculation(); self->b = speculation(); }
| BEGIN { speculate(self->a); printf("a\n"); }
| BEGIN { speculate(self->b); printf("b\n"); }
| BEGIN { speculate(self->a); printf("A\n"); }
| BEGIN { commit(self->a); }
| BEGIN { discard(self->b); }
| tick-1ms { exit(0); }
$ erltrace -qs t.d
> a
> A
>
# a predicate decides clause by clause
$ erltrace -qn 'BEGIN { self->s = speculation(); } BEGIN /self->s/ { speculate(self->s); printf("in\n"); } BEGIN /!self->s/ { printf("no\n"); } BEGIN /self->s/ { commit(self->s); self->s = 0; } tick-1ms { printf("%d\n", self->s); exit(0); }'
> in
> 0
>
