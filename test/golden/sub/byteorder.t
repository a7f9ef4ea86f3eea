# hton*, ntoh*: network byte order
$ erltrace -qn 'BEGIN { printf("%x %x %x\n", htons(0x1234), htonl(0x12345678), htonll(0x123456789abcdef0)); exit(0); }'
> 3412 78563412 f0debc9a78563412
>
$ erltrace -qn 'BEGIN { x = 0x12345678; printf("%x %x %x\n", ntohs(x), ntohl(x), ntohll(x)); exit(0); }'
> 7856 78563412 7856341200000000
>
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", sizeof (htons(1)), sizeof (htonl(1)), sizeof (htonll(1))); exit(0); }'
> 2 4 8
>
