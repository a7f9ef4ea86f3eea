# not in the kernel: what requests carry is known inside nodes only
# outside of a flow its variables are 0, and setting them has no effect
$ erltrace -qn 'BEGIN { flow->x = 7; flow->x++; printf("%d %d %d\n", flow->x, flowid, flowdepth); exit(0); }'
> 0 0 0
>
$ erltrace -xjit=off -qn 'BEGIN { flow->x = 7; flow->x++; printf("%d\n", flow->x); exit(0); }'
> 0
>
# they have no keys
$ erltrace -e -xerrtags -n 'BEGIN { flow->x[1] = 1; }'
!~ \[D_SYNTAX\].*no keys
? 1
# another variable may have the name
$ erltrace -qn 'BEGIN { flow = 3; printf("%d\n", flow); exit(0); }'
> 3
>
