/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line. dtrace(1)'s order: options and script arguments may be mixed; what is no
 * option and no option's argument is $1, $2 ...; every option holds for all scripts wherever it
 * stands; scripts are compiled in the order given. After "--" everything is a script argument.
 */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "array.h"
#include "cli/script/script.h"
#include "cli/script/script_args.h"
#include "cli/script/script_library.h"

enum {
	OPT_HELP = 256,
	OPT_VERSION,
	OPT_COOKIE_FILE,
	OPT_CLUSTER,
	OPT_SCRIPTS,
	OPT_SNAPSHOTS,
	OPT_OUTPUT /* and behind it: those of output_at() */
};

static const char letters[] = "+3:6:aAb:c:CD:ef:FGhHi:I:lL:m:n:N:o:p:P:qs:SU:vVwx:X:Z";
static const struct option own_longs[] = {
	{"cluster", no_argument, NULL, OPT_CLUSTER},
	{"cookie-file", required_argument, NULL, OPT_COOKIE_FILE},
	{"help", no_argument, NULL, OPT_HELP},
	{"scripts", no_argument, NULL, OPT_SCRIPTS},
	{"snapshots", required_argument, NULL, OPT_SNAPSHOTS},
	{"version", no_argument, NULL, OPT_VERSION},
};
enum { OWN_LONGS = sizeof(own_longs) / sizeof(own_longs[0]) };

static const char usage[] =
	"Usage: erltrace [-64] [-CeFHlqSvVwZ] [-b bufsz] [-c cmd] [-D name[=def]] [-I path]\n"
	"	[-L path] [-N node] [-o output] [-p pid] [-s script] [-U name] [-x opt[=val]]\n"
	"	[-X a|c|s|t] [--cluster] [--cookie-file file] [--snapshots dir] [--help] "
	"[--version]";

static const char usage_of_others[] =
	"       erltrace --scripts [name ...]\n"
	"       erltrace record [--help]\n"
	"       erltrace serve [--help]\n"
	"       erltrace test [--help]\n"
	"       erltrace web [--help]\n"
	"\n"
	"	[-P provider [[ predicate ] action ]]\n"
	"	[-m [ provider: ] module [[ predicate ] action ]]\n"
	"	[-f [[ provider: ] module: ] func [[ predicate ] action ]]\n"
	"	[-n [[[ provider: ] module: ] func: ] name [[ predicate ] action ]]\n"
	"	[-i probe-id [[ predicate ] action ]] [ args ... ]\n";

static const char help[] =
	"\n"
	"	predicate -> '/' D-expression '/'\n"
	"	   action -> '{' D-statements '}'\n"
	"\n"
	"	-64  trace 64-bit programs (the default; there is no -32)\n"
	"	-b   set trace buffer size\n"
	"	-c   run a command (a node: erl -sname) and trace until it ends; its process is "
	"$target\n"
	"	-C   run cpp(1) on script files\n"
	"	-D   define a symbol when preprocessing\n"
	"	-e   exit after compiling\n"
	"	-f   enable or list probes matching the function name\n"
	"	-F   indent output by entry and return\n"
	"	-H   print included files when preprocessing\n"
	"	-i   enable or list the probe with this number\n"
	"	-I   add a folder for #include when preprocessing; FILE.hrl: Erlang records\n"
	"	-l   list probes (-lv: with their argument types)\n"
	"	-L   add a folder of D libraries\n"
	"	-m   enable or list probes matching the module name\n"
	"	-n   enable or list probes matching the probe name\n"
	"	-N   trace an Erlang node, name or name@host; several nodes give one result\n"
	"	-o   append the output to a file\n"
	"	-p   trace until this process (or node) ends; it is $target\n"
	"	-P   enable or list probes matching the provider name\n"
	"	-q   quiet: print only what the script prints\n"
	"	-s   enable the probes of a D script: a file, or one of the library by its name\n"
	"	-S   print the compiled bytecode\n"
	"	-U   undefine a symbol when preprocessing\n"
	"	-v   print what was compiled and, at the end, what it cost\n"
	"	-V   print the version\n"
	"	-w   permit destructive actions\n"
	"	-x   set or change an option\n"
	"	-X   ISO C conformance when preprocessing\n"
	"	-Z   accept probe descriptions that match nothing\n"
	"	--cluster  also trace the nodes that those of -N are connected to\n"
	"	--cookie-file F  file with the cookie (default: $ERL_COOKIE_FILE, "
	"~/.erlang.cookie)\n"
	"	--help     this text\n"
	"	--scripts  list the library; with names of scripts: describe these\n"
	"	--snapshots D  with bufpolicy=ring: write snapshots to the folder D; SIGUSR1 takes "
	"one\n"
	"	--version  print the version\n";

static const char help_of_the_rest[] =
	"\n"
	"Which processes does the node shop spawn? How long do the calls of a module take?\n"
	"\n"
	"	erltrace -N shop -qn 'erlang*:::process-spawn { @[args[1]] = count(); }\n"
	"		tick-2s { exit(0); }'\n"
	"	erltrace -N shop -qs heat module=MODULE for=5s\n"
	"\n"
	"Options of -x, also as '#pragma D option name=value' and DTRACE_OPT_NAME=value:\n"
	"\n";

/* With the options of outputs, as many on a line as fit. */
static void put_usage(FILE *f)
{
	enum { WIDTH = 80 };
	const struct sink *sink;
	int column = WIDTH;

	fputs(usage, f);
	for (unsigned i = 0; (sink = output_at(i)) != NULL; i++) {
		char text[64];
		int len = sink->option == NULL
				  ? 0
				  : snprintf(text, sizeof(text), "[--%s%s]", sink->option,
					    sink->value != NULL ? sink->value : "");

		if (len == 0)
			continue;
		if (column + 1 + len > WIDTH)
			column = 7;
		fprintf(f, "%s%s", column == 7 ? "\n	" : " ", text);
		column += 1 + len;
	}
	fputs("\n", f);
	fputs(usage_of_others, f);
}

void cli_help(FILE *f)
{
	const struct sink *sink;
	const char *name, *about;

	put_usage(f);
	fputs(help, f);
	for (unsigned i = 0; (sink = output_at(i)) != NULL; i++)
		if (sink->option != NULL)
			fprintf(f, "	--%s%s  %s\n", sink->option,
				sink->value != NULL ? sink->value : "", sink->about);
	fputs(help_of_the_rest, f);
	for (unsigned i = 0; (name = erltrace_option_name(i, &about)) != NULL; i++)
		fprintf(f, "	%-14s %s\n", name, about);
}

static int bad_usage(void)
{
	put_usage(stderr);
	fputs("\nerltrace --help says more.\n", stderr);
	return CLI_USAGE;
}

/* What this platform cannot do: said, not ignored. */
static int cannot(const char *flag, const char *why)
{
	cli_say("%s: %s", flag, why);
	return CLI_USAGE;
}

/* There is no way on without memory for what is asked. */
static void need(bool added)
{
	if (added)
		return;
	cli_say("out of memory");
	exit(CLI_ERROR);
}

static int add_process(struct cli *c, char flag, const char *arg)
{
	struct cli_process p = {.go = -1, .failed = -1, .pidfd = -1};
	char *end;
	long pid;

	if (flag == 'c') {
		p.command = arg;
	} else {
		errno = 0;
		pid = strtol(arg, &end, 10);
		if (errno != 0 || end == arg || *end != '\0' || pid <= 0 || pid != (pid_t)pid) {
			cli_say("invalid process ID: %s", arg);
			return CLI_USAGE;
		}
		p.pid = (pid_t)pid;
	}
	need(ARRAY_ROOM(c->procs.v, (size_t)c->procs.n));
	c->procs.v[c->procs.n++] = p;
	return -1;
}

static int set_mode(struct cli *c, enum cli_mode mode)
{
	if (c->req.mode != MODE_RUN && c->req.mode != mode) {
		cli_say("only one of -l, -V, --help and --scripts can be given");
		return CLI_USAGE;
	}
	c->req.mode = mode;
	return -1;
}

/* What becomes of results. With a clause of its own nothing is printed but what it gives. */
static int choose_output(struct cli *c, unsigned i, const char *arg)
{
	char *clause = NULL;
	int status = output_choose(&c->out, i, arg, &clause);
	const char *kept = clause != NULL ? cli_keep(&c->req, clause) : NULL;

	need(clause == NULL || kept != NULL);
	free(clause);
	if (kept != NULL) {
		need(cli_add_script(&c->req, 'n', kept));
		need(cli_add_setting(&c->req, 'q', "quiet", NULL));
	}
	return status;
}

/* A header of Erlang's; otherwise it is a folder for cpp. */
static bool is_header(const char *arg)
{
	size_t len = strlen(arg);

	return len > 4 && strcmp(arg + len - 4, ".hrl") == 0;
}

/* Flags that only set an option of the handle. */
static bool is_setting(struct cli *c, int flag, const char *arg)
{
	static const struct {
		char flag;
		const char *name;
	} table[] = {
		{'b', "bufsize"},
		{'D', "define"},
		{'F', "flowindent"},
		{'H', "cpphdrs"},
		{'I', "incdir"},
		{'L', "libdir"},
		{'q', "quiet"},
		{'U', "undef"},
		{'w', "destructive"},
		{'X', "stdc"},
	};

	if (flag == 'x') {
		need(cli_add_setting(&c->req, 'x', arg, NULL));
		return true;
	}
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].flag == flag) {
			need(cli_add_setting(&c->req, (char)flag, table[i].name, arg));
			return true;
		}
	return false;
}

static int one_option(struct cli *c, int flag, const char *arg)
{
	if (flag == 'I' && is_header(arg)) {
		need(ARRAY_ROOM(c->req.headers, (size_t)c->req.nheaders));
		c->req.headers[c->req.nheaders++] = arg;
		return -1;
	}
	if (is_setting(c, flag, arg))
		return -1;
	if (flag >= OPT_OUTPUT)
		return choose_output(c, (unsigned)(flag - OPT_OUTPUT), arg);
	switch (flag) {
	case '3':
		if (strcmp(arg, "2") != 0)
			return bad_usage();
		return cannot("-32", "only 64-bit programs can be traced here");
	case '6': return strcmp(arg, "4") == 0 ? -1 : bad_usage();
	case 'a':
	case 'A':
		return cannot(
			flag == 'a' ? "-a" : "-A", "there is no anonymous tracing at boot here");
	case 'G': return cannot("-G", "probes cannot be linked into object files here");
	case 'h': return cannot("-h", "header files for user probes cannot be made here");
	case 'c':
	case 'p': return add_process(c, (char)flag, arg);
	case 'C': c->req.preprocess = true; return -1;
	case 'e': c->req.compile_only = true; return -1;
	case 'l': return set_mode(c, MODE_LIST);
	case 'f':
	case 'i':
	case 'm':
	case 'n':
	case 'P':
	case 's': need(cli_add_script(&c->req, (char)flag, arg)); return -1;
	case 'N': need(cli_add_node(&c->req, arg)); return -1;
	case 'o': c->out.path = arg; return -1;
	case 'S': c->req.show_code = true; return -1;
	case 'v': c->req.verbose++; return -1;
	case 'V':
	case OPT_VERSION: return set_mode(c, MODE_VERSION);
	case 'Z': c->req.zero_matches = true; return -1;
	case OPT_HELP: return set_mode(c, MODE_HELP);
	case OPT_SCRIPTS: return set_mode(c, MODE_SCRIPTS);
	case OPT_CLUSTER: c->req.cluster = true; return -1;
	case OPT_SNAPSHOTS: need(cli_add_setting(&c->req, 'x', "snapshotdir", arg)); return -1;
	case OPT_COOKIE_FILE: c->req.cookie_file = arg; return -1;
	default: return bad_usage(); /* getopt has said why */
	}
}

/* The long options: the command's own, and those of outputs. */
static void fill_longs(struct option longs[OWN_LONGS + OUTPUTS + 1])
{
	const struct sink *sink;
	int n = OWN_LONGS;

	memcpy(longs, own_longs, sizeof(own_longs));
	for (unsigned i = 0; (sink = output_at(i)) != NULL; i++)
		if (sink->option != NULL)
			longs[n++] = (struct option){sink->option,
				sink->value != NULL ? required_argument : no_argument, NULL,
				OPT_OUTPUT + (int)i};
	longs[n] = (struct option){NULL, 0, NULL, 0};
}

int cli_args(struct cli *c, int argc, char **argv)
{
	static char name[] = "erltrace"; /* getopt's messages start with argv[0] */
	struct option longs[OWN_LONGS + OUTPUTS + 1];
	char *own = argv[0];
	int flag, status = -1;

	c->req.argv = argv;
	if (argc <= 1)
		return bad_usage();
	argv[0] = name;
	fill_longs(longs);
	while (status == -1 && optind < argc) {
		flag = getopt_long(argc, argv, letters, longs, NULL);
		if (flag != -1) {
			status = one_option(c, flag, optarg);
			continue;
		}
		if (strcmp(argv[optind - 1], "--") == 0)
			while (optind < argc)
				need(cli_add_arg(&c->req, argv[optind++]));
		else
			need(cli_add_arg(&c->req, argv[optind++])), c->req.nplain = c->req.nargs;
	}
	argv[0] = own;
	if (status == -1)
		status = output_check(&c->out, c->req.mode == MODE_LIST);
	return status == -1 ? cli_script_args(&c->req) : status;
}
