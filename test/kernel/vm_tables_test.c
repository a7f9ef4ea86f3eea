/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is found in the memory of an Erlang VM without symbols, against the symbols of one that has
 * them; that the same is found while the VM loads code; and that a VM whose memory tells nothing is
 * refused. VM_ROOT: a folder with another system, whose VM it is.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"
#include "kernel/erlang/vm_schedulers.h"
#include "symbols/vm.h"

enum { WORDS = 32, CODE = 96, LOOKS = 200 };

/* Loads a module again and again from when it gets a line: each time another code index is in use. */
static const char program[] =
	"{ok, M, B} = compile:forms([{attribute, 1, module, loaded_often}]),"
	"io:put_chars(\"ready\\n\"), io:get_line(\"\"),"
	"(fun F() -> catch erlang:purge_module(M), {module, M} = erlang:load_module(M, B), F() end)().";

static void pause_ms(long ms)
{
	const struct timespec t = {.tv_nsec = ms * 1000000};

	nanosleep(&t, NULL);
}

static int start_vm(int *said, int *tell)
{
	const char *root = getenv("VM_ROOT");
	int out[2], in[2], pid;

	if (pipe(out) < 0 || pipe(in) < 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		if (root != NULL && (chroot(root) < 0 || chdir("/") < 0))
			_exit(1);
		execlp("erl", "erl", "-noshell", "-eval", program, NULL);
		_exit(1);
	}
	close(out[1]);
	close(in[0]);
	*said = out[0];
	*tell = in[1];
	return pid;
}

static uint64_t word(const struct vm *vm, uint64_t at)
{
	uint64_t v = 0;

	return vm_read(vm, at, &v, sizeof(v)) ? v : 0;
}

/* Is it one of the first words of what has a symbol? */
static bool is_in(const struct vm *vm, const char *symbol, uint64_t value)
{
	uint64_t at = vm_symbol(vm, symbol);

	for (unsigned i = 0; i < WORDS; i++)
		if (word(vm, at + 8 * i) == value)
			return true;
	return false;
}

static uint64_t relative(const uint8_t *p, uint64_t end)
{
	int32_t d;

	memcpy(&d, p, sizeof(d));
	return end + (uint64_t)(int64_t)d;
}

/* The function that looks up addresses first calls another one, which loads the table's address. */
static uint64_t modules_by_symbols(const struct vm *vm)
{
	uint64_t at = vm_symbol(vm, "erts_lookup_function_info");
	uint8_t code[CODE];
	unsigned i = 0;

	if (at == 0 || !vm_read(vm, at, code, sizeof(code)))
		return 0;
	while (i + 5 < CODE && code[i] != 0xe8)
		i++;
	at = relative(code + i + 1, at + i + 5);
	if (!vm_read(vm, at, code, sizeof(code)))
		return 0;
	for (i = 0; i + 7 < CODE; i++)
		if ((code[i] & 0xfb) == 0x48 && code[i + 1] == 0x8d && (code[i + 2] & 0xc7) == 5)
			return relative(code + i + 3, at + i + 7);
	return 0;
}

static void compare(const struct vm *vm, const struct vm_tables *t)
{
	uint64_t in;

	if (vm_symbol(vm, "the_active_code_index") == 0) {
		printf("skipped: against symbols: this VM hides them\n");
		return;
	}
	CHECK(t->jit.active == vm_symbol(vm, "the_active_code_index"));
	CHECK(t->modules == modules_by_symbols(vm));
	CHECK(is_in(vm, "erts_atom_table", t->atoms.table));
	CHECK(is_in(vm, "erts_proc", t->processes));
	in = word(vm, vm_symbol(vm, "beam_normal_exit"));
	CHECK(in >= t->jit.code.start && in < t->jit.code.end);
}

/* The VM has said that it runs. */
static void look(struct vm *vm, int pid)
{
	const struct vm_tables *t = vm_tables(vm);
	struct vm_schedulers threads = {0};
	uint64_t off, first;
	char text[300];

	CHECK(vm_refusal(vm) == NULL, "%s", vm_refusal(vm));
	if (vm_refusal(vm) != NULL)
		return;
	compare(vm, t);
	CHECK(t->lines && t->processes != 0);
	CHECK(t->jit.nif != 0 && t->jit.bif != 0 && t->jit.light != 0);
	CHECK(vm_schedulers_find(vm, pid, &threads) && threads.number == threads.current + 16);
	CHECK(vm_is_jit(vm, t->jit.code.start, &off) && off == 0);
	CHECK(!vm_function(vm, t->jit.code.start, false, text, sizeof(text), &off));
	CHECK(!vm_frame(vm, t->jit.code.end - 1, true, text, sizeof(text), &first));
}

/*
 * The table of modules was sometimes taken for one that begins at its second structure, if the code
 * index in use changed meanwhile: names were those of an older index, and ustack() had no Erlang
 * functions. To find none is a VM that loads code all the time.
 */
static void look_while_it_loads(int pid, uint64_t modules)
{
	unsigned wrong = 0, none = 0;

	for (unsigned i = 0; i < LOOKS; i++) {
		struct vm *vm = vm_open(pid);

		if (vm == NULL || vm_refusal(vm) != NULL)
			none++;
		else
			wrong += vm_tables(vm)->modules != modules;
		vm_close(vm);
	}
	CHECK(wrong == 0, "%u of %d", wrong, LOOKS);
	CHECK(none < LOOKS / 10, "none in %u of %d", none, LOOKS);
}

/* A process that is called like a VM, and is none. */
static void refuse(void)
{
	char dir[] = "/tmp/vm_tables_XXXXXX", path[64], command[128];
	struct vm *vm;
	int pid;

	if (mkdtemp(dir) == NULL)
		return;
	snprintf(path, sizeof(path), "%s/beam.smp", dir);
	snprintf(command, sizeof(command), "cp /bin/sleep %s", path);
	CHECK(system(command) == 0);
	pid = fork();
	if (pid == 0) {
		execl(path, path, "600", NULL);
		_exit(1);
	}
	for (unsigned i = 0; i < 6000 && (vm = vm_open(pid)) == NULL; i++)
		pause_ms(10);
	CHECK(vm != NULL && vm_refusal(vm) != NULL);
	vm_close(vm);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	int said = -1, tell = -1, pid = start_vm(&said, &tell);
	char line[16] = "";
	struct vm *vm;

	if (pid < 0 || read(said, line, sizeof(line) - 1) <= 0 || strstr(line, "ready") == NULL) {
		printf("skipped: no Erlang here\n");
		return finish();
	}
	vm = vm_open(pid);
	if (vm == NULL)
		printf("skipped: a process may not read its child's memory here\n");
	else
		look(vm, pid);
	if (vm != NULL && vm_refusal(vm) == NULL && write(tell, "go\n", 3) == 3)
		look_while_it_loads(pid, vm_tables(vm)->modules);
	vm_close(vm);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	refuse();
	return finish();
}
