# %B: bytes as people say them, each unit 1024 of the one before
$ erltrace -qn 'BEGIN { printf("[%B] [%B] [%B] [%B] [%B]\n", 0, 999, 1000, 1024, 1048576); exit(0); }'
> [0 B] [999 B] [1.0 KB] [1.0 KB] [1.0 MB]
>
$ erltrace -qn 'BEGIN { printf("[%10B] [%-10B] [%B] [%B]\n", 12345678, 54321, -2048, 0xffffffffffffffffull); exit(0); }'
> [   11.8 MB] [53.0 KB   ] [-2.0 KB] [16.0 EB]
>
# of an aggregation: sorted by the number
$ erltrace -qn 'BEGIN { @["a"] = sum(5000000); @["b"] = sum(900); @["c"] = sum(70000); printa("%s %@8B\n", @); trunc(@); exit(0); }'
> b    900 B
> c  68.4 KB
> a   4.8 MB
>
# a number, nothing else
$ erltrace -qn 'BEGIN { printf("%B\n", "text"); }'
!~ %B of printf\(\) takes an integer, not 'string'
? 1
