# discard() throws it away; the speculation can be had again, once it has been cleaned up
< t.d
| int s, n;
| BEGIN { s = speculation(); }
| BEGIN { speculate(s); printf("no\n"); }
| BEGIN { discard(s); s = 0; }
| tick-1ms /n == 0 && s == 0/ { s = speculation(); }
| tick-1ms /n == 0 && s != 0/ { n = 1; speculate(s); printf("yes\n"); }
| tick-1ms /n == 1/ { n = 2; commit(s); }
| tick-1ms /n == 2/ { n = 3; exit(0); }
$ erltrace -qs t.d 2>/dev/null
> yes
>
# never committed: nothing comes out
$ erltrace -qn 'BEGIN { self->s = speculation(); } BEGIN { speculate(self->s); printf("no\n"); } BEGIN { exit(0); } END { printf("end\n"); }'
> end
>
