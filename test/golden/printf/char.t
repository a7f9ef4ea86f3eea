# %c: a character; %C: an escape where it does not print
$ erltrace -qn 'BEGIN { printf("[%c] [%4c] [%-4c]\n", 65, 65, 65); exit(0); }'
> [A] [   A] [A   ]
>
$ erltrace -qn 'BEGIN { printf("[%C] [%C] [%C] [%C] [%C] [%C] [%C]\n", 65, 10, 9, 0, 7, 200, 92); exit(0); }'
> [A] [\n] [\t] [\0] [\a] [\310] [\\]
>
$ erltrace -qn 'BEGIN { printf("[%c] [%c]\n", (short)0x78, (char)0x79); exit(0); }'
> [x] [y]
>
# wide characters become UTF-8
$ erltrace -qn 'BEGIN { printf("[%lc] [%wc] [%lc] [%lc]\n", 0x41, 0x20ac, 0xe4, 0x1f600); exit(0); }'
> [A] [€] [ä] [😀]
>
$ erltrace -qn 'struct s { int w[4]; } s; BEGIN { s.w[0] = 0x48; s.w[1] = 0x20ac; s.w[2] = 0; s.w[3] = 0x49; printf("[%ls] [%ws] [%6ls]\n", s.w, s.w, s.w); exit(0); }'
> [H€] [H€] [    H€]
>
