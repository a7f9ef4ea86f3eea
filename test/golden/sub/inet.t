# addresses of memory to text
< t.d
| BEGIN
| {
| 	this->a = (uint8_t *)alloca(4);
| 	this->a[0] = 192; this->a[1] = 168; this->a[2] = 0; this->a[3] = 1;
| 	printf("%s %s\n", inet_ntoa((ipaddr_t *)this->a), inet_ntop(AF_INET, this->a));
| 	this->s = (uint8_t *)alloca(16);
| 	this->s[15] = 1;
| 	printf("%s %s\n", inet_ntoa6((in6_addr_t *)this->s), inet_ntop(AF_INET6, this->s));
| 	this->s[0] = 0xfe; this->s[1] = 0x80; this->s[8] = 0x02; this->s[9] = 0x14;
| 	this->s[10] = 0x4f; this->s[11] = 0xff; this->s[12] = 0xfe; this->s[13] = 0x0b;
| 	this->s[14] = 0x76; this->s[15] = 0xc8;
| 	printf("%s\n", inet_ntop(AF_INET6, this->s));
| 	this->l = (uint8_t *)alloca(6);
| 	this->l[0] = 0xaa; this->l[1] = 0xb; this->l[5] = 0xff;
| 	printf("%s\n", link_ntop(ARPHRD_ETHER, this->l));
| 	exit(0);
| }
$ erltrace -qs t.d
> 192.168.0.1 192.168.0.1
> ::1 ::1
> fe80::214:4fff:fe0b:76c8
> aa:0b:00:00:00:ff
>
# an IPv4 address inside of an IPv6 one
< m.d
| BEGIN
| {
| 	this->s = (uint8_t *)alloca(16);
| 	this->s[10] = 0xff; this->s[11] = 0xff; this->s[12] = 10; this->s[15] = 7;
| 	printf("%s\n", inet_ntop(AF_INET6, this->s));
| 	this->z = (uint8_t *)alloca(16);
| 	this->z[0] = 1; this->z[1] = 2; this->z[15] = 3; this->z[6] = 4;
| 	printf("%s\n", inet_ntop(AF_INET6, this->z));
| 	exit(0);
| }
$ erltrace -qs m.d
> ::ffff:10.0.0.7
> 102:0:0:400::3
>
# an unknown family; a bad address
$ erltrace -qn 'BEGIN { this->a = alloca(16); trace(inet_ntop(99, this->a)); } ERROR { printf("fault\n"); exit(0); }'
> fault
>
!~ illegal operation
$ erltrace -qn 'BEGIN { trace(inet_ntoa((ipaddr_t *)8)); } ERROR { printf("%d\n", arg5); exit(0); }'
> 8
>
!~ invalid address
# a script may say again what the library has said
$ erltrace -qn 'typedef uint32_t ipaddr_t; struct in6_addr { uint8_t s6_addr[16]; }; BEGIN { printf("%d %d\n", sizeof (ipaddr_t), sizeof (in6_addr_t)); exit(0); }'
> 4 16
>
