# depends_on in a script: the provider must be there
< t.d
| #pragma D depends_on provider dtrace
| #pragma D depends_on module anything
| BEGIN { printf("ok\n"); exit(0); }
$ erltrace -qs t.d
> ok
>
