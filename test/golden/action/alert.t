# alert(name, format, ...): a name, and a text as by printf()
$ erltrace -qn 'BEGIN { alert("slow", "took %d ms in %s", 7, "f"); alert(strjoin("a", "b"), "plain"); exit(0); }'
> alert slow: took 7 ms in f
> alert ab: plain
>
$ erltrace --json -qn 'BEGIN { alert("slow", "took %d ms", 7); exit(0); }' | grep -oE '"type":"alert"|"values".*'
> "type":"alert"
> "values":["slow",7],"text":"took 7 ms"}
> "values":[0]}

# inside an if, and speculative: as printf()
$ erltrace -qn 'BEGIN { if (1) { alert("a", "yes"); } if (!1) { alert("b", "no"); } exit(0); }'
> alert a: yes
>
$ erltrace -qn 'BEGIN { this->s = speculation(); speculate(this->s); alert("kept", "%d", 1); } BEGIN { commit(this->s); } BEGIN { exit(0); }'
> alert kept: 1
>

# what is wrong
$ erltrace -e -xerrtags -n 'BEGIN { alert("x"); }'
!~ \[D_PROTO_LEN\] .*alert\(\) takes at least 2 arguments, not 1
? 1
$ erltrace -e -xerrtags -n 'BEGIN { alert(3, "x"); }'
!~ \[D_PROTO_ARG\] .*argument 1 of alert\(\) must be a string, not 'int'
? 1
$ erltrace -e -xerrtags -n 'BEGIN { alert("x", probename); }'
!~ \[D_PRINTF_ARG_FMT\] .*argument 2 of alert\(\) must be a string constant
? 1
$ erltrace -e -xerrtags -n 'BEGIN { alert("x", "%d"); }'
!~ \[D_PRINTF_ARG_PROTO\] .*the format of alert\(\) takes 1 argument, there are 0
? 1
