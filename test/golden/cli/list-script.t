# -ls: the probes that a script's clauses name
< l.d
| BEGIN, END { trace(1); }
| tick-$1ms /0/ { }
$ erltrace -l -s l.d 5 | tr -s ' ' | sed 's/^ [0-9]*//'
> ID PROVIDER MODULE FUNCTION NAME
>  dtrace BEGIN
>  dtrace END
>  profile tick-5ms
$ erltrace -l -s nosuch.d
>    ID   PROVIDER            MODULE                          FUNCTION NAME
!~ ^erltrace: failed to compile script nosuch.d: .*No such file or directory
? 1
