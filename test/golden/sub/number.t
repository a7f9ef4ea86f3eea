# lltostr(): decimal
$ erltrace -qn 'BEGIN { printf("%s %s %s %s\n", lltostr(0), lltostr(-5), lltostr(9223372036854775807), lltostr(-9223372036854775807 - 1)); exit(0); }'
> 0 -5 9223372036854775807 -9223372036854775808
>
# with a base: 8 has a leading 0, 16 a 0x; negative numbers are 64 bits there
$ erltrace -qn 'BEGIN { printf("%s %s %s %s %s\n", lltostr(255, 16), lltostr(8, 8), lltostr(5, 2), lltostr(35, 36), lltostr(-12, 10)); exit(0); }'
> 0xff 010 101 z -12
>
$ erltrace -qn 'BEGIN { printf("%s %s %s %s\n", lltostr(0, 16), lltostr(0, 8), lltostr(0, 2), lltostr(-1, 16)); exit(0); }'
> 0x0 0 0 0xffffffffffffffff
>
$ erltrace -qn 'BEGIN { b = 2; printf("%s\n", lltostr(-1, b)); exit(0); }'
> 1111111111111111111111111111111111111111111111111111111111111111
>
# no such base: illegal operation
$ erltrace -qn 'BEGIN { b = 1; trace(lltostr(5, b)); } ERROR { printf("fault\n"); exit(0); }'
> fault
>
!~ illegal operation
$ erltrace -qn 'BEGIN { b = 37; trace(lltostr(5, b)); } ERROR { printf("fault\n"); exit(0); }'
> fault
>
!~ illegal operation
# strtoll(): space and sign first, ends where digits end
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d\n", strtoll("42"), strtoll("-42"), strtoll("  +7x9"), strtoll(""), strtoll("x")); exit(0); }'
> 42 -42 7 0 0
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d\n", strtoll("ff", 16), strtoll("0x1F", 16), strtoll("101", 2), strtoll("zZ", 36), strtoll("-777", 8)); exit(0); }'
> 255 31 5 1295 -511
>
$ erltrace -qn 'BEGIN { printf("%d %d\n", strtoll("9223372036854775807"), strtoll(lltostr(-123456789012))); exit(0); }'
> 9223372036854775807 -123456789012
>
