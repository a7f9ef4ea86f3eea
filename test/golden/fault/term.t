# not in the kernel: terms can be looked into inside nodes only
# a number or a text is wanted, and there is no term
$ erltrace -qn 'BEGIN { x = erlmsg + 1; printf("not reached\n"); } ERROR { printf("%d %d\n", arg4 == DTRACEFLT_TERM, arg4); exit(0); }'
> 1 14
>
!~ error on enabled probe ID 1 \(ID 1: dtrace:::BEGIN\): no such term in action #1 at BPF pc
$ erltrace -qn 'BEGIN { printf("%d\n", erlarg(0)); } ERROR { exit(0); }'
>
!~ no such term
$ erltrace -qn 'BEGIN { @ = sum(erlarg(0)); } ERROR { exit(0); }'
>
!~ no such term
$ erltrace -qn 'BEGIN { this->t = erlmsg; trace(this->t); } ERROR { exit(0); }'
>
!~ no such term
$ erltrace -qn 'BEGIN { x = erlget("plan", erlmsg); } ERROR { exit(0); }'
>
!~ no such term
# which function looked for it; arg5 is the same
$ erltrace -qn 'BEGIN { x = erlget("plan", erlmsg) + 1; } ERROR { printf("%d\n", arg5); exit(0); }'
> 1
>
!~ : no such term \(erlget\(\): not a map, or it has no such key\) in action #1 at BPF pc
$ erltrace -qn 'BEGIN { @ = max(erlhd(erlmsg)); } BEGIN { @ = max(erltl(erlmsg)); } BEGIN { @ = max(erlelement(2, erlmsg)); } BEGIN { trace(erlsize(erlhd(erlmsg))); } BEGIN { exit(0); }'
>
!~ ID 1 .*: no such term \(erlhd\(\): not a list, or it is empty\) in action
!~ ID 2 .*: no such term \(erltl\(\): not a list, or it is empty\) in action
!~ ID 3 .*: no such term \(erlelement\(\): not a tuple, or it has fewer elements\) in action
!~ ID 4 .*: no such term \(erlhd\(\): not a list, or it is empty\) in action
$ erltrace -qn 'BEGIN { trace(erlscaled(erlmsg, 10)); } ERROR { exit(0); }'
>
!~ no such term in action
$ erltrace -qn 'BEGIN { trace(erlsize(erlmsg)); } ERROR { exit(0); }'
>
!~ no such term
$ erltrace -qn 'BEGIN { trace(erltext(erlmsg)); } ERROR { exit(0); }'
>
!~ no such term

# the event's own, used as text, are "" where it has none
$ erltrace -qn 'BEGIN { x = erlmsg; printf("[%s][%s][%s][%s][%s] %d\n", x, erlmsg, erlargs, erlreason, erlarg(3), strlen(erlret)); trace(erlret); exit(0); }'
> [][][][][] 0
>
