/* SPDX-License-Identifier: Apache-2.0 */
/* Packets and connections, for clauses at probes of ip, udp and tcp: packet.c. */
#ifndef K_PACKET_H
#define K_PACKET_H

#include <stdint.h>

struct en_thread;

enum { ON_IPV4 = 2, ON_IPV6 = 10 }; /* AF_* */
enum { OF_TCP = 6, OF_UDP = 17 };   /* IPPROTO_* */
enum { IS_FIN = 1, IS_SYN = 2, IS_RST = 4, IS_ACK = 16 };
/* TCP_*: the last one is of a request, which is no socket yet */
enum { ESTABLISHED = 1, SYN_SENT, SYN_RECV, TIME_WAIT = 6, NEW_SYN_RECV = 12 };

/* Where in the slot (slot_kernel.text). */
enum { AT_CONN, AT_IP, AT_TRANSPORT };

/* A packet's kind: its protocol in the lowest byte, its family, where the transport's header is. */
enum { K_FAMILY = 8, K_OFFSET = 16 };
#define K_OUT (1ULL << 32)

uint64_t k_packet_kind(uint64_t skb, uint64_t ip); /* 0: it is none of IP */
uint64_t k_put_packet(struct en_thread *t, uint64_t ip, uint64_t kind, uint64_t sock);
uint64_t k_put_segment(struct en_thread *t, uint64_t sock, uint64_t state, uint64_t flags);
uint64_t k_find_conn(uint64_t ip, uint64_t kind);
uint64_t k_note_conn(uint64_t ip, uint64_t kind, uint64_t sock);
uint64_t k_note_sock(uint64_t sock);
enum { K_REQUEST = 1, K_REFUSAL };
uint64_t k_segment(uint64_t ip, uint64_t kind, uint64_t sock);

#endif
