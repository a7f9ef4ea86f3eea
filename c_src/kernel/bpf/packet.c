/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets and connections, for the entries of ip, udp and tcp (net.h; probe path): what kind of
 * packet it is, and what clauses are told of one. The functions are apart so that the verifier
 * looks at each once, whoever calls it.
 *
 * Headers are copied into the slot, as D reads only numbers at addresses that they fit. Where an
 * event is known without its packet, the same headers are made from the connection.
 */
#include "packet.h"

#include "engine/fire.h"
#include "engine/slot.h"
#include "task.h"

enum { OF_IPV4 = 0x0008, OF_IPV6 = 0xdd86 }; /* skb.protocol */
enum { MOST_EXTENSIONS = 4 };		     /* headers of IPv6 before the transport's */

struct packet {
	uint64_t ip[5];	       /* the header of IPv6, or what is fixed of IPv4's */
	uint64_t transport[3]; /* of TCP and UDP: 20 bytes */
};

static inline uint32_t swap16(uint32_t v)
{
	return __builtin_bswap16((uint16_t)v);
}

static inline uint32_t swap32(uint32_t v)
{
	return __builtin_bswap32(v);
}

/* Of words of a header, which begin with its first byte, in the lowest bits. */
static inline uint32_t byte_of(const uint64_t *words, unsigned i)
{
	return words[i / 8] >> i % 8 * 8 & 0xff;
}

static inline uint32_t word_of(const uint64_t *words, unsigned i)
{
	return (uint32_t)(words[i / 8] >> i % 8 * 8);
}

/* ---- what kind ---------------------------------------------------------------------------- */

/* How far from the header of IPv6 the transport's is; 0: there is none, or in another fragment. */
static inline uint64_t behind_extensions(uint64_t ip, uint32_t *protocol)
{
	uint32_t next = *protocol, off = 40;

	for (uint64_t i = unknown_zero(); i < MOST_EXTENSIONS; i++) {
		uint32_t head;

		if (next != 0 && next != 43 && next != 44 && next != 60) {
			*protocol = next;
			return off;
		}
		head = task_u32(ip, off); /* each hop, route, fragment, destination */
		if (next == 44 && (swap16(head >> 16) & 0xfff8) != 0)
			return 0;
		off += next == 44 ? 8 : 8 * (1 + (head >> 8 & 0xff));
		next = head & 0xff;
	}
	return 0;
}

/* A packet: its protocol, if clauses are told of its header, where that is, and of which IP. */
uint64_t k_packet_kind(uint64_t skb, uint64_t ip)
{
	uint32_t of = task_u32(skb, k_root.net_off.protocol) & 0xffff, protocol, first;
	uint64_t off;

	if (of != OF_IPV4 && of != OF_IPV6)
		return 0;
	if (of == OF_IPV4) {
		first = task_u32(ip, 0);
		protocol = task_u32(ip, 8) >> 8 & 0xff;
		off = swap16(task_u32(ip, 4) >> 16) & 0x1fff ? 0 : 4 * (first & 15);
	} else {
		protocol = task_u32(ip, 4) >> 16 & 0xff;
		off = behind_extensions(ip, &protocol);
	}
	if (off == 0 || (protocol != OF_TCP && protocol != OF_UDP))
		protocol = off = 0;
	return protocol | (of == OF_IPV4 ? ON_IPV4 : ON_IPV6) << K_FAMILY | off << K_OFFSET;
}

/* ---- what clauses are told ---------------------------------------------------------------- */

static inline bool is_whole(uint32_t state)
{
	return state != 0 && state != TIME_WAIT && state != NEW_SYN_RECV;
}

static inline bool is_v4(uint64_t kind)
{
	return (kind >> K_FAMILY & 0xff) == ON_IPV4;
}

static inline void read_packet(struct packet *p, uint64_t ip, uint64_t kind)
{
	const void *from = (const void *)(uintptr_t)(ip + (kind >> K_OFFSET & 0xffff));

	p->transport[0] = p->transport[1] = p->transport[2] = 0;
	bpf_probe_read_kernel(p->ip, sizeof(p->ip), (const void *)(uintptr_t)ip);
	if ((kind & 0xff) == OF_TCP)
		bpf_probe_read_kernel(p->transport, 20, from);
	else if ((kind & 0xff) == OF_UDP)
		bpf_probe_read_kernel(p->transport, 8, from);
}

/* Bytes of a segment's data, and one for SYN and for FIN. */
static inline uint32_t segment_length(const struct packet *p, uint64_t kind)
{
	uint32_t head = 4 * (byte_of(p->transport, 12) >> 4), flags = byte_of(p->transport, 13);
	uint32_t all = is_v4(kind) ? swap16(word_of(p->ip, 2) & 0xffff)
				   : swap16(word_of(p->ip, 4) & 0xffff) + 40;

	all -= (uint32_t)(kind >> K_OFFSET & 0xffff) + head;
	return all + (flags & IS_SYN ? 1 : 0) + (flags & IS_FIN ? 1 : 0);
}

/* TCP counts a segment only when it is on its way for the first time. */
static inline bool is_sent_again(
	const struct packet *p, uint64_t kind, uint64_t sock, uint32_t state)
{
	uint32_t seq = swap32(word_of(p->transport, 4));

	return (kind & 0xff) == OF_TCP && is_whole(state) && segment_length(p, kind) != 0 &&
	       (int32_t)(seq - task_u32(sock, k_root.net_off.snd_nxt)) < 0;
}

static inline uint32_t state_of_sock(uint64_t sock)
{
	return sock != 0 ? task_u32(sock, k_root.net_off.state) & 0xff : 0;
}

static inline void put_headers(struct en_thread *t, const struct packet *p)
{
	uint64_t *ip = (uint64_t *)(void *)t->k.text[AT_IP];
	uint64_t *to = (uint64_t *)(void *)t->k.text[AT_TRANSPORT];

	ip[0] = p->ip[0];
	ip[1] = p->ip[1];
	ip[2] = p->ip[2];
	ip[3] = p->ip[3];
	ip[4] = p->ip[4];
	to[0] = p->transport[0];
	to[1] = p->transport[1];
	to[2] = p->transport[2];
}

static inline void put_conn(
	struct en_thread *t, const struct packet *p, uint64_t kind, uint64_t sock, uint32_t state)
{
	struct k_conn *c = (struct k_conn *)(void *)t->k.text[AT_CONN];
	uint64_t at = (uint64_t)(uintptr_t)t->k.text[AT_IP], from, to;
	uint32_t ports = word_of(p->transport, 0), ends = word_of(p->ip, 12);
	bool out = kind & K_OUT;

	from = at + (is_v4(kind) ? 12 : 8);
	to = at + (is_v4(kind) ? 16 : 24);
	c->sock = sock;
	c->tcp = is_whole(state) ? sock : 0;
	c->family = is_v4(kind) ? ON_IPV4 : ON_IPV6;
	c->state = (int32_t)state;
	c->laddr = out ? from : to;
	c->raddr = out ? to : from;
	c->lport = (uint16_t)swap16(out ? ports & 0xffff : ports >> 16);
	c->rport = (uint16_t)swap16(out ? ports >> 16 : ports & 0xffff);
	if (is_v4(kind))
		c->local = (ends & 0xff) == 127 || ends == word_of(p->ip, 16);
	else
		c->local = p->ip[1] == p->ip[3] && p->ip[2] == p->ip[4];
	c->again = out && is_sent_again(p, kind, sock, state);
}

/* kind: as k_packet_kind() says, and whether it goes out. */
uint64_t k_put_packet(struct en_thread *t, uint64_t ip, uint64_t kind, uint64_t sock)
{
	struct packet p;

	read_packet(&p, ip, kind);
	put_headers(t, &p);
	put_conn(t, &p, kind, sock, state_of_sock(sock));
	return 0;
}

/* ---- whose it is -------------------------------------------------------------------------- */

/*
 * A packet that comes in has no socket yet. Those of connections are noted, each where its
 * addresses and ports say, when they send something or are established. What is found there is the
 * packet's only if it has these addresses and ports.
 */
static inline uint64_t *note_of(const struct packet *p, uint64_t kind)
{
	uint64_t ports = word_of(p->transport, 0), from, to, h;
	bool out = kind & K_OUT;

	from = is_v4(kind) ? word_of(p->ip, 12) : p->ip[1] ^ p->ip[2];
	to = is_v4(kind) ? word_of(p->ip, 16) : p->ip[3] ^ p->ip[4];
	if (out) /* as the other end sends it */
		ports = (ports >> 16 | ports << 16) & UINT32_MAX;
	h = ((out ? to : from) * 31 + (out ? from : to)) ^ ports << 20;
	h *= 0x9e3779b97f4a7c15ULL;
	return &k_root.conns[h >> 48 & (K_CONNS - 1)];
}

static inline bool has_ends(uint64_t sock, const struct packet *p, uint64_t kind)
{
	const struct k_net_offsets *o = &k_root.net_off;
	uint32_t ports = word_of(p->transport, 0);

	if ((task_u32(sock, o->rport) & 0xffff) != (ports & 0xffff) ||
		(task_u32(sock, o->lport) & 0xffff) != ports >> 16)
		return false;
	if (is_v4(kind))
		return task_u32(sock, o->raddr) == word_of(p->ip, 12) &&
		       task_u32(sock, o->laddr) == word_of(p->ip, 16);
	return task_u64(sock, o->raddr6) == p->ip[1] && task_u64(sock, o->raddr6 + 8) == p->ip[2] &&
	       task_u64(sock, o->laddr6) == p->ip[3] && task_u64(sock, o->laddr6 + 8) == p->ip[4];
}

/* The socket of a segment that comes in; 0: it is not known. */
uint64_t k_find_conn(uint64_t ip, uint64_t kind)
{
	struct packet p;
	uint64_t sock;

	read_packet(&p, ip, kind);
	sock = *note_of(&p, kind);
	return sock != 0 && has_ends(sock, &p, kind) ? sock : 0;
}

/* A segment that goes out, of a socket that is a connection's. */
uint64_t k_note_conn(uint64_t ip, uint64_t kind, uint64_t sock)
{
	struct packet p;

	if (sock == 0 || !is_whole(state_of_sock(sock)))
		return 0;
	read_packet(&p, ip, kind);
	*note_of(&p, kind) = sock;
	return 0;
}

/* ---- segments ----------------------------------------------------------------------------- */

/*
 * A segment that goes out: is it the first SYN of a connection, which may be sent several times? Or
 * the answer to a SYN at a port where nobody listens: only that has no number to begin with.
 */
uint64_t k_segment(uint64_t ip, uint64_t kind, uint64_t sock)
{
	struct packet p;
	uint32_t flags;

	read_packet(&p, ip, kind);
	flags = byte_of(p.transport, 13);
	if ((flags & (IS_RST | IS_ACK)) == (IS_RST | IS_ACK) && word_of(p.transport, 4) == 0)
		return K_REFUSAL;
	if ((flags & (IS_SYN | IS_ACK)) == IS_SYN && sock != 0 &&
		!is_sent_again(&p, kind, sock, state_of_sock(sock)))
		return K_REQUEST;
	return 0;
}

/*
 * The segment that has changed a connection, as far as the connection tells what was in it. Returns
 * its kind.
 */
static inline uint64_t make_segment(struct packet *p, uint64_t sock, uint64_t flags)
{
	const struct k_net_offsets *o = &k_root.net_off;
	uint64_t mapped = task_u64(sock, o->raddr6) | (task_u32(sock, o->raddr6 + 8) ^ 0xffff0000);
	uint64_t ports = (task_u32(sock, o->rport) & 0xffff) | task_u32(sock, o->lport) << 16;
	uint32_t seq = task_u32(sock, o->rcv_nxt) - (flags & IS_SYN ? 1 : 0);
	bool v4 = (task_u32(sock, o->family) & 0xffff) == ON_IPV4 || mapped == 0;

	p->ip[2] = p->ip[3] = p->ip[4] = 0;
	if (v4) {
		p->ip[0] = 0x28000045; /* version, length of the header; of all: 40 */
		p->ip[1] = OF_TCP << 8 | (uint64_t)task_u32(sock, o->raddr) << 32;
		p->ip[2] = task_u32(sock, o->laddr);
	} else {
		p->ip[0] = 0x60 | 20ULL << 40 | (uint64_t)OF_TCP << 48;
		p->ip[1] = task_u64(sock, o->raddr6);
		p->ip[2] = task_u64(sock, o->raddr6 + 8);
		p->ip[3] = task_u64(sock, o->laddr6);
		p->ip[4] = task_u64(sock, o->laddr6 + 8);
	}
	if (flags & IS_RST)
		seq = 0;
	p->transport[0] = ports | (uint64_t)swap32(seq) << 32;
	p->transport[1] = swap32(task_u32(sock, o->snd_nxt)) | 5ULL << 36 | flags << 40;
	p->transport[2] = 0;
	return OF_TCP | (uint64_t)(v4 ? ON_IPV4 : ON_IPV6) << K_FAMILY;
}

uint64_t k_put_segment(struct en_thread *t, uint64_t sock, uint64_t state, uint64_t flags)
{
	struct packet p;
	uint64_t kind = make_segment(&p, sock, flags);

	put_headers(t, &p);
	put_conn(t, &p, kind, sock, (uint32_t)state);
	return 0;
}

/* A connection that is established, before it may have sent anything. */
uint64_t k_note_sock(uint64_t sock)
{
	struct packet p;
	uint64_t kind = make_segment(&p, sock, 0);

	*note_of(&p, kind) = sock;
	return 0;
}
