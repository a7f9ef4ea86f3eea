# names of Erlang: an arity behind the function, atoms in quotes; D keeps its meaning beside them
$ erltrace -Z -e -qn 'erlang*:lists:seq/2:function-entry { trace(1); }'
$ erltrace -Z -e -qn 'erlang*:lists:seq/?:function-entry, erlang*:bitcask:get:function-entry /arg0 / 2 == 1/ { trace(1); }'
$ erltrace -Z -e -qn "erlang*:'Elixir.My.Mod':'do it!'/3:function-entry { trace(1); }"
# told as they were written
$ erltrace -e -xerrtags -n 'erlang*:lists:seq/2:function-entry { trace(1); }'
!~ \[D_PDESC_ZERO\] .*lists:seq/2:function-entry
? 1
# a quote without end, an empty atom
$ erltrace -e -xerrtags -n "erlang*:'lists:seq:function-entry { trace(1); }"
!~ \[D_PDESC_INVAL\]
? 1
$ erltrace -e -xerrtags -n "erlang*:'':seq:function-entry { trace(1); }"
!~ \[D_PDESC_INVAL\]
? 1
# a predicate right behind the name stays one
$ erltrace -qn 'BEGIN/1/{ printf("yes\n"); exit(0); }'
> yes
>
$ erltrace -qn 'dtrace:::BEGIN/2 == 2/{ printf("yes\n"); exit(0); }'
> yes
>
