# no argument, an unknown flag: usage, 2
$ erltrace 2>&1 | grep -c '^Usage: erltrace '
> 1
$ erltrace >/dev/null 2>&1
? 2
$ erltrace -Y 2>/dev/null
? 2
$ erltrace -n 2>/dev/null
? 2
$ erltrace --nosuch 2>/dev/null
? 2
# what this platform cannot do says so
$ for f in -32 -A -a -G -h; do erltrace $f -n BEGIN; echo $?; done 2>&1 | grep -cE '^(erltrace: -.*here|2)$'
> 10
$ erltrace -64 -qn 'BEGIN { printf("64\n"); exit(0); }'
> 64
>
# nothing to trace
$ erltrace -q
!~ ^erltrace: no probes specified
? 1
# -V, --version, --help
$ erltrace -V
~ ^erltrace [0-9]+\.[0-9]+\.[0-9]+$
$ erltrace --version
~ ^erltrace [0-9]+\.[0-9]+\.[0-9]+$
$ erltrace --help | grep -cE '^	(bufsize|-w) '
> 2
# -e compiles only
$ erltrace -e -n 'BEGIN { printf("no\n"); }'
! erltrace: description 'BEGIN ' matched 1 probe
# clauses of -n, -s, -P and -i in the order of the command line
< b.d
| BEGIN { printf("b\n"); }
$ erltrace -q -n 'BEGIN { printf("a\n"); }' -s b.d -i '1 { printf("c\n"); }' -P 'dtrace /probename == "BEGIN"/ { printf("d\n"); exit(0); }'
> a
> b
> c
> d
>
# -m and -f: an empty module and function match what is empty
$ erltrace -e -m 'dtrace:' -f 'dtrace::' 2>&1
> erltrace: description 'dtrace:' matched 3 probes
> erltrace: description 'dtrace::' matched 3 probes
# -s -: from standard input
$ echo 'BEGIN { printf("stdin\n"); exit(0); }' | erltrace -qs -
> stdin
>
# flags may follow the script; after -- everything is an argument
$ erltrace -n 'BEGIN { printf("%s\n", $$1); exit(0); }' -q -- -x
> -x
>
