# a deviation is divided by normalize(), not by its root
$ erltrace -qn 'BEGIN { @ = stddev(-50); @ = stddev(50); normalize(@, 10); printa("%@d\n", @); denormalize(@); printa("%@d\n", @); exit(0); }'
> 5
> 50
>
# as JSON tells it
$ erltrace --json -qn 'BEGIN { @ = stddev(-50); @ = stddev(50); normalize(@, 10); exit(0); }' | grep -o '"value":.*'
> "value":5,"normal":10}
