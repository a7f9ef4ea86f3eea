# setopt(): options of the running phase, from this record on
$ erltrace -n 'BEGIN { trace("row"); } BEGIN { setopt("quiet"); } BEGIN { printf("no row\n"); exit(0); }' 2>/dev/null | cut -c5- | sed 's/ *$//'
>     ID                    FUNCTION:NAME
>      1                           :BEGIN   row
>      1                           :BEGIN no row
>
# the value may be computed
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(2); x = "1"; setopt("aggsortrev", x); printa("%s", @); setopt("aggsortrev", "0"); printa("%s", @); exit(0); }'
> baab
# what is no option, no value, or cannot change any more is told; tracing goes on
$ erltrace -qn 'BEGIN { setopt("nosuch"); printf("on\n"); exit(0); }'
> on
>
!~ couldn't set option "nosuch" to "1": .*no option
$ erltrace -qn 'BEGIN { setopt("stackindent", "wide"); printf("on\n"); exit(0); }'
> on
>
!~ couldn't set option "stackindent" to "wide": 
$ erltrace -qn 'BEGIN { setopt("bufsize", "1m"); setopt("strsize", "8"); exit(0); }'
>
!~ couldn't set option "bufsize" to "1m": .*cannot change
!~ couldn't set option "strsize" to "8": .*cannot change
# every option of the running phase
$ erltrace -qn 'BEGIN { setopt("agghist"); setopt("aggpack"); setopt("aggrate", "10hz"); setopt("aggsortkey"); setopt("aggsortkeypos", "1"); setopt("aggsortpos", "1"); setopt("aggsortrev"); setopt("aggzoom"); setopt("flowindent"); setopt("printsize", "16"); setopt("quiet"); setopt("quietresize"); setopt("rawbytes"); setopt("stackindent", "4"); setopt("switchrate", "5ms"); printf("all\n"); exit(0); }'
> all
>
