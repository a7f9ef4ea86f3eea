# inet_ntoa6() takes a pointer of any type
< t.d
| BEGIN
| {
| 	this->i = (int *)alloca(16);
| 	this->i[0] = htonl(0x20010db8); this->i[3] = htonl(1);
| 	printf("%s %s %s\n", inet_ntoa6(this->i), inet_ntoa6((in6_addr_t *)this->i), inet_ntoa6((void *)this->i));
| 	exit(0);
| }
$ erltrace -qs t.d
> 2001:db8::1 2001:db8::1 2001:db8::1
>

# of an address that embeds one of IPv4 it gives only that; inet_ntop() gives both
< v4.d
| BEGIN
| {
| 	this->i = (int *)alloca(16);
| 	this->i[3] = htonl(0x0a000007);
| 	printf("%s %s\n", inet_ntoa6(this->i), inet_ntop(AF_INET6, this->i));
| 	this->i[2] = htonl(0xffff);
| 	printf("%s %s\n", inet_ntoa6(this->i), inet_ntop(AF_INET6, this->i));
| 	this->i[3] = 0; this->i[2] = 0;
| 	printf("%s %s\n", inet_ntoa6(this->i), inet_ntop(AF_INET6, this->i));
| 	this->i[3] = htonl(1);
| 	printf("%s %s\n", inet_ntoa6(this->i), inet_ntop(AF_INET6, this->i));
| 	this->i[2] = htonl(5);
| 	printf("%s %s\n", inet_ntoa6(this->i), inet_ntop(AF_INET6, this->i));
| 	exit(0);
| }
$ erltrace -qs v4.d
> 10.0.0.7 ::10.0.0.7
> 10.0.0.7 ::ffff:10.0.0.7
> :: ::
> ::1 ::1
> ::5:0:1 ::5:0:1
>

# a bad address is a fault
$ erltrace -qn 'BEGIN { printf("%s", inet_ntoa6((int *)NULL)); } BEGIN { exit(0); }'
>
!~ invalid address \(0x0\)
