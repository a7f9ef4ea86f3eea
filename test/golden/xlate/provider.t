# provider declarations give the arguments of a provider's probes types
< t.d
| struct raw { int v; };
| struct cooked { int w; };
| translator struct cooked < struct raw *R > { w = R->v + 1; };
| provider mine {
| 	probe one(int a, char *b);
| 	probe two__part(struct raw *r, int n) : (struct cooked *r, int n);
| 	probe none();
| 	probe none_too(void);
| };
| BEGIN { printf("declared\n"); exit(0); }
$ erltrace -qs t.d
> declared
>
# the same again is no mistake
$ erltrace -qn 'provider p { probe a(int x); }; provider p { probe a(int x); probe b(); }; BEGIN { printf("ok\n"); exit(0); }'
> ok
>
