/* SPDX-License-Identifier: Apache-2.0 */
/* Address families and protocols, for inet_ntop() and the arguments of probes. */
typedef uint32_t ipaddr_t;
typedef struct in6_addr in6_addr_t; /* headers say what is in it */
inline int AF_UNSPEC = 0;
inline int AF_UNIX = 1;
inline int AF_INET = 2;
inline int AF_INET6 = 10;
inline int AF_NETLINK = 16;
inline int AF_PACKET = 17;
inline int IPPROTO_IP = 0;
inline int IPPROTO_ICMP = 1;
inline int IPPROTO_TCP = 6;
inline int IPPROTO_UDP = 17;
inline int IPPROTO_IPV6 = 41;
inline int IPPROTO_ICMPV6 = 58;
inline int IPPROTO_SCTP = 132;
inline int ARPHRD_ETHER = 1;
inline int ARPHRD_INFINIBAND = 32;
