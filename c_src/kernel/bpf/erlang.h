/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where firings of the erlang provider begin: functions of the VM, whose arguments are made what
 * OTP's own probes have (kernel/erlang.c has the table), and the USDT probes of the library in a
 * node, which hand over theirs. Part of main.c.
 */

static inline uint64_t user_word(uint64_t addr)
{
	uint64_t v = 0;

	bpf_probe_read_user(&v, sizeof(v), (const void *)(uintptr_t)addr);
	return v;
}

/* ---- texts ---------------------------------------------------------------------------- */

/* Decimal; gives where it ends. */
uint64_t k_put_number(uint64_t to, uint64_t v)
{
	char *p = (char *)(uintptr_t)to;
	uint64_t div = 1;

	v &= UINT32_MAX;
	while (div < 1000000000 && v / div >= 10)
		div *= 10;
	for (; div > 0; div /= 10)
		*p++ = (char)('0' + v / div % 10);
	return (uint64_t)(uintptr_t)p;
}

/* The VM keeps a pid's place in its table; <0.Number.Serial> is made of it as it does that. */
static inline uint64_t pid_data(const struct k_erlang *k, uint64_t term)
{
	uint64_t data = term >> 4, places = 1ULL << k->places, place = data & (places - 1);

	if (k->places == 0) /* both are there: up to OTP 25 */
		return data & 0xfffffff;
	return (data & ~(places - 1)) | place >> 3 | (place & 7) << (k->places - 3);
}

uint64_t k_put_pid(uint64_t erlang, uint64_t to, uint64_t term)
{
	const struct k_erlang *k = (const struct k_erlang *)(uintptr_t)erlang;
	uint64_t data = pid_data(k, term);
	char *p = (char *)(uintptr_t)to;

	if ((term & 15) != 3) { /* a port's, a name, one of another node */
		p[0] = '\0';
		return 0;
	}
	p[0] = '<';
	p[1] = '0';
	p[2] = '.';
	p = (char *)(uintptr_t)k_put_number(to + 3, data & ((1ULL << k->bits) - 1));
	*p++ = '.';
	p = (char *)(uintptr_t)k_put_number((uint64_t)(uintptr_t)p, data >> k->bits);
	*p++ = '>';
	*p = '\0';
	return 0;
}

uint64_t k_put_port(uint64_t erlang, uint64_t to, uint64_t term)
{
	const struct k_erlang *k = (const struct k_erlang *)(uintptr_t)erlang;
	uint64_t *w = (uint64_t *)(uintptr_t)to;
	char *p;

	w[0] = 0x2e303c74726f5023; /* #Port<0. */
	p = (char *)(uintptr_t)k_put_number(to + 8, pid_data(k, term));
	*p++ = '>';
	*p = '\0';
	return 0;
}

static inline void text_arg(
	const struct k_erlang *k, struct fire *f, unsigned n, uint64_t term, bool port)
{
	uint64_t to = (uint64_t)(uintptr_t)f->thread->text[n & 3];

	if (port)
		k_put_port((uint64_t)(uintptr_t)k, to, term);
	else
		k_put_pid((uint64_t)(uintptr_t)k, to, term);
	f->arg[n] = to;
}

/* ---- functions of the VM -------------------------------------------------------------- */

static inline bool is_immediate(uint64_t term)
{
	return (term & 3) == 3;
}

static inline bool is_event(const struct k_erlang *k, const struct user_regs *regs)
{
	switch (k->kind) {
	case K_COPY_STRUCT:
	case K_COPY_OBJECT: return !is_immediate(regs->di);
	case K_PORT_BUSY: return (uint32_t)regs->si != 0;
	case K_PORT_NOT_BUSY: return (uint32_t)regs->si == 0;
	default: return true;
	}
}

uint64_t k_erlang(struct user_regs *regs)
{
	uint64_t cookie = bpf_get_attach_cookie(regs);
	const struct k_erlang *k;
	struct en_probe *p;
	struct fire *f;
	uint16_t mask;

	if (cookie >= k_root.nprobes)
		return 0;
	p = k_root.probe[cookie];
	k = p->pvdata;
	if (!is_event(k, regs))
		return 0;
	f = begin(&k_root, p);
	if (f == NULL)
		return 0;
	mask = p->argmask;
	for (unsigned i = 0; i < 6; i++)
		f->arg[i] = 0;
	switch (k->kind) {
	case K_MESSAGE_RECEIVE:
		if (mask & 1)
			text_arg(k, f, 0, user_word(regs->di), false);
		if ((mask & 4) && k->queue_len != 0)
			f->arg[2] = user_word(regs->di + k->queue_len);
		break;
	case K_COPY_STRUCT: f->arg[0] = (uint64_t)(int64_t)(int32_t)regs->si; break;
	case K_COPY_OBJECT:
		if (mask & 1)
			text_arg(k, f, 0, user_word(regs->si), false);
		break;
	case K_PORT_BUSY:
	case K_PORT_NOT_BUSY:
		if (mask & 1)
			text_arg(k, f, 0, user_word(regs->di), true);
		break;
	case K_EXIT_SIGNAL:
		if (mask & 1)
			text_arg(k, f, 0, regs->si, false);
		if (mask & 2)
			text_arg(k, f, 1, regs->dx, false);
		break;
	}
	run(f);
	return 0;
}

/* ---- the library's USDT probes -------------------------------------------------------- */

/* rdi: its arguments, a word each; rsi: which probe, by a hash of its names. */
uint64_t k_erlang_usdt(struct user_regs *regs)
{
	uint64_t hash = regs->si, args[10] = {0}, i = hash & k_root.erlang_mask;
	struct en_probe *p;
	struct fire *f;

	if (k_root.erlang == NULL)
		return 0;
	for (unsigned n = 0; n < 64; n++, i = (i + 1) & k_root.erlang_mask) {
		p = k_root.erlang[i];
		if (p == NULL || p->hash == hash)
			break;
	}
	if (p == NULL || p->hash != hash)
		return 0;
	f = begin(&k_root, p);
	if (f == NULL)
		return 0;
	bpf_probe_read_user(args, sizeof(args), (const void *)(uintptr_t)regs->di);
	for (unsigned n = 0; n < 10; n++)
		f->arg[n] = args[n];
	run(f);
	return 0;
}
