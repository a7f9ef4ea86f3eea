BEGIN { self->s = speculation(); } BEGIN /self->s/ { speculate(self->s); printf("a%d", 1); }
BEGIN /self->s/ { commit(self->s); } BEGIN { discard(self->s); self->s = 0; }
