# A NULL string is not "": it equals it, but has no text that could be read.

# NULL: a self-> or associative variable that was never set, any that was set to NULL or 0
$ erltrace -qn 'self string s; string a[int]; BEGIN { printf("%d%d", self->s == NULL, a[1] == NULL); self->s = "x"; a[1] = "y"; g = "z"; this->t = "z"; printf(" %d%d%d%d", self->s == NULL, a[1] == NULL, g == NULL, this->t == NULL); self->s = 0; a[1] = NULL; g = NULL; this->t = 0; printf(" %d%d%d%d\n", self->s == NULL, a[1] == NULL, g == NULL, this->t == NULL); exit(0); }'
> 11 0000 1111
>

# a global or this-> variable that was never set is ""
$ erltrace -qn 'string g; this string t; BEGIN { printf("[%s] %d %d\n", g, strlen(g), strlen(this->t)); @[g] = count(); printa("[%s] %@d\n", @); exit(0); }'
> [] 0 0
> [] 1
>

# comparing takes NULL for ""
$ erltrace -qn 'self string s; BEGIN { g = "x"; g = NULL; printf("%d%d%d%d %d%d%d%d%d\n", self->s == "", g == "", g == self->s, "" == NULL, g != "", g < "a", g >= "", "a" > self->s, g == "x"); exit(0); }'
> 1111 01110
>

# everything else is a fault, at address 0: the clause ends, ERROR fires
< each.sh
| for f in 'trace(s)' 'printf("%s", s)' 'printf("%d", s[0])' '@[s] = count()' '@a[1, s] = sum(1)' '@b[s] = quantize(1)' 'n[s] = 1' 'n[s]++' 'x = n[s]' 'x = m[1, s]' 'self->b[s] = "x"' 'trace(self->b[s])' 'self->b[s] = NULL' 'print(s)' 'setopt("quiet", s)' 'trace(copyinstr(s))' 'trace(stringof(s))' 'trace((string)s)' 'trace(x ? "a" : s)' 'trace(t = s)' 'st[s].i = 1' 'trace(st[s].i)'; do
| 	n=$((${n-0} + 1)) uses+="BEGIN { $f; printf(\"goes on after %s\\n\", \"${f//\"/}\"); }
| "
| done
| for null in 's = "x"; s = NULL;' 's = "x"; s = u[0];' 's = strstr("a", "b");'; do
| 	erltrace "$@" -qn 'struct st { int i; } st[string]; string s, t; self string b[string]; string u[int]; int n[string]; int m[int, string]; int x, faults; BEGIN { '"$null"' }
| '"$uses"' BEGIN { exit(0); } ERROR { faults += arg4 == 1 && arg5 == 0; } END { printf("%d of '$n'\n", faults); }' 2>/dev/null
| done
$ bash each.sh
> 22 of 22
>
> 22 of 22
>
> 22 of 22
>
$ bash each.sh -xjit=off
> 22 of 22
>
> 22 of 22
>
> 22 of 22
>

# the message has the address
$ erltrace -qn 'self string s; BEGIN { self->s = strchr("a", 98); } BEGIN { trace(self->s); } BEGIN { exit(0); }'
>
!~ invalid address \(0x0\)

# NULL passes through variables, conditions and arguments of clauses as it is
$ erltrace -qn 'self string s; string a[int]; int x; BEGIN { g = "x"; g = strstr("abc", "z"); self->s = "y"; self->s = g; a[1] = self->s; this->t = a[1]; h = x ? "b" : this->t; printf("%d%d%d%d%d", g == NULL, self->s == NULL, a[1] == NULL, this->t == NULL, h == NULL); g = ""; printf(" [%s]\n", g); } BEGIN { trace(h); } BEGIN { exit(0); }'
> 11111 []
>
!~ invalid address \(0x0\)

# what follows an empty string in memory does not make it NULL
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(16); this->p[1] = 255; g = stringof(this->p); s = copyinstr((uint64_t)this->p); printf("[%s] [%s] [%s]\n", g, s, stringof(this->p)); exit(0); }'
> [] [] []
>

# as an address it is 0
$ erltrace -qn 'BEGIN { g = "x"; g = NULL; printf("%d %d\n", (char *)g == NULL, (char *)strstr("a", "b") == NULL); } BEGIN { trace(*(char *)g); } BEGIN { exit(0); }'
> 1 1
>
!~ invalid address \(0x0\)

# nor can a character of it be set
$ erltrace -qn 'BEGIN { g = "xyz"; g = NULL; } BEGIN { g[0] = 97; printf("goes on"); } BEGIN { g = "b"; g[0] = 97; printf("%s\n", g); exit(0); }'
> a
>
!~ invalid address \(0x0\)
