# what the clauses of one firing go through is bounded: the clause that would do more ends there
$ erltrace -qx strsize=4k -x maxwork=20k -n 'BEGIN { s = "x"; s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); } BEGIN { n = index(s, "y"); n = index(s, "y"); n = index(s, "y"); n = index(s, "y"); printf("%d\n", n); n = index(s, "y"); printf("no more\n"); } BEGIN { printf("other clauses go on\n"); } BEGIN { n = index(s, "y"); printf("and no more here\n"); } BEGIN { exit(0); } END { n = index(s, "y"); printf("the next firing: %d\n", n); } ERROR { printf("%d %d\n", arg4, arg4 == DTRACEFLT_WORK); }'
> 13 1
> other clauses go on
> 13 1
> the next firing: -1
>
!~ ^erltrace: error on enabled probe ID 2 \(ID 1: dtrace:::BEGIN\): too much work \(more than maxwork allows\) in action #[0-9]+ at BPF pc [0-9]+$
!~ ^erltrace: error on enabled probe ID 4 \(ID 1: dtrace:::BEGIN\): too much work \(more than maxwork allows\) in action #1 at BPF pc [0-9]+$

# the same, interpreted
$ erltrace -qx jit=off -x strsize=4k -x maxwork=4k -n 'BEGIN { this->s = strjoin("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"); this->s = strjoin(this->s, this->s); this->s = strjoin(this->s, this->s); this->s = strjoin(this->s, this->s); this->s = strjoin(this->s, this->s); this->s = toupper(this->s); this->s = tolower(this->s); this->s = toupper(this->s); printf("%d\n", strlen(this->s)); this->s = tolower(this->s); this->s = tolower(this->s); printf("no more\n"); } BEGIN { exit(0); }'
>
!~ too much work

# every function that goes through strings counts: none does it for nothing
< each.sh
| for f in 'strlen(s)' 's == t' 'index(s, t)' 'rindex(s, t)' 'strlen(strstr(s, t))' 'strlen(strchr(s, 122))' 'strlen(strrchr(s, 122))' 'strlen(strtok(s, t))' 'strlen(substr(s, 1))' 'strlen(strjoin(s, t))' 'strlen(toupper(s))' 'strlen(tolower(s))' 'strlen(basename(s))' 'strlen(dirname(s))' 'strlen(cleanpath(s))' 'strlen(json(s, t))' 'strtoll(s)' 's[4000]' 'a[s] == NULL'; do
| 	[[ $f == *'a[s]'* ]] && d='string a[string];' || d=
| 	erltrace -qx strsize=8k -x maxwork=1k -n "string s, t; $d"'BEGIN { s = "xxxxxxxxxxxxxxxx"; } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { exit(0); }'"END { s = strjoin(s, s); } END { t = s; this->n = $f; this->n = $f; this->n = $f; this->n = $f; this->n = $f; this->n = $f; this->n = $f; this->n = $f; printf(\"unbounded\"); }" >o 2>e
| 	grep -q 'too much work' e && ! grep -q unbounded o || echo "$f: $(cat o e)"
| done
$ bash each.sh

# keys, records and copies count too, where they are long
< long.sh
| for f in '@[s] = count();' '@[s, 1] = sum(1);' 'a[s] = 1;' 'a[s]++;' 'self->b[s] = s;' 'g = s;' 'printf("%s", s);' 'trace(s);' 'tracemem(alloca(8192), 8192);' 'this->p = copyin((uint64_t)alloca(8192), 8192);' '@[ustack(100)] = count();'; do
| 	erltrace -qx strsize=8k -x maxwork=2k -x scratchsize=1m -n 'string s, g; int a[string]; self string b[string]; BEGIN { s = "xxxxxxxxxxxxxxxx"; } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { s = strjoin(s, s); } BEGIN { exit(0); }'"END { s = strjoin(s, s); } END { $f $f $f $f $f $f $f $f $f $f $f $f printf(\"unbounded\"); }" >o 2>e
| 	grep -q 'too much work' e && ! grep -q unbounded o || echo "$f: $(cat o e)"
| done
$ bash long.sh

# maxwork=0: no bound
$ erltrace -qx strsize=4k -x maxwork=0 -n 'BEGIN { s = "0123456789abcdef"; s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); printf("%d %d\n", rindex(s, "f0"), index(s, "f0")); exit(0); }'
> 495 15
>

# an untrusted script cannot raise it
$ erltrace -x harmless -x maxwork=0 -qn 'BEGIN { exit(0); }'
!~ option maxwork cannot be set to this here
? 1
