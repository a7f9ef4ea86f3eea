/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of probes of udp. */
#pragma D depends_on library ip.d

typedef struct udpsinfo {
	uintptr_t udps_addr;
	uint16_t udps_lport;
	uint16_t udps_rport;
	string udps_laddr;
	string udps_raddr;
} udpsinfo_t;

translator udpsinfo_t < netconn_t *c > {
	udps_addr = (uintptr_t)c->sock;
	udps_lport = c->lport;
	udps_rport = c->rport;
	udps_laddr = inet_ntop(c->family, c->laddr);
	udps_raddr = inet_ntop(c->family, c->raddr);
};

typedef struct udpha {
	uint16_t uha_src_port;
	uint16_t uha_dst_port;
	uint16_t uha_length;
	uint16_t uha_checksum;
} udpha_t;

typedef struct udpinfo {
	uint16_t udp_sport;
	uint16_t udp_dport;
	uint16_t udp_length;	/* with the header's 8 bytes */
	uint16_t udp_checksum;
	udpha_t *udp_hdr;
} udpinfo_t;

translator udpinfo_t < udpha_t *h > {
	udp_sport = ntohs(h->uha_src_port);
	udp_dport = ntohs(h->uha_dst_port);
	udp_length = ntohs(h->uha_length);
	udp_checksum = ntohs(h->uha_checksum);
	udp_hdr = h;
};
