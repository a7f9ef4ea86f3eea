# trace(): one value, of any type, as it stands in the record
$ erltrace -qn 'BEGIN { trace(1); trace("x"); trace(probename); trace(1 == 1); exit(0); }'
> 1xBEGIN1
# in the order of the clause, whatever the action
$ erltrace -qn 'BEGIN { trace(1); printf("-%d-", 2); trace("3"); printf("\n"); print(4); exit(0); }'
> 1-2-3
> int 0x4
>
# values are those of the moment they were recorded
$ erltrace -qn 'BEGIN { x = 1; trace(x); x = 2; trace(x); s = "a"; printf("%s", s); s = "b"; printf("%s\n", s); exit(0); }'
> 12ab
>
# pcap() is not there, and says so
$ erltrace -e -xerrtags -n 'BEGIN { pcap((void *)1, 4); }'
!~ \[D_PCAP_PROTO\].*pcap
? 1
# jstack() and stack() are stacks

# not in the kernel: its stacks begin at the system call that runs BEGIN
$ erltrace -qn 'BEGIN { jstack(2); exit(0); }' | grep -cE '^ {14}[^ ]+$'
> 2

$ erltrace -qn 'BEGIN { stack(); printf("after\n"); exit(0); }' | grep -c after
> 1
# commit() and discard() of speculations: the order is that of the commit
$ erltrace -qn 'BEGIN { s = speculation(); } BEGIN { speculate(s); printf("held\n"); } BEGIN { printf("first\n"); } BEGIN { commit(s); } BEGIN { exit(0); }'
> first
> held
>
$ erltrace -qn 'BEGIN { s = speculation(); } BEGIN { speculate(s); printf("held\n"); } BEGIN { discard(s); } BEGIN { exit(0); }'
>
