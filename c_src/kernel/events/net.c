/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The providers ip, udp and tcp: packets as they pass between IP and a network device, and what
 * becomes of TCP's connections. bpf/net.h tells them from tracepoints of devices and of TCP; the
 * types of their arguments are translated by d/lib/ip.d, udp.d and tcp.d.
 */
#include <stddef.h>

#include "btf/btf.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/region.h"
#include "engine/state.h"
#include "event_rows.h"
#include "kernel/kernel.h"
#include "kernel/tracepoint.h"

#define CONN "netconn_t *"
static const char *const ip_args[] = {"uintptr_t", CONN, "iphead_t *", "netdev_t *", "ipha_t *",
	"ip6_t *"};
static const char *const ip_xargs[] = {"pktinfo_t *", "csinfo_t *", "ipinfo_t *", "ifinfo_t *",
	"ipv4info_t *", "ipv6info_t *"};
static const char *const udp_args[] = {"uintptr_t", CONN, "iphead_t *", CONN, "udpha_t *"};
static const char *const udp_xargs[] = {"pktinfo_t *", "csinfo_t *", "ipinfo_t *", "udpsinfo_t *",
	"udpinfo_t *"};
static const char *const tcp_args[] = {"uintptr_t", CONN, "iphead_t *", CONN, "tcph_t *"};
static const char *const tcp_xargs[] = {"pktinfo_t *", "csinfo_t *", "ipinfo_t *", "tcpsinfo_t *",
	"tcpinfo_t *"};
static const char *const state_args[] = {"uintptr_t", CONN, "uintptr_t", CONN, "uintptr_t", "int"};
static const char *const state_xargs[] = {"uintptr_t", "csinfo_t *", "uintptr_t", "tcpsinfo_t *",
	"uintptr_t", "tcplsinfo_t *"};

#define IP(name, entry) {"ip", name, ENTRY_##entry, 6, ip_args, ip_xargs}
#define UDP(name, entry) {"udp", name, ENTRY_##entry, 5, udp_args, udp_xargs}
#define TCP(name, entry) {"tcp", name, ENTRY_##entry, 5, tcp_args, tcp_xargs}
static const struct k_event_row rows[K_NET_EVENTS] = {
	[K_IP_SEND] = IP("send", net_out),
	[K_IP_RECEIVE] = IP("receive", net_in),
	[K_UDP_SEND] = UDP("send", net_out),
	[K_UDP_RECEIVE] = UDP("receive", net_in),
	[K_TCP_SEND] = TCP("send", net_out),
	[K_TCP_RECEIVE] = TCP("receive", net_in),
	[K_TCP_CONNECT_REQUEST] = TCP("connect-request", net_out),
	[K_TCP_ACCEPT_REFUSED] = TCP("accept-refused", net_out),
	[K_TCP_STATE_CHANGE] = {"tcp", "state-change", ENTRY_tcp_state, 6, state_args, state_xargs},
	[K_TCP_CONNECT_ESTABLISHED] = TCP("connect-established", tcp_state),
	[K_TCP_ACCEPT_ESTABLISHED] = TCP("accept-established", tcp_state),
	[K_TCP_CONNECT_REFUSED] = TCP("connect-refused", tcp_reset),
};

#define AT(member) offsetof(struct k_net_offsets, member)
static const struct k_member members[] = {
	{"sk_buff", "head", AT(head)},
	{"sk_buff", "data", AT(data)},
	{"sk_buff", "network_header", AT(network)},
	{"sk_buff", "sk", AT(skb_sock)},
	{"sk_buff", "dev", AT(dev)},
	{"sk_buff", "skb_iif", AT(iif)},
	{"sk_buff", "protocol", AT(protocol)},
	{"sk_buff", "_skb_refdst", AT(dst)},
	{"dst_entry", "dev", AT(dst_dev)},
	{"net_device", "priv_flags", AT(dev_flags)},
	{"sock_common", "skc_family", AT(family)},
	{"sock_common", "skc_state", AT(state)},
	{"inet_sock", "inet_sport", AT(lport)},
	{"sock_common", "skc_dport", AT(rport)},
	{"sock_common", "skc_rcv_saddr", AT(laddr)},
	{"sock_common", "skc_daddr", AT(raddr)},
	{"sock_common", "skc_v6_rcv_saddr", AT(laddr6)},
	{"sock_common", "skc_v6_daddr", AT(raddr6)},
	{"sock", "sk_protocol", AT(sock_protocol)},
	{"tcp_sock", "snd_nxt", AT(snd_nxt)},
	{"tcp_sock", "rcv_nxt", AT(rcv_nxt)},
};

enum { OF_SOCKET = 1 << 1 | 1 << 3 }; /* arguments that tell of a connection */

extern const struct provider net_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	return k_events_init(en, &net_provider, rows, K_NET_EVENTS, data, e);
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	unsigned i = (unsigned)(uintptr_t)p->pvdata;
	struct k_root *r;

	if (k_prepare(en, e) < 0 ||
		k_events_enable(en, data, p, rows, en->kernel->root->net, e) < 0)
		return -1;
	r = en->kernel->root;
	if ((i != K_TCP_RECEIVE && i != K_IP_RECEIVE) || !(r->net[i]->argmask & OF_SOCKET))
		return 0;
	k_tracepoints_want(data, ENTRY_net_out); /* which show whose it is */
	k_tracepoints_want(data, ENTRY_tcp_state);
	if (r->conns == NULL && (r->conns = en_alloc(en, K_CONNS * sizeof(*r->conns))) == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the sockets of connections");
	return 0;
}

static bool is_wanted(const struct en *en)
{
	for (unsigned i = 0; en->kernel != NULL && en->kernel->root != NULL && i < K_NET_EVENTS; i++)
		if (en->kernel->root->net[i] != NULL)
			return true;
	return false;
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	struct k_net_offsets *o;

	if (!is_wanted(en))
		return 0;
	o = &en->kernel->root->net_off;
	if (k_members_find(members, sizeof(members) / sizeof(*members), o, e) < 0)
		return -1;
	if (o->head == BTF_NOWHERE || o->data == BTF_NOWHERE || o->network == BTF_NOWHERE ||
		o->protocol == BTF_NOWHERE || o->state == BTF_NOWHERE ||
		o->sock_protocol == BTF_NOWHERE)
		return et_err(e, ET_KERNEL,
			"the structures of packets and sockets of this kernel are not known");
	return k_tracepoints_load(en, data, e);
}

const struct provider net_provider = {
	.name = "net",
	.of_kernel = true,
	.init = init,
	.enable = enable,
	.ready = ready,
	.start = k_tracepoints_attach,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
