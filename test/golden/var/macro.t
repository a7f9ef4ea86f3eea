# $1..: an integer, a name or a string by its text; $$1 is always a string
$ erltrace -qn 'BEGIN { printf("%d %d %d %s\n", $1 + 1, $2, $3, $$1); exit(0); }' -- 41 0x10 -5
> 42 16 -5 41
>
$ erltrace -qn 'BEGIN { x = 7; printf("%d %s\n", $1, $$1); exit(0); }' x
> 7 x
>
$ erltrace -qn 'BEGIN { printf("%s|%s\n", $$1, $$2); exit(0); }' 'a b' ''
> a b|
>
# a type or a keyword
$ erltrace -qn 'BEGIN { printf("%d %d\n", sizeof ($1), sizeof ($2)); exit(0); }' int uint64_t
> 4 8
>
# the smallest integer has a way in
$ erltrace -qn 'BEGIN { printf("%d\n", $1); exit(0); }' -- -9223372036854775808
> -9223372036854775808
>
# $0 is the script
< t.d
| BEGIN { printf("%s %s %d\n", $$0, $$1, $2); exit(0); }
$ erltrace -qs t.d one 2
> t.d one 2
>
# system ones
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d\n", $pid > 0, $ppid > 0, $pgid > 0, $sid >= 0, $projid); exit(0); }'
> 1 1 1 1 0
>
$ test "$(erltrace -qn 'BEGIN { printf("%d %d %d %d\n", $uid, $euid, $gid, $egid); exit(0); }')" = "$(id -ru) $(id -u) $(id -rg) $(id -g)" && echo same
> same
$ erltrace -qn 'BEGIN { printf("%d %d\n", $$pid == lltostr($pid), $$uid == lltostr($uid)); exit(0); }'
> 1 1
>
# $target is the process of -c or -p, 0 without
$ erltrace -qn 'BEGIN { printf("%d\n", $target); exit(0); }'
> 0
>
$ erltrace -c true -qn 'BEGIN { printf("%d\n", $target > 0 && $target != $pid); exit(0); }'
> 1
>
# missing ones are an error, or 0 and "" with defaultargs
$ erltrace -e -xerrtags -n 'BEGIN { trace($1); }'
!~ \[D_MACRO_UNDEF\]
? 1
$ erltrace -xdefaultargs -qn 'BEGIN { printf("%d [%s]\n", $1, $$2); exit(0); }'
> 0 []
>
< d.d
| #pragma D option defaultargs
| BEGIN { printf("%d [%s] %d\n", $1, $$2, $$1 == "" ? 99 : $1); exit(0); }
$ erltrace -qs d.d 5
> 5 [] 5
>
# unused ones are an error, unless argref
$ erltrace -e -xerrtags -n 'BEGIN { trace($1); }' 1 2
!~ \[D_MACRO_UNUSED\]
? 1
$ erltrace -xargref -qn 'BEGIN { printf("%d\n", $1); exit(0); }' 1 2
> 1
>
