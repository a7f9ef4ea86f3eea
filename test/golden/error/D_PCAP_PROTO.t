# pcap() with too few arguments
$ erltrace -e -xerrtags -n 'BEGIN { pcap(); }'
!~ \[D_PCAP_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { pcap(1); }'
!~ \[D_PCAP_PROTO\]
? 1
