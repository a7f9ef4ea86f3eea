# A NULL string as an argument of a subroutine is a fault, at address 0.
< null.sh
| # the functions of each argument, with each NULL in NULLS
| while read -ra fs; do
| 	uses= n=0
| 	for f in "${fs[@]}"; do
| 		uses+="BEGIN { this->x$((n++)) = $f; printf(\"goes on after %s\\n\", \"${f//[\"S]/}\"); }
| "
| 	done
| 	while read -r null; do
| 		echo "calls: $n"
| 		erltrace "$@" -qn 'self string none; string none[int]; string g; int faults; BEGIN { g = NULL; }
| '"${uses//S/$null}"' BEGIN { exit(0); } ERROR { faults += arg4 == 1 && arg5 == 0; } END { printf("faults: %d\n", faults); }' 2>&1
| 	done <<<"$NULLS" | grep -v -e '^$' -e 'invalid address (0x0)'
| done | awk '/^calls: / { n += $2; next } /^faults: / { f += $2; next } { print } END { print f == n ? "all" : f " of " n }'
< functions
| basename(S) cleanpath(S) dirname(S) tolower(S) toupper(S) strlen(S)
| strtoll(S) strtoll(S,16) substr(S,1) substr(S,0,0) strchr(S,97) strrchr(S,0)
| strjoin(S,"a") strjoin("a",S) strstr(S,"a") strstr("a",S) index(S,"a") index("a",S)
| rindex(S,"") rindex("a",S) json(S,"a") json("{}",S) strtok("a",S) strtok(NULL,S)
< nulls
| 0
| self->none
| json("{}", "a")
| none[1]
| strchr("a", 98)
| strtok("", "")
| g
$ NULLS='NULL' bash null.sh <functions
> all
$ echo 'strlen(S) strjoin(S,"a")' | NULLS=$(cat nulls) bash null.sh
> all

# interpreted, and a NULL that is known only when it runs
# not in the kernel: it has one way to run
$ NULLS='strstr("a", "b")' bash null.sh -xjit=off <functions
> all

# strtok() takes it for 'go on'
$ erltrace -qn 'self string none; BEGIN { printf("%s", strtok("a-b-c", "-")); printf("%s", strtok(NULL, "-")); printf("%s\n", strtok(self->none, "-")); exit(0); }'
> abc
>

# another number is not accepted
$ erltrace -e -xerrtags -n 'BEGIN { trace(strlen(1)); }'
!~ \[D_PROTO_ARG\]
? 1
