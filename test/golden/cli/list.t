# -l: every probe; the first three are dtrace's
$ erltrace -l | sed -n 1,4p
>    ID   PROVIDER            MODULE                          FUNCTION NAME
>     1     dtrace                                                     BEGIN
>     2     dtrace                                                     END
>     3     dtrace                                                     ERROR
# by description, provider, number
$ erltrace -l -n BEGIN | tr -s ' '
>  ID PROVIDER MODULE FUNCTION NAME
>  1 dtrace BEGIN
$ erltrace -l -n 'BEGIN,END' | tail -n +2 | tr -s ' '
>  1 dtrace BEGIN
>  2 dtrace END
$ erltrace -l -P dtrace | wc -l
> 4
$ erltrace -l -i 2 | tail -1 | tr -s ' '
>  2 dtrace END
$ erltrace -l -n 'E*' | tail -n +2 | tr -s ' '
>  2 dtrace END
>  3 dtrace ERROR
# probes that come to be when they are named
$ erltrace -l -n 'tick-5ms' | tail -1 | tr -s ' ' | sed 's/^ [0-9]* //'
> profile tick-5ms
# none: an error, but not with -Z
$ erltrace -l -n nosuch:::
>    ID   PROVIDER            MODULE                          FUNCTION NAME
!~ ^erltrace: failed to match nosuch:::: 
? 1
$ erltrace -l -Z -n nosuch::: | wc -l
> 1
# -lv: how stable they are, and the types of their arguments
$ erltrace -lv -n BEGIN | tail -n +3
>
> 	Probe Description Attributes
> 		Identifier Names: Stable
> 		Data Semantics:   Stable
> 		Dependency Class: Common
>
> 	Argument Attributes
> 		Identifier Names: Stable
> 		Data Semantics:   Stable
> 		Dependency Class: Common
>
> 	Argument Types
> 		None
>
# a name that is almost right: the same suggestion as -n gives
$ erltrace -ln BEGINN
>    ID   PROVIDER            MODULE                          FUNCTION NAME
! erltrace: failed to match BEGINN: no probe matches the description: did you mean 'BEGIN'?
? 1
$ erltrace -ln dtrace:::EDN
>    ID   PROVIDER            MODULE                          FUNCTION NAME
! erltrace: failed to match dtrace:::EDN: no probe matches the description: did you mean 'END'?
? 1
$ erltrace -ln profile-1ns
>    ID   PROVIDER            MODULE                          FUNCTION NAME
!~ failed to match profile-1ns: it would fire too often: the shortest interval is 200 microseconds
? 1
# list-without-a-pattern: on a terminal, a line for each module
$ script -qec "erltrace -l" /dev/null </dev/null | tr -d '\r' | tr -s ' ' | head -2
>  PROVIDER MODULE PROBES
>  dtrace 3
