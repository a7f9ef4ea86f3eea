/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's half hands to clauses at probes of tcp, udp and ip, beside the headers: the
 * same structure is in d/lib/ip.d. And where the kernel has what that is made of. net.c, bpf/net.h
 */
#ifndef K_NET_EVENT_H
#define K_NET_EVENT_H

#include <stdint.h>

/* One end of a connection, or what a packet tells of it. */
struct k_conn {
	uint64_t sock; /* struct sock; 0: not known */
	uint64_t tcp;  /* the same if it is a tcp_sock, and whole: no request, not in TIME_WAIT */
	uint64_t laddr, raddr; /* where the addresses are */
	int32_t family, state; /* AF_INET, AF_INET6; TCP_*, 0: not known */
	uint16_t lport, rport;
	uint8_t local; /* both ends are this machine */
	uint8_t again; /* the segment has been sent before */
};

/* Events by provider and name: net.c has a row for each. */
enum k_net_event {
	K_IP_SEND, K_IP_RECEIVE, K_UDP_SEND, K_UDP_RECEIVE, K_TCP_SEND, K_TCP_RECEIVE,
	K_TCP_CONNECT_REQUEST, K_TCP_ACCEPT_REFUSED, K_TCP_STATE_CHANGE, K_TCP_CONNECT_ESTABLISHED,
	K_TCP_ACCEPT_ESTABLISHED, K_TCP_CONNECT_REFUSED,
	K_NET_EVENTS
};

enum { K_CONNS = 1 << 15 }; /* connections whose sockets are noted */

struct k_net_offsets {
	/* of a packet */
	uint32_t head, data, network, skb_sock, dev, iif, protocol, dst, dst_dev, dev_flags;
	/* of a socket */
	uint32_t family, state, lport, rport, laddr, raddr, laddr6, raddr6, sock_protocol;
	/* of one of TCP's */
	uint32_t snd_nxt, rcv_nxt;
};

#endif
