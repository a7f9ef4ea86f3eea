/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the providers ip, udp and tcp (kernel/events/net.c has the table): packets that IP
 * hands to a device or gets from one, and TCP's connections. Part of entries.c; packet.c has the
 * rest.
 */
#include "packet.h"

enum { BRIDGE_PORT = 1 << 9 }; /* of net_device.priv_flags */

#define NET_AT(f, which) ((uint64_t)(uintptr_t)(f)->thread->k.text[which])

static inline void fire_packet(
	void *ctx, unsigned which, uint64_t skb, uint64_t ip, uint64_t kind, uint64_t sock)
{
	struct fire *f = begin(&k_root, k_root.net[which]);
	bool of_ip = which == K_IP_SEND || which == K_IP_RECEIVE;

	if (f == NULL)
		return;
	if (f->probe->argmask != 0) {
		f->arg[0] = skb;
		k_put_packet(f->thread, ip, kind, sock);
		f->arg[1] = f->arg[3] = NET_AT(f, AT_CONN);
		f->arg[2] = NET_AT(f, AT_IP);
		f->arg[4] = NET_AT(f, AT_TRANSPORT);
		if (of_ip) {
			f->arg[3] = task_u64(skb, k_root.net_off.dev);
			f->arg[4] = f->arg[5] = 0;
			f->arg[(kind >> K_FAMILY & 0xff) == ON_IPV4 ? 4 : 5] = NET_AT(f, AT_IP);
		}
	}
	stacks(ctx, f);
	run(f);
}

/* Is it on its way through a device that another one stood for, which it has passed already? */
static inline bool is_passed_on(uint64_t skb)
{
	uint64_t route = task_u64(skb, k_root.net_off.dst) & ~1ULL;

	return route != 0 &&
	       task_u64(route, k_root.net_off.dst_dev) != task_u64(skb, k_root.net_off.dev);
}

/*
 * A program fires the probes of a packet one after the other, and each time looks at the packet
 * anew: what it would keep meanwhile would be stack that the clauses need.
 */
static inline void packet_out(uint64_t *ctx, bool of_ip, bool of_conn)
{
	uint64_t skb = CTX(0), sock = 0, what = K_IP_SEND;
	uint64_t ip = task_u64(skb, k_root.net_off.head) +
		      (task_u32(skb, k_root.net_off.network) & 0xffff);
	uint64_t kind = is_passed_on(skb) ? 0 : k_packet_kind(skb, ip) | K_OUT;
	bool own = task_u32(skb, k_root.net_off.iif) == 0;

	if ((uint32_t)kind == 0 || (!of_ip && (!own || (kind & 0xff) == 0)))
		return;
	if (own)
		sock = task_u64(skb, k_root.net_off.skb_sock);
	if (of_conn) {
		what = (kind & 0xff) == OF_TCP ? k_segment(ip, kind, sock) : 0;
		if (what == 0)
			return;
		what = what == K_REQUEST ? K_TCP_CONNECT_REQUEST : K_TCP_ACCEPT_REFUSED;
	} else if (!of_ip) {
		what = (kind & 0xff) == OF_TCP ? K_TCP_SEND : K_UDP_SEND;
		if (k_root.conns != NULL && what == K_TCP_SEND)
			k_note_conn(ip, kind, sock);
	}
	fire_packet(ctx, (unsigned)what, skb, ip, kind, sock);
}

/* net_dev_queue: a packet, for its device. What is forwarded has come by a device before. */
uint64_t k_net_out(uint64_t *ctx)
{
	if (k_root.net[K_TCP_SEND] != NULL || k_root.net[K_UDP_SEND] != NULL ||
		k_root.conns != NULL)
		packet_out(ctx, false, false);
	if (k_root.net[K_TCP_CONNECT_REQUEST] != NULL || k_root.net[K_TCP_ACCEPT_REFUSED] != NULL)
		packet_out(ctx, false, true);
	if (k_root.net[K_IP_SEND] != NULL)
		packet_out(ctx, true, false);
	return 0;
}

static inline void packet_in(uint64_t *ctx, bool of_ip)
{
	uint64_t skb = CTX(0), dev = task_u64(skb, k_root.net_off.dev);
	uint64_t ip = task_u64(skb, k_root.net_off.data), kind, sock = 0;
	unsigned which = K_IP_RECEIVE;

	if (task_u32(dev, k_root.net_off.dev_flags) & BRIDGE_PORT)
		return;
	kind = k_packet_kind(skb, ip);
	if (kind == 0 || (!of_ip && (kind & 0xff) == 0))
		return;
	if (k_root.conns != NULL && (kind & 0xff) == OF_TCP)
		sock = k_find_conn(ip, kind);
	if (!of_ip)
		which = (kind & 0xff) == OF_TCP ? K_TCP_RECEIVE : K_UDP_RECEIVE;
	fire_packet(ctx, which, skb, ip, kind, sock);
}

/* netif_receive_skb: a packet. One that a bridge gets it hands on, to IP too, if it is for here. */
uint64_t k_net_in(uint64_t *ctx)
{
	if (k_root.net[K_IP_RECEIVE] != NULL)
		packet_in(ctx, true);
	if (k_root.net[K_TCP_RECEIVE] != NULL || k_root.net[K_UDP_RECEIVE] != NULL)
		packet_in(ctx, false);
	return 0;
}

/* ---- connections -------------------------------------------------------------------------- */

/* flags: of the segment that has made the change; 0: it may not have been one. */
static inline void fire_conn(
	void *ctx, unsigned which, uint64_t sock, uint64_t state, uint64_t flags)
{
	struct fire *f = begin(&k_root, k_root.net[which]);

	if (f == NULL)
		return;
	if (f->probe->argmask != 0) {
		k_put_segment(f->thread, sock, state, flags);
		f->arg[0] = 0;
		f->arg[1] = f->arg[3] = NET_AT(f, AT_CONN);
		f->arg[2] = flags != 0 ? NET_AT(f, AT_IP) : 0;
		f->arg[4] = flags != 0 ? NET_AT(f, AT_TRANSPORT) : 0;
		f->arg[5] = task_u32(sock, k_root.net_off.state) & 0xff;
	}
	stacks(ctx, f);
	run(f);
}

/* inet_sock_set_state: socket, old state, new one, before the socket has it. */
uint64_t k_tcp_state(uint64_t *ctx)
{
	uint64_t sock = CTX(0), from = (uint32_t)CTX(1), to = (uint32_t)CTX(2);

	if ((task_u32(sock, k_root.net_off.sock_protocol) & 0xffff) != OF_TCP)
		return 0;
	fire_conn(ctx, K_TCP_STATE_CHANGE, sock, to, 0);
	if (to != ESTABLISHED)
		return 0;
	if (k_root.conns != NULL)
		k_note_sock(sock);
	if (from == SYN_SENT)
		fire_conn(ctx, K_TCP_CONNECT_ESTABLISHED, sock, to, IS_SYN | IS_ACK);
	else if (from == SYN_RECV)
		fire_conn(ctx, K_TCP_ACCEPT_ESTABLISHED, sock, to, IS_ACK);
	return 0;
}

/* tcp_receive_reset: the socket that a reset is for, before it is closed. */
uint64_t k_tcp_reset(uint64_t *ctx)
{
	uint64_t sock = CTX(0);

	if ((task_u32(sock, k_root.net_off.state) & 0xff) == SYN_SENT)
		fire_conn(ctx, K_TCP_CONNECT_REFUSED, sock, SYN_SENT, IS_RST | IS_ACK);
	return 0;
}
