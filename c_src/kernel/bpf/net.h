/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the providers ip, udp and tcp (kernel/events/net.c has the table): packets that IP hands to a
 * device or gets from one, and TCP's connections. Part of entries.c.
 *
 * What clauses read of a packet is copied into the slot, as D reads only numbers at addresses that
 * they fit. Where an event is known without its packet, the same headers are made from the
 * connection.
 */

enum { OF_IPV4 = 0x0008, OF_IPV6 = 0xdd86 }; /* skb.protocol */
enum { ON_IPV4 = 2, ON_IPV6 = 10 };	     /* AF_* */
enum { OF_TCP = 6, OF_UDP = 17 };	     /* IPPROTO_* */
enum { IS_FIN = 1, IS_SYN = 2, IS_RST = 4, IS_ACK = 16 };
/* TCP_*: the last one is of a request, which is no socket yet */
enum { ESTABLISHED = 1, SYN_SENT, SYN_RECV, TIME_WAIT = 6, NEW_SYN_RECV = 12 };
enum { BRIDGE_PORT = 1 << 9 };		     /* of net_device.priv_flags */
enum { MOST_EXTENSIONS = 6 };		     /* headers of IPv6 before the transport's */

/* Where in the slot; each is an array of 256 bytes. */
enum { AT_CONN, AT_IP, AT_TRANSPORT };
#define NET_AT(f, which) ((uint64_t)(uintptr_t)(f)->thread->k.text[which])

struct packet {
	uint64_t skb, sock;
	uint64_t ip[5];	       /* the header of IPv6, or what is fixed of IPv4's */
	uint64_t transport[3]; /* of TCP and UDP: 20 bytes */
	uint32_t family, protocol; /* protocol 0: of another one, or not its first fragment */
};

static inline uint32_t net_u16(uint64_t at, uint32_t off)
{
	return task_u32(at, off) & 0xffff;
}

static inline uint32_t net_u8(uint64_t at, uint32_t off)
{
	return task_u32(at, off) & 0xff;
}

static inline uint32_t swap16(uint32_t v)
{
	return __builtin_bswap16((uint16_t)v);
}

static inline uint32_t swap32(uint32_t v)
{
	return __builtin_bswap32(v);
}

/* Words of a header: they begin with its first byte, in the lowest bits. */
static inline uint32_t byte_of(const uint64_t *words, unsigned i)
{
	return words[i / 8] >> i % 8 * 8 & 0xff;
}

static inline uint32_t word_of(const uint64_t *words, unsigned i)
{
	return (uint32_t)(words[i / 8] >> i % 8 * 8);
}

/* Behind the headers of IPv6 that come first; 0: there is none, or in another fragment. */
static inline uint64_t behind_extensions(uint64_t at, uint32_t *protocol)
{
	uint32_t next = *protocol;

	for (uint64_t i = unknown_zero(); i < MOST_EXTENSIONS; i++) {
		uint32_t head = task_u32(at, 0);

		if (next == 44) { /* a fragment */
			if ((swap16(head >> 16) & 0xfff8) != 0)
				return 0;
			at += 8;
		} else if (next == 0 || next == 43 || next == 60) { /* each hop, route, destination */
			at += 8 * (1 + (head >> 8 & 0xff));
		} else {
			*protocol = next;
			return at;
		}
		next = head & 0xff;
	}
	return 0;
}

static inline bool read_packet(struct packet *p, uint64_t skb, uint64_t ip)
{
	uint32_t of = net_u16(skb, k_root.net_off.protocol), n = 20;
	uint64_t at;

	if (of != OF_IPV4 && of != OF_IPV6)
		return false;
	if (bpf_probe_read_kernel(p->ip, sizeof(p->ip), (const void *)(uintptr_t)ip) != 0)
		return false;
	p->skb = skb;
	p->sock = 0;
	p->transport[0] = p->transport[1] = p->transport[2] = 0;
	p->family = of == OF_IPV4 ? ON_IPV4 : ON_IPV6;
	if (of == OF_IPV4) {
		p->protocol = byte_of(p->ip, 9);
		at = swap16(word_of(p->ip, 6) & 0xffff) & 0x1fff
			     ? 0
			     : ip + 4 * (byte_of(p->ip, 0) & 15);
	} else {
		p->protocol = byte_of(p->ip, 6);
		at = behind_extensions(ip + 40, &p->protocol);
	}
	if (p->protocol == OF_UDP)
		n = 8;
	if ((p->protocol != OF_TCP && p->protocol != OF_UDP) || at == 0 ||
		bpf_probe_read_kernel(p->transport, n, (const void *)(uintptr_t)at) != 0)
		p->protocol = 0;
	return true;
}

/* ---- what clauses are told -------------------------------------------------------------- */

static inline bool is_whole(uint32_t state)
{
	return state != 0 && state != TIME_WAIT && state != NEW_SYN_RECV;
}

/* How far a number of TCP's is ahead of another one. */
static inline int32_t ahead(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}

/* Bytes of a segment's data, and one for SYN and for FIN. */
static inline uint32_t segment_length(const struct packet *p)
{
	uint32_t head = 4 * (byte_of(p->transport, 12) >> 4), flags = byte_of(p->transport, 13);
	uint32_t all = p->family == ON_IPV4
			       ? swap16(word_of(p->ip, 2) & 0xffff) - 4 * (byte_of(p->ip, 0) & 15)
			       : swap16(word_of(p->ip, 4) & 0xffff);

	return all - head + (flags & IS_SYN ? 1 : 0) + (flags & IS_FIN ? 1 : 0);
}

/* A segment that goes out: TCP counts it only when it is on its way for the first time. */
static inline bool is_sent_again(const struct packet *p, uint32_t state)
{
	return p->protocol == OF_TCP && is_whole(state) && segment_length(p) != 0 &&
	       ahead(swap32(word_of(p->transport, 4)),
		       task_u32(p->sock, k_root.net_off.snd_nxt)) < 0;
}

static inline void put_headers(struct fire *f, const struct packet *p)
{
	uint64_t *ip = (uint64_t *)(void *)f->thread->k.text[AT_IP];
	uint64_t *to = (uint64_t *)(void *)f->thread->k.text[AT_TRANSPORT];

	ip[0] = p->ip[0];
	ip[1] = p->ip[1];
	ip[2] = p->ip[2];
	ip[3] = p->ip[3];
	ip[4] = p->ip[4];
	to[0] = p->transport[0];
	to[1] = p->transport[1];
	to[2] = p->transport[2];
}

/* Of the copy of the headers that put_headers() has made. */
static inline struct k_conn *put_conn(
	struct fire *f, const struct packet *p, uint32_t state, bool out)
{
	struct k_conn *c = (struct k_conn *)(void *)f->thread->k.text[AT_CONN];
	bool v4 = p->family == ON_IPV4;
	uint64_t from = NET_AT(f, AT_IP) + (v4 ? 12 : 8), to = NET_AT(f, AT_IP) + (v4 ? 16 : 24);
	uint32_t ports = word_of(p->transport, 0), source = swap16(ports & 0xffff);
	uint32_t target = swap16(ports >> 16), ends = word_of(p->ip, 12);

	c->sock = p->sock;
	c->tcp = p->sock != 0 && is_whole(state) ? p->sock : 0;
	c->family = (int32_t)p->family;
	c->state = (int32_t)state;
	c->laddr = out ? from : to;
	c->raddr = out ? to : from;
	c->lport = (uint16_t)(out ? source : target);
	c->rport = (uint16_t)(out ? target : source);
	if (v4)
		c->local = (ends & 0xff) == 127 || ends == word_of(p->ip, 16);
	else
		c->local = p->ip[1] == p->ip[3] && p->ip[2] == p->ip[4];
	c->again = 0;
	return c;
}

static inline void fire_packet(
	void *ctx, const struct packet *p, unsigned which, bool out, bool of_ip)
{
	struct fire *f = begin(&k_root, k_root.net[which]);
	uint32_t state;
	struct k_conn *c;

	if (f == NULL)
		return;
	if (f->probe->argmask != 0) {
		state = p->sock != 0 ? net_u8(p->sock, k_root.net_off.state) : 0;
		put_headers(f, p);
		c = put_conn(f, p, state, out);
		if (out)
			c->again = is_sent_again(p, state);
		f->arg[0] = p->skb;
		f->arg[1] = NET_AT(f, AT_CONN);
		f->arg[2] = NET_AT(f, AT_IP);
		if (of_ip) {
			f->arg[3] = task_u64(p->skb, k_root.net_off.dev);
			f->arg[4] = p->family == ON_IPV4 ? NET_AT(f, AT_IP) : 0;
			f->arg[5] = p->family == ON_IPV4 ? 0 : NET_AT(f, AT_IP);
		} else {
			f->arg[3] = NET_AT(f, AT_CONN);
			f->arg[4] = NET_AT(f, AT_TRANSPORT);
		}
	}
	stacks(ctx, f);
	run(f);
}

/* ---- packets ------------------------------------------------------------------------------ */

/* Is it on its way through a device that stands for others, and has been sent through that already? */
static inline bool is_passed_on(uint64_t skb)
{
	uint64_t route = task_u64(skb, k_root.net_off.dst) & ~1ULL;

	return route != 0 && task_u64(route, k_root.net_off.dst_dev) !=
				     task_u64(skb, k_root.net_off.dev);
}

/* An answer to a SYN at a port where nobody listens: only that has no number to begin with. */
static inline bool is_refusal(const struct packet *p)
{
	return (byte_of(p->transport, 13) & (IS_RST | IS_ACK)) == (IS_RST | IS_ACK) &&
	       word_of(p->transport, 4) == 0;
}

/* The first SYN of a connection: it may be sent several times. */
static inline bool is_request(const struct packet *p)
{
	return (byte_of(p->transport, 13) & (IS_SYN | IS_ACK)) == IS_SYN && p->sock != 0 &&
	       !is_sent_again(p, net_u8(p->sock, k_root.net_off.state));
}

static inline void tcp_out(void *ctx, const struct packet *p)
{
	fire_packet(ctx, p, K_TCP_SEND, true, false);
	if (k_root.net[K_TCP_CONNECT_REQUEST] != NULL && is_request(p))
		fire_packet(ctx, p, K_TCP_CONNECT_REQUEST, true, false);
	if (is_refusal(p))
		fire_packet(ctx, p, K_TCP_ACCEPT_REFUSED, true, false);
}

/* net_dev_queue: a packet, for its device. What is forwarded has come by a device before. */
uint64_t k_net_out(uint64_t *ctx)
{
	uint64_t skb = CTX(0), head = task_u64(skb, k_root.net_off.head);
	struct packet p;

	if (is_passed_on(skb) || !read_packet(&p, skb, head + net_u16(skb, k_root.net_off.network)))
		return 0;
	if (task_u32(skb, k_root.net_off.iif) == 0) {
		p.sock = task_u64(skb, k_root.net_off.skb_sock);
		if (p.protocol == OF_TCP)
			tcp_out(ctx, &p);
		else if (p.protocol == OF_UDP)
			fire_packet(ctx, &p, K_UDP_SEND, true, false);
	}
	fire_packet(ctx, &p, K_IP_SEND, true, true);
	return 0;
}

/* netif_receive_skb: a packet. One that a bridge gets it hands on, to IP too, if it is for here. */
uint64_t k_net_in(uint64_t *ctx)
{
	uint64_t skb = CTX(0), dev = task_u64(skb, k_root.net_off.dev);
	struct packet p;

	if ((task_u32(dev, k_root.net_off.dev_flags) & BRIDGE_PORT) ||
		!read_packet(&p, skb, task_u64(skb, k_root.net_off.data)))
		return 0;
	fire_packet(ctx, &p, K_IP_RECEIVE, false, true);
	if (p.protocol == OF_TCP)
		fire_packet(ctx, &p, K_TCP_RECEIVE, false, false);
	else if (p.protocol == OF_UDP)
		fire_packet(ctx, &p, K_UDP_RECEIVE, false, false);
	return 0;
}

/* ---- connections -------------------------------------------------------------------------- */

/* The segment that has changed a connection, as far as the connection tells what was in it. */
static inline void make_packet(struct packet *p, uint64_t sock, uint32_t flags)
{
	const struct k_net_offsets *o = &k_root.net_off;
	uint64_t mapped = task_u64(sock, o->raddr6) |
			  (task_u32(sock, o->raddr6 + 8) ^ 0xffff0000);
	uint32_t seq = task_u32(sock, o->rcv_nxt) - (flags & IS_SYN ? 1 : 0);
	uint64_t ports = net_u16(sock, o->rport) | net_u16(sock, o->lport) << 16;

	p->skb = 0;
	p->sock = sock;
	p->protocol = OF_TCP;
	p->ip[2] = p->ip[3] = p->ip[4] = 0;
	if (net_u16(sock, o->family) == ON_IPV4 || mapped == 0) {
		p->family = ON_IPV4;
		p->ip[0] = 0x28000045; /* version, length of the header; of all: 40 */
		p->ip[1] = OF_TCP << 8 | (uint64_t)task_u32(sock, o->raddr) << 32;
		p->ip[2] = task_u32(sock, o->laddr);
	} else {
		p->family = ON_IPV6;
		p->ip[0] = 0x60 | 20ULL << 40 | (uint64_t)OF_TCP << 48;
		p->ip[1] = task_u64(sock, o->raddr6);
		p->ip[2] = task_u64(sock, o->raddr6 + 8);
		p->ip[3] = task_u64(sock, o->laddr6);
		p->ip[4] = task_u64(sock, o->laddr6 + 8);
	}
	if (flags & IS_RST)
		seq = 0;
	p->transport[0] = ports | (uint64_t)swap32(seq) << 32;
	p->transport[1] = swap32(task_u32(sock, o->snd_nxt)) | 5ULL << 36 | (uint64_t)flags << 40;
	p->transport[2] = 0;
}

static inline void fire_conn(void *ctx, uint64_t sock, unsigned which, uint32_t state,
	uint32_t flags)
{
	struct fire *f = begin(&k_root, k_root.net[which]);
	struct packet p;

	if (f == NULL)
		return;
	if (f->probe->argmask != 0) {
		make_packet(&p, sock, flags);
		put_headers(f, &p);
		put_conn(f, &p, state, false);
		f->arg[0] = 0;
		f->arg[1] = f->arg[3] = NET_AT(f, AT_CONN);
		f->arg[2] = flags != 0 ? NET_AT(f, AT_IP) : 0;
		f->arg[4] = flags != 0 ? NET_AT(f, AT_TRANSPORT) : 0;
		f->arg[5] = net_u8(sock, k_root.net_off.state);
	}
	stacks(ctx, f);
	run(f);
}

/* inet_sock_set_state: socket, old state, new one, before the socket has it. */
uint64_t k_tcp_state(uint64_t *ctx)
{
	uint64_t sock = CTX(0), from = (uint32_t)CTX(1), to = (uint32_t)CTX(2);

	if (net_u16(sock, k_root.net_off.sock_protocol) != OF_TCP)
		return 0;
	fire_conn(ctx, sock, K_TCP_STATE_CHANGE, (uint32_t)to, 0);
	if (from == SYN_SENT && to == ESTABLISHED)
		fire_conn(ctx, sock, K_TCP_CONNECT_ESTABLISHED, ESTABLISHED, IS_SYN | IS_ACK);
	if (from == SYN_RECV && to == ESTABLISHED)
		fire_conn(ctx, sock, K_TCP_ACCEPT_ESTABLISHED, ESTABLISHED, IS_ACK);
	return 0;
}

/* tcp_receive_reset: the socket that a reset is for, before it is closed. */
uint64_t k_tcp_reset(uint64_t *ctx)
{
	uint64_t sock = CTX(0);

	if (net_u8(sock, k_root.net_off.state) == SYN_SENT)
		fire_conn(ctx, sock, K_TCP_CONNECT_REFUSED, SYN_SENT, IS_RST | IS_ACK);
	return 0;
}
