/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of probes of tcp. Members without a translation have no meaning on Linux: it keeps
 * no initial sequence number, for one.
 */
#pragma D depends_on library ip.d

/* tcps_state, by Linux's numbers */
inline int TCP_STATE_ESTABLISHED = 1;
inline int TCP_STATE_SYN_SENT = 2;
inline int TCP_STATE_SYN_RECEIVED = 3;
inline int TCP_STATE_FIN_WAIT_1 = 4;
inline int TCP_STATE_FIN_WAIT_2 = 5;
inline int TCP_STATE_TIME_WAIT = 6;
inline int TCP_STATE_CLOSED = 7;
inline int TCP_STATE_CLOSE_WAIT = 8;
inline int TCP_STATE_LAST_ACK = 9;
inline int TCP_STATE_LISTEN = 10;
inline int TCP_STATE_CLOSING = 11;
inline int TCP_STATE_REQUEST = 12; /* a SYN has come, and no socket is made for it yet */

inline string tcp_state_string[int state] =
	state == TCP_STATE_ESTABLISHED ? "state-established" :
	state == TCP_STATE_SYN_SENT ? "state-syn-sent" :
	state == TCP_STATE_SYN_RECEIVED ? "state-syn-received" :
	state == TCP_STATE_FIN_WAIT_1 ? "state-fin-wait-1" :
	state == TCP_STATE_FIN_WAIT_2 ? "state-fin-wait-2" :
	state == TCP_STATE_TIME_WAIT ? "state-time-wait" :
	state == TCP_STATE_CLOSED ? "state-closed" :
	state == TCP_STATE_CLOSE_WAIT ? "state-close-wait" :
	state == TCP_STATE_LAST_ACK ? "state-last-ack" :
	state == TCP_STATE_LISTEN ? "state-listen" :
	state == TCP_STATE_CLOSING ? "state-closing" :
	state == TCP_STATE_REQUEST ? "state-syn-received" : "<unknown>";

/* tcp_flags */
inline uint8_t TH_FIN = 0x01;
inline uint8_t TH_SYN = 0x02;
inline uint8_t TH_RST = 0x04;
inline uint8_t TH_PUSH = 0x08;
inline uint8_t TH_ACK = 0x10;
inline uint8_t TH_URG = 0x20;
inline uint8_t TH_ECE = 0x40;
inline uint8_t TH_CWR = 0x80;

typedef struct tcpsinfo {
	uintptr_t tcps_addr;
	int tcps_local;		/* are both ends on this machine? */
	int tcps_active;
	uint16_t tcps_lport;
	uint16_t tcps_rport;
	string tcps_laddr;
	string tcps_raddr;
	int32_t tcps_state;	/* 0: not known */
	uint32_t tcps_iss;
	uint32_t tcps_suna;
	uint32_t tcps_snxt;
	uint32_t tcps_rack;
	uint32_t tcps_rnxt;
	uint32_t tcps_swnd;	/* bytes */
	int32_t tcps_snd_ws;
	uint32_t tcps_rwnd;
	int32_t tcps_rcv_ws;
	uint32_t tcps_cwnd;	/* bytes */
	uint32_t tcps_cwnd_ssthresh;
	uint32_t tcps_sack_fack;
	uint32_t tcps_sack_snxt;
	uint32_t tcps_rto;
	uint32_t tcps_mss;
	int tcps_retransmit;	/* has this segment been sent before? */
} tcpsinfo_t;

translator tcpsinfo_t < netconn_t *c > {
	tcps_addr = (uintptr_t)c->sock;
	tcps_local = c->local;
	tcps_lport = c->lport;
	tcps_rport = c->rport;
	tcps_laddr = inet_ntop(c->family, c->laddr);
	tcps_raddr = inet_ntop(c->family, c->raddr);
	tcps_state = c->state;
	tcps_suna = c->tcp == 0 ? 0 : ((struct tcp_sock *)c->tcp)->snd_una;
	tcps_snxt = c->tcp == 0 ? 0 : ((struct tcp_sock *)c->tcp)->snd_nxt;
	tcps_rack = c->tcp == 0 ? 0 : ((struct tcp_sock *)c->tcp)->rcv_wup;
	tcps_rnxt = c->tcp == 0 ? 0 : ((struct tcp_sock *)c->tcp)->rcv_nxt;
	tcps_swnd = c->tcp == 0 ? 0 : ((struct tcp_sock *)c->tcp)->snd_wnd;
	tcps_snd_ws = c->tcp == 0 ? 0 : ((struct tcp_sock *)c->tcp)->rx_opt.snd_wscale;
	tcps_rwnd = c->tcp == 0 ? 0 : ((struct tcp_sock *)c->tcp)->rcv_wnd;
	tcps_rcv_ws = c->tcp == 0 ? 0 : ((struct tcp_sock *)c->tcp)->rx_opt.rcv_wscale;
	tcps_cwnd = c->tcp == 0 ? 0
				: ((struct tcp_sock *)c->tcp)->snd_cwnd *
					  ((struct tcp_sock *)c->tcp)->mss_cache;
	tcps_cwnd_ssthresh = c->tcp == 0 ? 0
					 : ((struct tcp_sock *)c->tcp)->snd_ssthresh *
						   ((struct tcp_sock *)c->tcp)->mss_cache;
	tcps_mss = c->tcp == 0 ? 0 : ((struct tcp_sock *)c->tcp)->mss_cache;
	tcps_retransmit = c->again;
};

/* The state that a connection was in. */
typedef struct tcplsinfo {
	int32_t tcps_state;
} tcplsinfo_t;

translator tcplsinfo_t < int state > {
	tcps_state = state;
};

typedef struct tcph {
	uint16_t th_sport;
	uint16_t th_dport;
	uint32_t th_seq;
	uint32_t th_ack;
	uint8_t th_offset;	/* words of the header, in the upper four bits */
	uint8_t th_flags;
	uint16_t th_win;
	uint16_t th_sum;
	uint16_t th_urp;
} tcph_t;

typedef struct tcpinfo {
	uint16_t tcp_sport;
	uint16_t tcp_dport;
	uint32_t tcp_seq;
	uint32_t tcp_ack;
	uint8_t tcp_offset;	/* bytes of the header */
	uint8_t tcp_flags;
	uint16_t tcp_window;
	uint16_t tcp_checksum;
	uint16_t tcp_urgent;
	tcph_t *tcp_hdr;
} tcpinfo_t;

translator tcpinfo_t < tcph_t *h > {
	tcp_sport = ntohs(h->th_sport);
	tcp_dport = ntohs(h->th_dport);
	tcp_seq = ntohl(h->th_seq);
	tcp_ack = ntohl(h->th_ack);
	tcp_offset = h->th_offset >> 2 & 0x3c;
	tcp_flags = h->th_flags;
	tcp_window = ntohs(h->th_win);
	tcp_checksum = ntohs(h->th_sum);
	tcp_urgent = ntohs(h->th_urp);
	tcp_hdr = h;
};
