# pcap() of what is no address
$ erltrace -e -xerrtags -n 'BEGIN { pcap("a", 1); }'
!~ \[D_PCAP_ADDR\]
? 1
