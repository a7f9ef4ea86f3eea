/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of the kernel: `jiffies, module`name. One is memory at its address, of the type that the
 * kernel's BTF has for it. BTF has few variables: of some that scripts ask for the types are here,
 * and of others only the address can be had.
 */
#include "check.h"

#include <linux/btf.h>

#include "btf/btf.h"

static const struct {
	const char *name, *type;
} known[] = {
	{"jiffies", "unsigned long"},
	{"jiffies_64", "uint64_t"},
	{"init_task", "struct task_struct"},
	{"init_net", "struct net"},
	{"init_pid_ns", "struct pid_namespace"},
	{"init_user_ns", "struct user_namespace"},
	{"init_uts_ns", "struct uts_namespace"},
	{"init_mm", "struct mm_struct"},
	{"init_cred", "struct cred"},
	{"max_pfn", "unsigned long"},
	{"nr_cpu_ids", "unsigned int"},
	{"tsc_khz", "unsigned int"},
	{"cpu_khz", "unsigned int"},
	{"loops_per_jiffy", "unsigned long"},
	{"total_forks", "unsigned long"},
	{"nr_threads", "int"},
	{"max_threads", "int"},
	{"system_state", "int"},
	{"panic_timeout", "int"},
	{"pid_max", "int"},
	{"saved_command_line", "char *"},
	{"tcp_memory_pressure", "unsigned long"},
	{"sysctl_overcommit_memory", "int"},
	{"vm_swappiness", "int"},
	{"root_mountflags", "int"},
};

struct symbol {
	const char *module, *name; /* module: NULL: any */
	uint64_t addr;
	const struct d_type *type; /* NULL: not known */
	bool per_cpu;
};

static int not_of_kernel(struct d_comp *c, const struct d_node *n)
{
	const char *tick = strrchr(n->text, '`');
	bool user = !strncmp(n->text, "lib", 3) || (tick && tick > n->text && tick[-1] == '`');

	if (user)
		return CHK_ERR(c, D_SYM_BADREF, n,
			"'%s' cannot be referenced: symbols of a process have no type here; read "
			"memory with copyin() and a cast",
			n->text);
	if (c->opts->inside)
		return CHK_ERR(c, D_SYM_NOTYPES, n,
			"'%s' cannot be referenced: there is no type information for symbols "
			"here; cast an address, as in *(int *)0x1000",
			n->text);
	if (c->opts->confine.on)
		return CHK_ERR(c, D_SYM_BADREF, n,
			"'%s' cannot be referenced: you may trace only your own processes",
			n->text);
	return 0;
}

static const struct d_type *type_by_name(struct d_comp *c, const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, name))
			return d_type_parse(c, known[i].type);
	return NULL;
}

static int find_symbol(struct d_comp *c, const struct d_node *n, struct symbol *s)
{
	const char *tick = strrchr(n->text, '`');
	bool hidden;

	if (not_of_kernel(c, n))
		return -1;
	s->name = tick + 1;
	s->module =
		tick > n->text ? arena_strdup(c->arena, n->text, (size_t)(tick - n->text)) : NULL;
	s->type = d_kernel_variable(c, s->module, s->name, &s->per_cpu);
	if (!s->type)
		s->type = type_by_name(c, s->name);
	if (s->per_cpu)
		return CHK_ERR(c, D_SYM_NOTYPES, n,
			"'%s' cannot be referenced: each CPU has a variable of this name", n->text);
	if (ksym_address(s->module, s->name, &s->addr, &hidden))
		return 0;
	if (hidden)
		return CHK_ERR(c, D_SYM_NOTYPES, n,
			"'%s' cannot be referenced: the kernel tells no addresses "
			"(kernel.kptr_restrict; it takes root)",
			n->text);
	return CHK_ERR(c, D_SYM_NOTYPES, n,
		"'%s' cannot be referenced: /proc/kallsyms has no such symbol (of variables it has "
		"those only where the kernel is built with CONFIG_KALLSYMS_ALL)",
		n->text);
}

/* n becomes the symbol's address. */
static int address(struct d_comp *c, struct d_node *n, const struct symbol *s)
{
	n->kind = N_INT;
	n->op = OP_NONE;
	n->text = NULL;
	n->type = d_ptr_to(c, s->type ? s->type : c->t.void_);
	n->value = s->addr;
	n->flags |= NF_CHECKED;
	return 0;
}

int chk_symbol(struct d_comp *c, struct d_node *n)
{
	struct symbol s = {0};

	if (find_symbol(c, n, &s))
		return -1;
	if (!s.type)
		return CHK_ERR(c, D_SYM_NOTYPES, n,
			"'%s' cannot be referenced: the kernel tells where it is and not of what "
			"type: cast its address, as in *(int *)&%s",
			n->text, n->text);
	if (chk_wrap(c, n, N_OP1, s.type))
		return -1;
	n->op = OP_DEREF;
	n->flags |= NF_LVAL;
	return address(c, n->a, &s);
}

int chk_symbol_address(struct d_comp *c, struct d_node *n)
{
	struct symbol s = {0};

	if (find_symbol(c, n->a, &s))
		return -1;
	n->kind = N_INT;
	n->a = NULL;
	return address(c, n, &s);
}

int chk_symbol_element(struct d_comp *c, struct d_node *n)
{
	struct d_node *a = chk_new(c, N_IDENT, n);

	if (!a)
		return -1;
	a->op = SC_SYMBOL;
	a->text = n->text;
	if (!n->list || n->list->next)
		return CHK_ERR(c, D_ARR_BADREF, n, "'%s' takes one index", n->text);
	n->kind = N_OP2;
	n->op = OP_INDEX;
	n->a = a;
	n->b = n->list;
	n->list = NULL;
	return chk_expr(c, n, CX_VALUE);
}
