# pcap() with a size that is no integer
$ erltrace -e -xerrtags -n 'BEGIN { pcap(16, "a"); }'
!~ \[D_PCAP_SIZE\]
? 1
