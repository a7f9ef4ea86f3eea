/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of probes of ip, and what those of tcp and udp have in common with them. Headers
 * are copies as they are on the wire, which last as long as the clause: what is behind a type of a
 * probe's own (netconn_t and the like) is kernel/net_event.h's.
 */
#pragma D depends_on library net.d

typedef struct netconn {
	uint64_t sock;		/* the kernel's struct sock; 0: not known */
	uint64_t tcp;		/* the same, if it is a struct tcp_sock */
	uint64_t laddr, raddr;	/* where the addresses are */
	int32_t family, state;
	uint16_t lport, rport;
	uint8_t local, again;
} netconn_t;

typedef struct pktinfo {
	uintptr_t pkt_addr;	/* the kernel's struct sk_buff; 0: the packet is not known */
} pktinfo_t;

translator pktinfo_t < uintptr_t p > {
	pkt_addr = p;
};

typedef int zoneid_t;

typedef struct csinfo {
	uintptr_t cs_addr;
	uint64_t cs_cid;	/* the same for all events of one end of a connection */
	pid_t cs_pid;
	zoneid_t cs_zoneid;
} csinfo_t;

translator csinfo_t < netconn_t *c > {
	cs_addr = (uintptr_t)c->sock;
	cs_cid = c->sock;
	cs_pid = -1; /* a socket belongs to no one process */
	cs_zoneid = 0;
};

/* A header of IPv4 */
typedef struct ipha {
	uint8_t ipha_version_and_hdr_length;
	uint8_t ipha_type_of_service;
	uint16_t ipha_length;
	uint16_t ipha_ident;
	uint16_t ipha_fragment_offset_and_flags;
	uint8_t ipha_ttl;
	uint8_t ipha_protocol;
	uint16_t ipha_hdr_checksum;
	ipaddr_t ipha_src;
	ipaddr_t ipha_dst;
} ipha_t;

/* A header of IPv6 */
typedef struct ip6_hdr {
	uint32_t ip6_flow;
	uint16_t ip6_plen;
	uint8_t ip6_nxt;
	uint8_t ip6_hlim;
	uint8_t ip6_src[16];
	uint8_t ip6_dst[16];
} ip6_t;

/* Either of them */
typedef struct iphead {
	uint8_t version;
} iphead_t;

typedef struct ipinfo {
	uint8_t ip_ver;
	uint32_t ip_plength;	/* bytes behind the header */
	string ip_saddr;
	string ip_daddr;
} ipinfo_t;

translator ipinfo_t < iphead_t *h > {
	ip_ver = h->version >> 4;
	ip_plength = h->version >> 4 == 4
			     ? ntohs(((ipha_t *)h)->ipha_length) - 4 * (h->version & 15)
			     : ntohs(((ip6_t *)h)->ip6_plen);
	ip_saddr = inet_ntop(h->version >> 4 == 4 ? AF_INET : AF_INET6,
		(uintptr_t)h + (h->version >> 4 == 4 ? 12 : 8));
	ip_daddr = inet_ntop(h->version >> 4 == 4 ? AF_INET : AF_INET6,
		(uintptr_t)h + (h->version >> 4 == 4 ? 16 : 24));
};

typedef uint64_t netstackid_t;
typedef struct net_device netdev_t; /* of the kernel's */

typedef struct ifinfo {
	string if_name;
	int8_t if_local;	/* is it the loopback? */
	netstackid_t if_ipstack;
	uintptr_t if_addr;
} ifinfo_t;

translator ifinfo_t < netdev_t *d > {
	if_name = d == NULL ? "<none>" : stringof(d->name);
	if_local = d == NULL ? 0 : d->flags >> 3 & 1;
	if_ipstack = 0;
	if_addr = (uintptr_t)d;
};

inline string ip_protocol_name[int n] =
	n == IPPROTO_TCP ? "TCP" : n == IPPROTO_UDP ? "UDP" : n == IPPROTO_ICMP ? "ICMP" :
	n == IPPROTO_ICMPV6 ? "ICMPV6" : n == IPPROTO_SCTP ? "SCTP" : n == 2 ? "IGMP" :
	n == 4 ? "IPIP" : n == IPPROTO_IPV6 ? "IPV6" : n == 0 ? "HOPOPT" : n == 43 ? "ROUTING" :
	n == 44 ? "FRAGMENT" : n == 47 ? "GRE" : n == 50 ? "ESP" : n == 51 ? "AH" :
	n == 59 ? "NONE" : n == 60 ? "DSTOPTS" : "";

typedef struct ipv4info {
	uint8_t ipv4_ver;
	uint8_t ipv4_ihl;	/* bytes of the header */
	uint8_t ipv4_tos;
	uint16_t ipv4_length;
	uint16_t ipv4_ident;
	uint8_t ipv4_flags;
	uint16_t ipv4_offset;	/* of a fragment, in bytes */
	uint8_t ipv4_ttl;
	uint8_t ipv4_protocol;
	string ipv4_protostr;
	uint16_t ipv4_checksum;
	ipaddr_t ipv4_src;
	ipaddr_t ipv4_dst;
	string ipv4_saddr;
	string ipv4_daddr;
	ipha_t *ipv4_hdr;
} ipv4info_t;

translator ipv4info_t < ipha_t *h > { /* NULL: a packet of IPv6 */
	ipv4_ver = h == NULL ? 0 : h->ipha_version_and_hdr_length >> 4;
	ipv4_ihl = h == NULL ? 0 : (h->ipha_version_and_hdr_length & 15) << 2;
	ipv4_tos = h == NULL ? 0 : h->ipha_type_of_service;
	ipv4_length = h == NULL ? 0 : ntohs(h->ipha_length);
	ipv4_ident = h == NULL ? 0 : ntohs(h->ipha_ident);
	ipv4_flags = h == NULL ? 0 : ntohs(h->ipha_fragment_offset_and_flags) >> 12;
	ipv4_offset = h == NULL ? 0 : (ntohs(h->ipha_fragment_offset_and_flags) & 0x1fff) << 3;
	ipv4_ttl = h == NULL ? 0 : h->ipha_ttl;
	ipv4_protocol = h == NULL ? 0 : h->ipha_protocol;
	ipv4_protostr = h == NULL ? "" : ip_protocol_name[h->ipha_protocol];
	ipv4_checksum = h == NULL ? 0 : ntohs(h->ipha_hdr_checksum);
	ipv4_src = h == NULL ? 0 : h->ipha_src;
	ipv4_dst = h == NULL ? 0 : h->ipha_dst;
	ipv4_saddr = h == NULL ? "" : inet_ntop(AF_INET, (uintptr_t)h + 12);
	ipv4_daddr = h == NULL ? "" : inet_ntop(AF_INET, (uintptr_t)h + 16);
	ipv4_hdr = h;
};

inline int IPH_DF = 4;	/* ipv4_flags: don't fragment, more fragments */
inline int IPH_MF = 2;

typedef struct ipv6info {
	uint8_t ipv6_ver;
	uint8_t ipv6_tclass;
	uint32_t ipv6_flow;
	uint16_t ipv6_plen;
	uint8_t ipv6_nexthdr;
	string ipv6_nextstr;
	uint8_t ipv6_hlim;
	string ipv6_saddr;
	string ipv6_daddr;
	ip6_t *ipv6_hdr;
} ipv6info_t;

translator ipv6info_t < ip6_t *h > { /* NULL: a packet of IPv4 */
	ipv6_ver = h == NULL ? 0 : ntohl(h->ip6_flow) >> 28;
	ipv6_tclass = h == NULL ? 0 : ntohl(h->ip6_flow) >> 20 & 0xff;
	ipv6_flow = h == NULL ? 0 : ntohl(h->ip6_flow) & 0xfffff;
	ipv6_plen = h == NULL ? 0 : ntohs(h->ip6_plen);
	ipv6_nexthdr = h == NULL ? 0 : h->ip6_nxt;
	ipv6_nextstr = h == NULL ? "" : ip_protocol_name[h->ip6_nxt];
	ipv6_hlim = h == NULL ? 0 : h->ip6_hlim;
	ipv6_saddr = h == NULL ? "" : inet_ntop(AF_INET6, (uintptr_t)h + 8);
	ipv6_daddr = h == NULL ? "" : inet_ntop(AF_INET6, (uintptr_t)h + 24);
	ipv6_hdr = h;
};
