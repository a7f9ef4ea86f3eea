# --scripts lists the library, in lines that fit a terminal
$ erltrace --scripts | grep -A 1 '^births'
> births      processes that start and exit, one line per second; at the end,
>             which and why
$ erltrace --scripts | awk 'length > 80' | wc -l
> 0
# with what each shows: no line without text, none of the files left out
$ erltrace --scripts | sed '1,/^$/d' | sed '/^$/,$d' | grep -c '^[a-z0-9]* *$'
> 0
? 1
# --scripts NAME shows the head
$ erltrace --scripts births | head -4
> births.d: processes that start and exit, one line per second; at the end, which and why.
>
> 	erltrace -N NODE -qs births.d [for=SECONDS]
>
$ erltrace --scripts births.d heat | grep -c '^Arguments: '
> 2
$ erltrace --scripts brths
! erltrace: there is no script brths: erltrace --scripts lists the library
? 1
# a name that is nearly one
$ erltrace --scripts heap_
! erltrace: there is no script heap_: did you mean 'heap'?
? 1
$ erltrace -s birht
! erltrace: failed to compile script birht: cannot open birht: No such file or directory: did you mean 'births'?
? 1
$ erltrace -s nosuch
! erltrace: failed to compile script nosuch: cannot open nosuch: No such file or directory: erltrace --scripts lists the library
? 1
# a file somewhere else is no script of the library
$ erltrace -s ./births
! erltrace: failed to compile script ./births: cannot open ./births: No such file or directory
? 1
# arguments that it does not take: where they are told
$ erltrace -qs cpu 1 2 3 2>&1 | sed 's/script .*cpu.d/script cpu.d/'
> erltrace: failed to compile script cpu.d: extraneous argument '3' ($3 is not referenced)
> erltrace: what it takes is told by erltrace --scripts cpu
# a script without -s
$ erltrace births
! erltrace: no probes specified: to run the script of that name, use -s births
? 1
# a clause that the shell took apart
$ erltrace -n tick-1s { 'exit(0);' }
! erltrace: invalid probe specifier tick-1s: extraneous argument '{' ($1 is not referenced): probe, predicate and action are one argument, in quotes: -n 'PROBE /PREDICATE/ { ACTIONS }'
? 1
# symptom-index: a command for each symptom, first; the guide has the same, and each can be compiled
$ erltrace --scripts | head -3
> What is wrong?                         erltrace -N NODE -qs ...
>   I do not know yet                    top for=10s
>   it is slow                           slow module=MODULE over=10ms for=10s
$ diff <(erltrace --scripts | sed -n '2,/^$/p' | sed '/^$/d; s/^  //; s/  \+/: /') <(sed -n 's/^| \(.*\) | `erltrace -N NODE -qs \(.*\)` |$/\1: \2/p' "$TREE/doc/guide.md")
$ erltrace --scripts | sed -n '2,/^$/p' | sed '/^$/d; s/^  .*  \+//' | while read -r line; do erltrace -e -Zqs $line || echo "$line"; done
