/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker: scripts and the error tag that each must get, or none; stability, limits, words of
 * errors. What it makes of expressions and variables is in types_test.c. No code is generated.
 */
#include "check_env.h"

/* ---- scripts and their errors --------------------------------------------------------- */

struct row {
	const char *tag; /* NULL: none */
	const char *text;
};

static const struct row rows[] = {
	/* what must pass */
	{NULL, B("x = 1; x++; y = \"s\"; z = y; trace(x);")},
	{NULL, B("self->a[1, \"x\"] = timestamp; trace(self->a[2, execname]);")},
	{NULL, B("n++; m += 3; trace(n + m);")},
	{NULL, B("@a[pid, execname] = count(); @ = sum(arg0); printa(@a); printa(@);")},
	{NULL, B("this->s = strjoin(execname, \"x\"); trace(this->s);")},
	{NULL, B("gs = 0; self->s = execname; self->s = 0; self->s = NULL;")},
	{NULL, "BEGIN / gs != NULL && strstr(execname, \"a\") != NULL / { trace(1); }"},
	{NULL, "BEGIN / gp / { trace(gp->i); trace(gp->next->c[1]); trace(&gp->i); }"},
	{NULL, B("printf(\"%d %s %x %p %Y %*d %-10s|%c%%\\n\", 1, execname, 2, gp, walltimestamp, "
		 "5, 6, "
		 "gp->c, 'x');")},
	{NULL, B("printf(\"%k %a %A\", stack(), arg0, uaddr(arg0));")},
	{NULL, B("@q[ustack(5), sym(arg0)] = quantize(arg1, 2); @l = lquantize(arg0, 0, 100, "
		 "10);")},
	{NULL, B("@x = llquantize(arg0, 10, 0, 6, 20); @x = llquantize(arg1, 10, 0, 6, 20, -1);")},
	{NULL, B("if (pid == 1) { trace(1); } else if (pid) trace(2); else { trace(3); }")},
	{NULL, B("gst = *gp; got.o = 3; garr[3] = 1; gp->a[2]++; *(int *)arg0 = 1;")},
	{NULL, B("trace(pid ? \"a\" : execname); trace(pid ? gp : 0); trace(pid ? 1 : 2L);")},
	{NULL, B("trace(gp + 1); trace(1 + gp); trace(gp - gp); gp++; gp += 2; trace(gp == 0);")},
	{NULL, B("trace(gs + 1); trace(&gst.i); trace(garr + 1); gs[0] = 1;")},
	{NULL, B("trace(sizeof (struct in)); trace(sizeof gst); trace(offsetof(struct in, c));")},
	{NULL, B("trace(RED | GREEN); trace(gs[1]); trace(gp->u2);")},
	{NULL, B("self->spec = speculation(); speculate(self->spec); trace(1);")},
	{NULL, B("commit(self->spec = 1); discard(2);")},
	{NULL, "BEGIN { @z = count(); clear(@z); trunc(@z, 3); "
	       "normalize(@z, 1000); denormalize(@z); }"},
	{NULL, P("trace(args[0]); trace(args[1]); trace(args[2]); trace(args[3]->s); "
		 "trace(args[3]->text);")},
	{NULL, "t:::swap { this->p = args[0]; trace(*this->p); trace(args[1] + 1); }"},
	{NULL, B("trace(xlate <struct seen *> ((struct native *)arg0)->s);")},
	{NULL, B("trace(xlate <struct seen> ((struct native *)arg0).text);")},
	{NULL, "inline int twice[int x] = x + x; inline int four = twice[2]; BEGIN { "
	       "trace(twice[four] + "
	       "twice[twice[1]]); }"},
	{NULL, "inline struct seen *cur = xlate <struct seen *> ((struct native *)arg0); BEGIN { "
	       "trace(cur->s + 1); trace(cur->text); }"},
	{NULL, "inline int second[int *p] = p[1]; BEGIN { trace(second[gp->a]); }"},
	{NULL, "BEGIN { @k[1, execname] = count(); @j[2, gs] = sum(1); printa(\"%d %s %@d "
	       "%@d\\n\", @k, "
	       "@j); printa(\"%@d\\n\", @k); }"},
	{NULL, B("strtok(gs, \",\"); trace(strtok(NULL, \",\")); trace(substr(gs, 1)); "
		 "trace(index(gs, \"a\", 3));")},
	{NULL, B("trace(1), x = 2, trace(x);")},
	{NULL, B("trace((string)gp->c); trace((char *)arg0 == gp->c); trace((uint8_t)300);")},
	{NULL, B("this->p = alloca(16); this->q = (char *)this->p; *this->q = 'a'; this->p = 0;")},
	{NULL, B("freopen(\"/tmp/%d\", pid); freopen(\"\"); system(\"date\"); setopt(\"quiet\");")},
	{NULL, B("print(gst); print(*gp); tracemem(arg0, 16); tracemem(gp, 16, arg1); "
		 "trace(gst);")},
	{NULL, B("bcopy(gp, alloca(4), 4); copyout(\"x\", arg0, 2); raise(9); stop(); chill(5);")},
	{NULL, B("a[gst] = 1; @[gst, garr] = count();")},
	{NULL, B("gd = gp->d; trace(gp->d); printf(\"%f\", gd); gbool = 5; gp->f = 3; gp->g++;")},
	{NULL, "provider app { probe work__done(int a, char *b); }; app*:::work-done, "
	       "app77:::work-done { "
	       "trace(args[0]); trace(stringof(args[1])); }"},
	{NULL, "string declared[int]; BEGIN { declared[1] = \"x\"; declared[pid] = execname; }"},
	{NULL, "int again; int again; BEGIN { again = 1; }"},
	{NULL, B("gi; 1; execname; gs == \"x\";")},
	{NULL, B("trace(uregs[3]); trace(NULL); trace(curthread);")},
	{NULL, B("trace(inet_ntop(2, gp)); trace(lltostr(-1)); trace(strtoll(\"12\", 16));")},

	/* names */
	{"D_IDENT_UNDEF", B("trace(nosuch);")},
	{"D_VAR_UNDEF", B("trace(nosuch[1]);")},
	{"D_VAR_UNDEF", B("x = x + 1;")},
	{"D_IDENT_BADREF", B("trace(strlen);")},
	{"D_IDENT_BADREF", B("trace(gas);")},
	{"D_IDENT_BADREF", B("trace(args);")},
	{"D_IDENT_BADREF", B("trace(printf + 1);")},
	{"D_IDENT_AMBIG", B("RED = 1;")},
	{"D_VAR_UNDEF", B("trace(self->nosuch);")},
	{"D_VAR_UNDEF", B("trace(this->nosuch[1]);")},
	{"D_VAR_UNSUP", B("trace(zonename);")},
	{"D_VAR_UNSUP", B("trace(curproc);")},
	{"D_SYM_NOTYPES", B("trace(`max_pfn);")},
	{"D_SYM_NOTYPES", B("trace(vmlinux`max_pfn);")},
	{"D_SYM_BADREF", "BEGIN { trace(libc`environ); }"},
	{"D_FUNC_UNDEF", B("strlne(\"x\");")},
	{"D_FUNC_IDKIND", B("pid();")},
	{"D_FUNC_IDKIND", B("gas(1);")},
	{"D_FUNC_IDENT", B("(pid)(1);")},
	{"D_ARR_BADREF", B("trace(gi[1]);")},
	{"D_ARR_BADREF", B("trace(arg0[1, 2]);")},
	{"D_ARR_BADREF", B("x[1] = 2; trace(x[1][2]);")},
	{"D_ARR_LOCAL", B("this->a[1] = 2;")},
	{"D_ARR_BOUNDS", B("trace(garr[10]);")},
	{"D_ARR_BOUNDS", B("trace(gp->a[-1]);")},
	{"D_ARR_BOUNDS", B("trace(gs[100000]);")},
	{"D_PROTO_LEN", B("a[1] = 1; a[1, 2] = 1;")},
	{"D_PROTO_ARG", B("a[1] = 1; a[\"x\"] = 1;")},
	{"D_PROTO_ARG", B("gas[\"x\", \"x\"] = 1;")},
	{"D_KEY_TYPE", B("a[gd] = 1;")},
	{"D_KEY_TYPE", B("@[gd] = count();")},
	{"D_PROTO_ARG", B("@a[1] = count(); @a[\"x\"] = count();")},
	{"D_PROTO_LEN", B("@a[1] = count(); @a = count();")},
	{"D_KEY_TYPE", B("a[stack()] = 1;")},

	/* args[] and uregs[] */
	{"D_ARGS_NONE", "ERROR { trace(args[0]); }"},
	{"D_ARGS_NONE", "nothing:::here { trace(args[0]); }"},
	{"D_ARGS_MULTI", "t:::p, BEGIN { trace(args[0]); }"},
	{"D_ARGS_IDX", P("trace(args[6]);")},
	{"D_PROTO_ARG", P("trace(args[pid]);")},
	{"D_ARGS_IDX", B("trace(args[0]);")},
	{"D_ARGS_TYPE", P("trace(args[4]);")},
	{"D_ARGS_TYPE", P("trace(args[5]);")},
	{"D_ARGS_XLATOR", "t:::q { trace(args[0]->s); }"},
	{"D_OP_DYN", P("x = args[3];")},
	{"D_REGS_IDX", B("trace(uregs[27]);")},
	{"D_REGS_IDX", B("trace(uregs[pid]);")},

	/* operators */
	{"D_OP_INT", B("trace(~execname);")},
	{"D_OP_INT", B("trace(gp % 2);")},
	{"D_OP_INT", B("trace(1 << gs);")},
	{"D_OP_INT", B("trace(garr[gs]);")},
	{"D_OP_INT", B("gi <<= gs;")},
	{"D_OP_SCALAR", B("trace(!execname);")},
	{"D_OP_SCALAR", B("trace(gs && 1);")},
	{"D_OP_SCALAR", B("trace(gs ? 1 : 2);")},
	{"D_OP_SCALAR", B("gs++;")},
	{"D_OP_ARITH", B("trace(-execname);")},
	{"D_OP_ARITH", B("trace(gp * 2);")},
	{"D_OP_ARITH", B("trace(gd + 1);")},
	{"D_OP_ARITH", B("trace(gd < 1);")},
	{"D_OP_INCOMPAT", B("gs += 1;")},
	{"D_OP_WRITE", B("pid = 1;")},
	{"D_OP_WRITE", B("timestamp++;")},
	{"D_OP_WRITE", P("args[0] = 1;")},
	{"D_OP_LVAL", B("1 = 2;")},
	{"D_OP_LVAL", B("(gi + 1) += 2;")},
	{"D_OP_LVAL", "inline int k = 1; BEGIN { k = 2; }"},
	{"D_OP_INCOMPAT", B("trace(gs - 1);")},
	{"D_OP_INCOMPAT", B("trace(gs == 1);")},
	{"D_OP_INCOMPAT", B("gs = 1;")},
	{"D_OP_INCOMPAT", B("gi = execname;")},
	{"D_OP_INCOMPAT", B("gp = arg0;")},
	{"D_OP_INCOMPAT", B("gst = got;")},
	{"D_OP_INCOMPAT", B("trace(gi ? 2 : \"x\");")},
	{"D_OP_INCOMPAT", B("x = bcopy(gp, gp, 1);")},
	{"D_OP_INCOMPAT", "inline int bad = \"x\";"},
	{"D_OP_INCOMPAT", B("trace(gv + 1);")},
	{"D_OP_VFPTR", B("gv++;")},
	{"D_OP_INCOMPAT", B("trace(gp->fn + 1);")},
	{"D_OP_ARRFUN", B("x = gp->c;")},
	{"D_OP_ARRFUN", B("garr = garr;")},
	{"D_OP_PTR", B("trace(gst->i);")},
	{"D_OP_PTR", B("trace(pid->i);")},
	{"D_OP_SOU", B("trace(gp.i);")},
	{"D_OP_SOU", B("trace(((char *)arg0)->i);")},
	{"D_OP_INCOMPLETE", B("trace(glater->x);")},
	{"D_OP_INCOMPLETE", B("trace(glater + 1);")},
	{"D_OP_DYN", B("x = xlate <struct seen *> ((struct native *)arg0);")},
	{"D_OP_INCOMPAT", B("@a = count(); x = @a;")},
	{"D_OP_DYN", B("@a++;")},
	{"D_OP_DYN", B("@a += 1;")},
	{"D_OP_INCOMPAT", B("x = trace(1);")},
	{"D_OP_INCOMPAT", B("x = stack();")},
	{"D_TRACE_VOID", B("trace(printf(\"x\"));")},
	{"D_PRED_SCALAR", "BEGIN / stack() / { trace(1); }"},
	{"D_OP_INCOMPAT", "inline int bad = trace(1);"},
	{"D_CG_DYN", B("xlate <struct seen *> ((struct native *)arg0);")},
	{"D_DIV_ZERO", B("trace(gi / 0);")},
	{"D_DIV_ZERO", B("trace(1 % (2 - 2));")},
	{"D_DIV_ZERO", B("gi /= 0;")},
	{"D_DEREF_NONPTR", B("trace(*gi);")},
	{"D_DEREF_NONPTR", B("trace(*arg0);")},
	{"D_DEREF_VOID", B("trace(*gv);")},
	{"D_DEREF_FUNC", B("trace(*gp->fn);")},
	{"D_ADDROF_LVAL", B("trace(&1);")},
	{"D_ADDROF_LVAL", B("trace(&(gi + 1));")},
	{"D_ADDROF_VAR", B("trace(&gi);")},
	{"D_ADDROF_VAR", B("self->st = gst; trace(&self->st.i);")},
	{"D_ADDROF_VAR", B("trace(&pid);")},
	{"D_ADDROF_VAR", B("self->st = gst; trace(self->st.a + 1);")},
	{"D_ADDROF_BITFIELD", B("trace(&gp->f);")},
	{"D_CAST_INVAL", B("trace((int)gst);")},
	{"D_CAST_INVAL", B("trace((struct in)gi);")},
	{"D_CAST_INVAL", B("trace((int)execname);")},
	{"D_CAST_INVAL", B("trace((string)gst);")},
	{"D_SIZEOF_TYPE", B("trace(sizeof (void));")},
	{"D_SIZEOF_TYPE", B("trace(sizeof (struct later));")},
	{"D_SIZEOF_BITFIELD", B("trace(sizeof (gp->f));")},
	{"D_OFFSETOF_TYPE", B("trace(offsetof(int, x));")},
	{"D_OFFSETOF_BITFIELD", B("trace(offsetof(struct in, f));")},
	{"D_STRINGOF_TYPE", B("trace(stringof(gst));")},
	{"D_TYPE_MEMBER", B("trace(gp->nosuch);")},
	{"D_UNKNOWN", B("trace(offsetof(struct in, nosuch));")},
	{"D_PRED_SCALAR", "BEGIN / execname / { trace(1); }"},
	{"D_PRED_SCALAR", B("if (gst) trace(1);")},
	{"D_ALLOCA_SIZE", B("x = alloca(100000);")},
	{"D_ALLOCA_INCOMPAT", B("x = (int *)alloca(8); x = &gp->i;")},
	{"D_ALLOCA_INCOMPAT", B("trace(pid ? (int *)alloca(8) : &gp->i);")},

	/* calls */
	{"D_PROTO_LEN", B("trace(strlen());")},
	{"D_PROTO_LEN", B("exit(1, 2);")},
	{"D_PROTO_LEN", "inline int one[int x] = x; BEGIN { trace(one[1, 2]); }"},
	{"D_PROTO_ARG", B("trace(strlen(arg0));")},
	{"D_PROTO_ARG", B("exit(\"x\");")},
	{"D_PROTO_ARG", B("trace(copyinstr(gst));")},
	{"D_PROTO_ARG", "inline int one[int x] = x; BEGIN { trace(one[\"x\"]); }"},
	{"D_TRACE_VOID", B("trace(bcopy(gp, gp, 1));")},
	{"D_TRACE_AGG", B("@a = count(); trace(@a);")},
	{"D_TRACE_DYN", B("trace(xlate <struct seen *> ((struct native *)arg0));")},
	{"D_PRINT_SIZE", B("print(*glater);")},
	{"D_TRACEMEM_ADDR", B("tracemem(gs, 16);")},
	{"D_TRACEMEM_SIZE", B("tracemem(arg0, pid);")},
	{"D_TRACEMEM_SIZE", B("tracemem(arg0, 0);")},
	{"D_TRACEMEM_DYNSIZE", B("tracemem(arg0, 16, gs);")},
	{"D_STACK_PROTO", B("stack(1, 2);")},
	{"D_STACK_SIZE", B("stack(pid);")},
	{"D_USTACK_PROTO", B("ustack(1, 2, 3);")},
	{"D_USTACK_FRAMES", B("ustack(pid);")},
	{"D_USTACK_STRSIZE", B("jstack(1, pid);")},
	{"D_FREOPEN_INVALID", B("freopen(\".\");")},
	{"D_PCAP_PROTO", B("pcap(arg0);")},
	{"D_PCAP_PROTO", B("pcap(arg0, 1);")},
	{"D_PCAP_ADDR", B("pcap(gst, 1);")},
	{"D_PCAP_SIZE", B("pcap(arg0, gs);")},

	/* formats */
	{"D_PRINTF_ARG_FMT", B("printf(gs);")},
	{"D_SYNTAX", B("printf(\"%q\", 1);")},
	{"D_SYNTAX", B("printf(\"%\");")},
	{"D_SYNTAX", B("printf(\"%zd\", 1);")},
	{"D_SYNTAX", B("printf(\"%99999d\", 1);")},
	{NULL, B("printf(\"%lld %hhx %-8.3s %+05i %'u %?p %S %ws %lc %C %T\", 1, 2, gs, 3, 4, 5, "
		 "gs, "
		 "gs, 6, 7, 8);")},
	{"D_PRINTF_FMT_EMPTY", B("printf(\"\");")},
	{"D_PRINTF_ARG_PROTO", B("printf(\"%d %d\", 1);")},
	{"D_PRINTF_ARG_EXTRA", B("printf(\"%d\", 1, 2);")},
	{"D_PRINTF_ARG_TYPE", B("printf(\"%s\", 1);")},
	{"D_PRINTF_ARG_TYPE", B("printf(\"%d\", execname);")},
	{"D_PRINTF_ARG_TYPE", B("printf(\"%f\", 1);")},
	{"D_PRINTF_ARG_TYPE", B("@a = count(); printf(\"%d\", @a);")},
	{"D_PRINTF_DYN_PROTO", B("printf(\"%*d\");")},
	{"D_PRINTF_DYN_TYPE", B("printf(\"%*d\", execname, 1);")},
	{"D_PRINTF_AGG_CONV", B("printf(\"%@d\", 1);")},
	{"D_PRINTF_ARG_TYPE", B("@a = count(); printa(\"%@s\", @a);")},
	{"D_PRINTF_ARG_PROTO", B("@a[1] = count(); printa(\"%d %d %@d\", @a);")},
	{"D_PRINTF_ARG_TYPE", B("@a[1] = count(); printa(\"%s %@d\", @a);")},

	/* aggregations */
	{"D_AGG_FUNC", B("@a = 1;")},
	{"D_AGG_FUNC", B("@a = strlen(gs);")},
	{"D_CG_EXPR", B("count();")},
	{"D_OP_INCOMPAT", B("x = sum(1);")},
	{"D_IDENT_UNDEF", B("@a;")},
	{"D_AGG_MDIM", B("@a[1][2] = count();")},
	{"D_AGG_MDIM", B("trace(@a[1][2]);")},
	{"D_AGG_REDEF", B("@a = count(); @a = sum(1);")},
	{"D_AGG_SCALAR", B("@a = sum(gs);")},
	{"D_PROTO_LEN", B("@a = count(1);")},
	{"D_FUNC_UNDEF", B("@a = cuont();")},
	{"D_PROTO_LEN", B("@a = quantize(1, 2, 3);")},
	{"D_PROTO_ARG", B("@a = quantize(1, gs);")},
	{"D_LQUANT_BASETYPE", B("@a = lquantize(1, pid, 10);")},
	{"D_LQUANT_BASEVAL", B("@a = lquantize(1, 5000000000, 10);")},
	{"D_LQUANT_LIMTYPE", B("@a = lquantize(1, 0, pid);")},
	{"D_LQUANT_LIMVAL", B("@a = lquantize(1, 0, 5000000000);")},
	{"D_LQUANT_STEPTYPE", B("@a = lquantize(1, 0, 10, pid);")},
	{"D_LQUANT_STEPTYPE", B("@a = lquantize(1, 0, 10, 0);")},
	{"D_LQUANT_MISMATCH", B("@a = lquantize(1, 10, 5);")},
	{"D_LQUANT_STEPLARGE", B("@a = lquantize(1, 0, 5, 10);")},
	{"D_LQUANT_STEPSMALL", B("@a = lquantize(1, 0, 1000000);")},
	{"D_LQUANT_MATCHBASE", B("@a = lquantize(1, 0, 10); @a = lquantize(1, 1, 10);")},
	{"D_LQUANT_MATCHLIM", B("@a = lquantize(1, 0, 10); @a = lquantize(1, 0, 11);")},
	{"D_LQUANT_MATCHSTEP", B("@a = lquantize(1, 0, 10); @a = lquantize(1, 0, 10, 2);")},
	{"D_LLQUANT_FACTORTYPE", B("@a = llquantize(1, pid, 0, 6, 20);")},
	{"D_LLQUANT_FACTORVAL", B("@a = llquantize(1, 1, 0, 6, 20);")},
	{"D_LLQUANT_LMAGTYPE", B("@a = llquantize(1, 10, pid, 6, 20);")},
	{"D_LLQUANT_LMAGVAL", B("@a = llquantize(1, 10, -1, 6, 20);")},
	{"D_LLQUANT_HMAGTYPE", B("@a = llquantize(1, 10, 0, pid, 20);")},
	{"D_LLQUANT_HMAGVAL", B("@a = llquantize(1, 10, 0, 19, 20);")},
	{"D_LLQUANT_HMAGVAL", B("@a = llquantize(1, 10, 7, 6, 20);")},
	{"D_LLQUANT_STEPTYPE", B("@a = llquantize(1, 10, 0, 6, pid);")},
	{"D_LLQUANT_STEPVAL", B("@a = llquantize(1, 10, 0, 6, 3);")},
	{"D_LLQUANT_STEPVAL", B("@a = llquantize(1, 10, 0, 6, 30);")},
	{"D_LLQUANT_MATCHFACTOR",
		B("@a = llquantize(1, 10, 0, 6, 20); @a = llquantize(1, 2, 0, 6, 4);")},
	{"D_LLQUANT_MATCHLMAG",
		B("@a = llquantize(1, 10, 0, 6, 20); @a = llquantize(1, 10, 1, 6, 20);")},
	{"D_LLQUANT_MATCHHMAG",
		B("@a = llquantize(1, 10, 0, 6, 20); @a = llquantize(1, 10, 0, 7, 20);")},
	{"D_LLQUANT_MATCHSTEPS",
		B("@a = llquantize(1, 10, 0, 6, 20); @a = llquantize(1, 10, 0, 6, 10);")},
	{"D_CLEAR_PROTO", B("clear();")},
	{"D_CLEAR_AGGARG", B("clear(1);")},
	{"D_IDENT_UNDEF", B("clear(@nosuch);")},
	{"D_TRUNC_AGGARG", B("trunc(1);")},
	{"D_IDENT_UNDEF", B("trunc(@nosuch);")},
	{"D_TRUNC_SCALAR", B("@a = count(); trunc(@a, gs);")},
	{"D_NORMALIZE_PROTO", B("@a = count(); normalize(@a);")},
	{"D_NORMALIZE_SCALAR", B("@a = count(); normalize(@a, gs);")},
	{"D_NORMALIZE_AGGARG", B("normalize(1, 2);")},
	{"D_IDENT_UNDEF", B("denormalize(@nosuch);")},
	{"D_PROTO_LEN", B("printa();")},
	{"D_PRINTA_PROTO", B("printa(\"x\");")},
	{"D_PRINTA_AGGARG", B("printa(1);")},
	{"D_PRINTA_AGGARG", B("@a = count(); printa(\"%@d\", @a, 1);")},
	{"D_IDENT_UNDEF", B("printa(@nosuch);")},
	{"D_PRINTA_AGGPROTO", B("@a[1] = count(); @b[\"x\"] = count(); printa(@a, @b);")},
	{"D_PRINTA_AGGKEY", B("@a[1] = count(); @b = count(); printa(@a, @b);")},

	/* the order of speculation */
	{"D_SPEC_SPEC", B("speculate(1); speculate(1);")},
	{"D_SPEC_COMM", B("commit(1); speculate(1);")},
	{"D_SPEC_DREC", B("trace(1); speculate(1);")},
	{"D_COMM_DREC", B("trace(1); commit(1);")},
	{"D_DREC_COMM", B("commit(1); trace(1);")},
	{"D_AGG_COMM", B("commit(1); @a = count();")},
	{"D_AGG_SPEC", B("speculate(1); @a = count();")},
	{"D_ACT_SPEC", B("speculate(1); stop();")},
	{"D_EXIT_SPEC", B("speculate(1); exit(0);")},
	{"D_DREC_COMM", B("if (pid) { commit(1); } trace(1);")},
	{NULL, B("if (pid) { commit(1); } else { trace(1); }")},
	{"D_SPEC_DREC", B("if (pid) { x = 1; } else { @a = count(); } speculate(1);")},

	/* declarations */
	{"D_DECL_IDRED", "string gi;"},
	{"D_DECL_IDRED", "int pid;"},
	{"D_DECL_IDRED", "inline int gi = 1;"},
	{"D_DECL_IDRED", B("x = 1;") " string x;"},
	{"D_DECL_VOIDOBJ", "void x;"},
	{"D_DECL_INCOMPLETE", "struct later x;"},
	{"D_DECL_LOCASSC", "this int x[int];"},
	{"D_DECL_DYNOBJ", "_symaddr x;"},
	{"D_DECL_PROTO_NAME", "provider app { probe a(int x) : (int); };"},
	{"D_XLATE_REDECL", "translator struct seen < struct native *n > { s = n->n; };"},
	{"D_XLATE_SOU", "translator int < long x > { };"},
	{"D_XLATE_SOU", B("trace(xlate <int> (1));")},
	{"D_XLATE_MEMB", "translator struct seen < long x > { nosuch = x; };"},
	{"D_XLATE_MEMB", "translator struct seen < long x > { s = x; s = x; };"},
	{"D_XLATE_INCOMPAT", "translator struct seen < long x > { s = execname; };"},
	{"D_XLATE_NONE", B("trace(xlate <struct seen> (gp).s);")},
	{"D_XLATE_NOCONV", B("trace(xlate <struct seen *> ((struct native *)arg0)->none);")},
	{"D_TYPE_MEMBER", B("trace(xlate <struct seen *> ((struct native *)arg0)->nosuch);")},
	{"D_OP_SOU", B("trace(xlate <struct seen *> ((struct native *)arg0).s);")},
	{"D_IDENT_UNDEF", "inline int bad = nosuch;"},
	{"D_PROV_BADNAME", "provider app1 { probe a(int); };"},
	{"D_PROV_PRDUP", "provider app { probe a(int); probe a(int); };"},
	{"D_PROV_PRARGLEN", "provider app { probe a(int, int, int, int, int, int, int, int, int, "
			    "int, int); };"},
	{"D_PROV_PRXLATOR", "provider app { probe a(struct in *x) : (struct seen *x); };"},
	{"D_PROV_INCOMPAT", "provider app { probe a(int); }; provider app { probe a(string); };"},
};

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct world w;
		const char *tag = run_row(&w, rows[i].text);
		bool same = tag && rows[i].tag ? !strcmp(tag, rows[i].tag) : tag == rows[i].tag;
		char what[400], got[1200];

		snprintf(what, sizeof(what), "%s: %s", rows[i].tag ? rows[i].tag : "OK",
			rows[i].text);
		snprintf(got, sizeof(got), "%s: %s", tag ? tag : "no error", w.c.error.text);
		ok(same, what, got);
		if (getenv("SHOW_ERRORS") && tag)
			printf("%-22s %s\n", tag, w.c.error.text);
		close_world(&w);
	}
}

/* ---- stability, limits, words --------------------------------------------------------- */

static void test_amin(void)
{
	static const struct {
		const char *amin, *text, *tag;
	} list[] = {
		{"Stable/Stable/Common", "BEGIN { trace(pid); }", ""},
		{"Evolving/Evolving/Common", "BEGIN { trace(curthread); }", "D_ATTR_MIN"},
		{"Standard/Stable/Common", "BEGIN { trace(pid); }", "D_ATTR_MIN"},
		{"Standard/Stable/Common", "BEGIN { trace(1); }", "D_ATTR_MIN"},
		{"nonsense", "BEGIN { trace(pid); }", "D_ATTR_MIN"},
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct world w;

		open_world(&w);
		et_setopt(&w.opts, "amin", list[i].amin, &w.c.error);
		check_text(&w, list[i].text);
		ok(!strcmp(w.c.error.tag, list[i].tag), list[i].amin, w.c.error.tag);
		close_world(&w);
	}
}

static void expect(const char *what, const char *text, const char *tag, const char *words)
{
	struct world w;
	const char *got = run_row(&w, text);

	ok(got && !strcmp(got, tag) && strstr(w.c.error.text, words), what,
		got ? w.c.error.text : "no error");
	close_world(&w);
}

static void test_limits(void)
{
	size_t size = 1 << 20, n = 0;
	char *s = malloc(size);

	n = (size_t)snprintf(s, size, "BEGIN { ");
	for (int i = 0; i <= D_MAX_VARS; i++)
		n += (size_t)snprintf(s + n, size - n, "v%d = 1; ", i);
	snprintf(s + n, size - n, "}");
	expect("D_ID_OFLOW", s, "D_ID_OFLOW", "variables");
	n = (size_t)snprintf(s, size, "BEGIN { ");
	for (int i = 0; i <= D_MAX_AGGS; i++)
		n += (size_t)snprintf(s + n, size - n, "@v%d = count(); ", i);
	snprintf(s + n, size - n, "}");
	expect("D_ID_OFLOW", s, "D_ID_OFLOW", "aggregations");
	/* inlines that double at every step */
	n = (size_t)snprintf(s, size, "inline int i0[int x] = x + x; ");
	for (int i = 1; i < 40; i++)
		n += (size_t)snprintf(s + n, size - n, "inline int i%d[int x] = i%d[x] + i%d[x]; ",
			i, i - 1, i - 1);
	expect("expansion", s, "D_ID_OFLOW", "grow");
	/* and that are used again and again: it is the script that counts */
	n = (size_t)snprintf(s, size, "int x; inline int i0 = x; ");
	for (int i = 1; i < 12; i++)
		n += (size_t)snprintf(
			s + n, size - n, "inline int i%d = i%d + i%d; ", i, i - 1, i - 1);
	for (int i = 0; i < 40; i++)
		n += (size_t)snprintf(s + n, size - n, "BEGIN { trace(i11); } ");
	expect("expansion in many clauses", s, "D_ID_OFLOW", "grow");
	n = (size_t)snprintf(s, size, "inline int i0[int x] = x + 1; ");
	for (int i = 1; i < 1000; i++)
		n += (size_t)snprintf(
			s + n, size - n, "inline int i%d[int x] = i%d[x] + 1; ", i, i - 1);
	expect("depth", s, "D_SYNTAX", "deeply");
	free(s);
}

static void test_words(void)
{
	expect("near function", "BEGIN { strlne(gs); }", "D_FUNC_UNDEF", "did you mean 'strlen'?");
	expect("near variable", "BEGIN { trace(timestmap); }", "D_IDENT_UNDEF", "'timestamp'");
	expect("near self", "BEGIN { self->start = 1; trace(self->strat); }", "D_VAR_UNDEF",
		"'start'");
	expect("near aggregation", "BEGIN { @bytes = count(); printa(@byets); }", "D_IDENT_UNDEF",
		"'bytes'");
	expect("copyinstr", "BEGIN { printf(\"%s\", arg0); }", "D_PRINTF_ARG_TYPE", "copyinstr()");
}

int main(void)
{
	test_rows();
	test_amin();
	test_limits();
	test_words();
	return finish();
}
