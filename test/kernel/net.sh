#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The providers ip, udp and tcp, on a program that makes a known number of connections and sends a
# known number of bytes over the loopback: counts are exact, and agree with the kernel's own
# (TCP_INFO). BIN: where the command is. The last line is "N passed, N failed"; where the kernel does
# not let us, all is skipped, which is said.

# shellcheck disable=SC2016 # $1 and the like are D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT

if ! why=$(timeout 60 erltrace -qn 'tcp:::state-change, ip:::send { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	echo '0 passed, 0 failed'
	exit 0
fi

cat >net.c <<'END'
/* net tcp|refused|full|talk|udp HOST PORT N: see each function. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_storage at;
static socklen_t len;

static void die(const char *what)
{
	perror(what);
	exit(1);
}
static int bound(int type)
{
	int s = socket(at.ss_family, type, 0), one = 1;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s, (struct sockaddr *)&at, len) < 0)
		die("bind");
	if (type == SOCK_STREAM && listen(s, 16) < 0)
		die("listen");
	return s;
}
static int one_connection(int listener, int *accepted)
{
	int s = socket(at.ss_family, SOCK_STREAM, 0);

	if (connect(s, (struct sockaddr *)&at, len) < 0)
		die("connect");
	*accepted = accept(listener, NULL, NULL);
	if (*accepted < 0)
		die("accept");
	return s;
}
/* n connections, one after the other; the end that connected closes first. */
static void tcp(int n)
{
	int listener = bound(SOCK_STREAM), a;
	char c;

	while (n-- > 0) {
		int s = one_connection(listener, &a);

		close(s);
		while (read(a, &c, 1) > 0)
			;
		close(a);
	}
}
/* n times to where nobody listens */
static void refused(int n)
{
	while (n-- > 0) {
		int s = socket(at.ss_family, SOCK_STREAM, 0);

		if (connect(s, (struct sockaddr *)&at, len) == 0)
			exit(1);
		close(s);
	}
}
static void info(const char *who, int s)
{
	struct tcp_info i;
	socklen_t n = sizeof(i);

	memset(&i, 0, sizeof(i));
	if (getsockopt(s, IPPROTO_TCP, TCP_INFO, &i, &n) < 0)
		die("TCP_INFO");
	printf("%s data %u %u bytes %llu %llu segments %u %u mss %u\n", who, i.tcpi_data_segs_out,
		i.tcpi_data_segs_in, (unsigned long long)i.tcpi_bytes_acked,
		(unsigned long long)i.tcpi_bytes_received, i.tcpi_segs_out, i.tcpi_segs_in,
		i.tcpi_snd_mss);
}
/* n questions of 1 to 1000 bytes and their answers; then what the kernel has counted of it */
static void talk(int n)
{
	int listener = bound(SOCK_STREAM), a, s = one_connection(listener, &a);
	static char text[2000];
	unsigned long sent = 0;

	for (int i = 0; i < n; i++) {
		int ask = 1 + i % 1000, got = 0;

		for (sent += (unsigned)ask, write(s, text, (size_t)ask); got < ask;)
			got += (int)read(a, text, sizeof(text));
		for (sent++, write(a, "a", 1); read(s, text, sizeof(text)) != 1;)
			;
	}
	usleep(300000); /* delayed acknowledgements */
	info("client", s);
	info("server", a);
	printf("sent %lu\n", sent);
	fflush(stdout);
	getppid();
}
/* n datagrams of 1 to 1000 bytes, each of them received */
static void udp(int n)
{
	int to = bound(SOCK_DGRAM), s = socket(at.ss_family, SOCK_DGRAM, 0);
	static char text[2000];
	unsigned long sent = 0;

	for (int i = 0; i < n; i++) {
		size_t size = 1 + (size_t)i % 1000;

		if (sendto(s, text, size, 0, (struct sockaddr *)&at, len) != (ssize_t)size ||
			recv(to, text, sizeof(text), 0) != (ssize_t)size)
			die("datagram");
		sent += size;
	}
	printf("sent %lu\n", sent);
}
/* Three connections at a time to one who takes none and has room for two: the last one tries again. */
static void full(int n)
{
	int listener = socket(at.ss_family, SOCK_STREAM, 0), s;

	if (bind(listener, (struct sockaddr *)&at, len) < 0 || listen(listener, 1) < 0)
		die("listen");
	for (n *= 3; n-- > 0;) {
		s = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(s, (struct sockaddr *)&at, len);
	}
	usleep(1500000); /* it tries again after a second, and then after two */
}
int main(int argc, char **argv)
{
	struct addrinfo *ai, want = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	int n;

	if (argc < 5 || getaddrinfo(argv[2], argv[3], &want, &ai) != 0)
		return 1;
	memcpy(&at, ai->ai_addr, ai->ai_addrlen);
	len = ai->ai_addrlen;
	n = atoi(argv[4]);
	if (!strcmp(argv[1], "tcp"))
		tcp(n);
	else if (!strcmp(argv[1], "refused"))
		refused(n);
	else if (!strcmp(argv[1], "full"))
		full(n);
	else if (!strcmp(argv[1], "talk"))
		talk(n);
	else
		udp(n);
	return 0;
}
END
${CC:-cc} -O1 -o net net.c || exit 1

# t SCRIPT WHAT HOST PORT N: what the script prints, in one line, and sorted. Ports are written as 1932x:
# the first four digits are this run's, as another one may be under way on this machine.
run=$((2000 + RANDOM % 1000))
t() { timeout 120 erltrace -qn "${1//1932/$run}" -c "./net $2 $3 ${4/1932/$run} $5" 2>&1 | sort | words; }

hosts=127.0.0.1
ip6=$(./net udp ::1 19320 1 2>/dev/null)
[ -n "$ip6" ] && hosts="$hosts ::1"

# ---- connections: 10,000 of them, each probe exactly once

connections='
tcp:::connect-request /args[4]->tcp_dport == 19321/ { @c["request"] = count(); }
tcp:::connect-established /args[3]->tcps_rport == 19321/ { @c["connected"] = count(); }
tcp:::accept-established /args[3]->tcps_lport == 19321/ { @c["accepted"] = count(); }
tcp:::state-change
/(args[3]->tcps_lport == 19321 || args[3]->tcps_rport == 19321) && args[5]->tcps_state != args[3]->tcps_state/
{
	@s[tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]] = count();
}
END { printa("%s %@d\n", @c); printa("%s %s %@d\n", @s); }'
for host in $hosts; do
	is "10,000 connections over $host, and the states of both ends" 'accepted 10000'"$(
		) connected 10000 request 10000 state-close-wait state-last-ack 10000$(
		) state-closed state-listen 1 state-closed state-syn-sent 10000$(
		) state-established state-close-wait 10000 state-established state-fin-wait-1 10000$(
		) state-fin-wait-1 state-fin-wait-2 10000 state-fin-wait-2 state-closed 10000$(
		) state-last-ack state-closed 10000 state-listen state-closed 1$(
		) state-listen state-syn-received 10000 state-syn-received state-established 10000$(
		) state-syn-sent state-established 10000" "$(t "$connections" tcp "$host" 19321 10000)"
done

ends='
tcp:::connect-request, tcp:::connect-established, tcp:::accept-established
/args[4]->tcp_sport == 19321 || args[4]->tcp_dport == 19321/
{
	printf("%s %s-%s %s-%s %x %d %d %d\n", probename, args[3]->tcps_laddr, args[3]->tcps_raddr,
	    args[2]->ip_saddr, args[2]->ip_daddr, args[4]->tcp_flags,
	    args[3]->tcps_lport == 19321, args[3]->tcps_local, args[1]->cs_cid != 0);
}'
is 'who is who at both ends' "accept-established 127.0.0.5-127.0.0.1 127.0.0.1-127.0.0.5 10 1 1 1$(
	) connect-established 127.0.0.1-127.0.0.5 127.0.0.5-127.0.0.1 12 0 1 1$(
	) connect-request 127.0.0.1-127.0.0.5 127.0.0.1-127.0.0.5 2 0 1 1" \
	"$(t "$ends" tcp 127.0.0.5 19321 1)"

refused='
tcp:::connect-request, tcp:::connect-refused, tcp:::accept-refused
/args[4]->tcp_sport == 19323 || args[4]->tcp_dport == 19323/ { @[probename, args[4]->tcp_flags] = count(); }
END { printa("%s %x %@d\n", @); }'
for host in $hosts; do
	is "connections that $host refuses" \
		'accept-refused 14 1000 connect-refused 14 1000 connect-request 2 1000' \
		"$(t "$refused" refused "$host" 19323 1000)"
done

again='
tcp:::send /args[4]->tcp_dport == 19325 && args[4]->tcp_flags == TH_SYN/
{
	@s["send", args[3]->tcps_retransmit] = count();
}
tcp:::connect-request /args[4]->tcp_dport == 19325/ { @s["request", 0] = count(); }
END { printa("%s %d %@d\n", @s); }'
is 'a request is one, though nobody answers its first SYN' 'request 0 3 send 0 3 send 1 1' \
	"$(t "$again" full 127.0.0.1 19325 1)"

# ---- segments and bytes, against what the kernel has counted for both sockets

talk='
syscall::getppid:entry /pid == $target/ { over = 1; }
tcp:::send, tcp:::receive /!over && (args[4]->tcp_dport == 19322 || args[4]->tcp_sport == 19322)/
{
	this->n = args[2]->ip_plength - args[4]->tcp_offset;
	@n["probe", probename, args[4]->tcp_dport == 19322 ? "server" : "client"] = count();
	@b["bytes", probename] = sum(this->n);
	@b["data", probename] = sum(this->n != 0);
}
END { printa("%s %s %s %@d\n", @n); printa("%s %s %@d\n", @b); }'
for host in $hosts; do
	t "$talk" talk "$host" 19322 1000 >o
	read -r sent out in served < <(sed -E 's/.*client data 1000 1000 .* segments ([0-9]+) ([0-9]+) .*server data 1000 1000 .* segments [0-9]+ ([0-9]+) .*/501500 \1 \2 \3/' o)
	has "bytes and segments of data over $host" "bytes receive $sent bytes send $sent .*data receive 2000 data send 2000"
	has "segments over $host as TCP_INFO counts them" \
		"probe receive client $in probe receive server $served probe send client $in probe send server $out( |$)"
done

insides='
tcp:::send /args[4]->tcp_sport == 19322 && args[3]->tcps_state == TCP_STATE_ESTABLISHED && args[2]->ip_plength - args[4]->tcp_offset == 1/
{
	@["in order", args[3]->tcps_snxt == args[4]->tcp_seq, args[3]->tcps_rnxt == args[4]->tcp_ack,
	    args[3]->tcps_mss > 100 && args[3]->tcps_cwnd >= args[3]->tcps_mss,
	    args[3]->tcps_snd_ws < 15 && args[3]->tcps_rcv_ws < 15] = count();
}
END { printa("%s %d %d %d %d %@d\n", @); }'
like "what the kernel keeps of a connection" 'in order 1 1 1 1 100 ' "$(t "$insides" talk 127.0.0.1 19322 100)"

mine='
syscall::getppid:entry /pid == $target/ { over = 1; }
tcp:::connect-request /args[4]->tcp_dport == 19322/ { client = args[1]->cs_cid; }
tcp:::accept-established /args[3]->tcps_lport == 19322/ { server = args[1]->cs_cid; }
tcp:::receive /!over && args[4]->tcp_dport == 19322 && args[2]->ip_plength > args[4]->tcp_offset/
{
	@["server", args[1]->cs_cid == server, args[3]->tcps_state] = count();
}
tcp:::receive /!over && args[4]->tcp_sport == 19322 && args[2]->ip_plength > args[4]->tcp_offset/
{
	@["client", args[1]->cs_cid == client, args[3]->tcps_state] = count();
}
END { printa("%s %d %d %@d\n", @); }'
for host in $hosts; do
	like "whose a segment is that is received over $host" 'client 1 1 1000 .*server 1 1 1000( |$)' \
		"$(t "$mine" talk "$host" 19322 1000)"
done

# ---- datagrams and packets

udp='
udp:::send, udp:::receive /args[4]->udp_dport == 19324/
{
	@n[probename, args[3]->udps_laddr, args[3]->udps_lport == 19324] = count();
	@b[probename] = sum(args[4]->udp_length - 8);
}
END { printa("%s %s %d %@d\n", @n); printa("%s %@d\n", @b); }'
is 'datagrams and their bytes over IPv4' \
	'receive 127.0.0.9 1 10000 receive 5005000 send 127.0.0.1 0 10000 send 5005000 sent 5005000' \
	"$(t "$udp" udp 127.0.0.9 19324 10000)"
[ -n "$ip6" ] && is 'datagrams and their bytes over IPv6' \
	'receive 1 receive ::1 1 1 send 1 send ::1 0 1 sent 1' "$(t "$udp" udp ::1 19324 1)"

# fits NAME WANTED GOT, but where the kernel has too little stack for the script
fits() {
	if [[ $3 == *'combined stack size'* ]]; then
		echo "skipped: $1: before Linux 6.9 a script may need more stack than there is"
	else
		is "$1" "$2" "$3"
	fi
}
mine='/args[4]->ipv4_dst == htonl(0x7f000009) || args[5]->ipv6_nexthdr == IPPROTO_UDP/'
ip='
ip:::send, ip:::receive '$mine'
{
	@p[probename, args[2]->ip_ver, args[2]->ip_plength, args[3]->if_local] = count();
	@i[probename, args[4]->ipv4_protostr, args[5]->ipv6_nextstr] = count();
	@h[probename, args[2]->ip_saddr, args[2]->ip_daddr] = count();
}
END { printa("%s %d %d %d %@d\n", @p); printa("%s (%s) (%s) %@d\n", @i); printa("%s %s %s %@d\n", @h); }'
fits 'packets of IPv4' 'receive (UDP) () 1 receive 127.0.0.1 127.0.0.9 1 receive 4 9 1 1'"$(
	) send (UDP) () 1 send 127.0.0.1 127.0.0.9 1 send 4 9 1 1 sent 1" "$(t "$ip" udp 127.0.0.9 19324 1)"
[ -n "$ip6" ] && fits 'packets of IPv6' 'receive () (UDP) 1 receive 6 9 1 1 receive ::1 ::1 1'"$(
	) send () (UDP) 1 send 6 9 1 1 send ::1 ::1 1 sent 1" "$(t "$ip" udp ::1 19324 1)"
fits 'the device' 'receive lo 1 send lo 1 sent 1' "$(t 'ip:::send, ip:::receive '"$mine"' { @[probename, args[3]->if_name] = count(); }
	END { printa("%s %s %@d\n", @); }' udp 127.0.0.9 19324 1)"

finish
