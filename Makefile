# SPDX-License-Identifier: Apache-2.0
#
# One Makefile for all of erltrace.
#
#   make            bin/erltrace, lib/liberltrace.a, lib/liberltrace.so; needs a C compiler only.
#                   Where Erlang is: ebin/ and priv/ too, what runs inside a node
#   make demo       a node at work, D scripts that show what it does, the live page until ^C
#   make demo-node  that node alone, named demo, until ^C: to try things on
#   make test-kernel  every golden test on both engines, ten million system calls; needs root
#   make test-kernel-vm  tests of kernel probes under Linux 6.1 and 6.12, in qemu (KERNELS=bookworm); needs root
#   make test-rabbit  RabbitMQ under load, traced (where it is installed)
#   make test-trouble   the first look at nodes in trouble; RECON=DIR: recon beside it
#   make test-incidents  problems planted in RabbitMQ and the demo, each found by one command
#   make test       every test; the last line is "N passed, N failed"
#   make test-erlang  those of the Erlang side alone (ONLY=name: those whose names hold it)
#   make test-otp   the same on Debian's packages of OTP 27 and 29, in chroots; needs root
#   make dialyzer   types of the Erlang modules; make edoc: their documentation in build/edoc
#   make bench      what an event costs, beside what others cost: a table, bench/results.json,
#                   doc/bench.md (QUICK=1: in three minutes, without doc/; see bench/run.sh)
#   make fuzz       FUZZ_SECONDS=60 a target
#   make asan       every test on a build with AddressSanitizer and UBSan
#   make tsan       tests of many threads on a build with ThreadSanitizer
#   make asan-erlang  those of the Erlang side, with such a library in the node
#   make promises   what users may rely on, shown one by one; writes doc/promises.md (ONLY="3 12": some)
#   make soak       hours of it, SOAK=4h (5m) or SECONDS=3600: 100,000 events a second, then calls of
#                   every kind, memory flat (ONLY=17: the calls)
#   make install    PREFIX=/usr/local, DESTDIR=
#   make deb        Debian packages, in build/deb
#   make page       the live page, web/dist; needs npm. make test-page: its unit tests
#   make manual     the tables of man/erltrace.1 made anew, after a change of options or tags
#   make clean
#
# demo and test install what they miss from Debian's packages, and say what (NO_DEPS=1: do not;
# WEB=: nothing for the live page, which is then left out; KERNEL=: without probes of the kernel).
# Variables: CC (gcc, clang), WERROR=1, O=DIR (put build/, bin/ and lib/ there), V=1 (show
# commands).
#
# Sources are found by folder: c_src/*.c and those of the folders in LIB_DIRS make the library,
# c_src/cli the command, every test/{c,kernel,web}/*.c a program of its own, every test/fuzz/*.c a
# libFuzzer target, every bench/*.c a program. Objects are built by one template: under build/ as
# shipped, under build/san/ by clang with the sanitizers and the fuzzer's coverage in them; and so on.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

ifeq ($(origin CC),default)
CC := $(if $(shell command -v gcc),gcc,cc)
endif
CLANG ?= clang
AR ?= ar
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
FUZZ_SECONDS ?= 60
O ?= .
# This folder has one name, so that objects are not built again under another.
ifeq ($(realpath $(O)),$(CURDIR))
override O := .
endif

BUILD := $(patsubst ./%,%,$(O)/build)
BIN := $(patsubst ./%,%,$(O)/bin)
LIB := $(patsubst ./%,%,$(O)/lib)
SAN := $(BUILD)/san
TSAN := $(BUILD)/tsan
NIFSAN := $(BUILD)/nifsan

VERSION := $(shell sed -n 's/^.define ERLTRACE_VERSION "\(.*\)"/\1/p' include/erltrace.h)
SOMAJOR := $(firstword $(subst ., ,$(VERSION)))
SONAME := liberltrace.so.$(SOMAJOR)

# ---- flags --------------------------------------------------------------------------------

# _GNU_SOURCE is empty so that a file that defines it too does not redefine it. Frame pointers
# stay: ustack() walks them. Objects are position-independent, for the .so as for the command. A
# function is a line of the cache or more, else the probe path takes 6 % more or less by chance.
CPPFLAGS += -D_GNU_SOURCE= -iquote c_src -Iinclude -I$(BUILD)
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifeq ($(WERROR),1)
WARNINGS += -Werror
endif
CFLAGS ?= -O2 -g
BASEFLAGS := -std=gnu11 -fms-extensions -Wno-microsoft-anon-tag -fno-omit-frame-pointer -fPIC \
	-falign-functions=64 -pthread $(WARNINGS)
HARDEN := -fstack-protector-strong $(if $(findstring -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
ALL_CFLAGS = $(BASEFLAGS) $(HARDEN) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pthread -Wl,-z,relro,-z,now -Wl,--as-needed $(LDFLAGS)
# nodelete: threads that fired call it at their end, whoever has closed the library meanwhile
SHARED_LDFLAGS := -shared -Wl,-soname,$(SONAME) -Wl,-z,defs -Wl,-z,nodelete \
	-Wl,--version-script=c_src/api/liberltrace.map
NIF_LDFLAGS := -shared -Wl,-z,nodelete -Wl,-Bsymbolic

comma := ,
empty :=
space := $(empty) $(empty)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
TSANITIZE := -fsanitize=thread
NIFSANITIZE := -fsanitize=address,undefined -fno-sanitize=alignment,vptr -shared-libsan
SAN_CFLAGS = $(BASEFLAGS) $(CPPFLAGS) -O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link
TSAN_CFLAGS = $(BASEFLAGS) $(CPPFLAGS) -O1 -g $(TSANITIZE)
NIFSAN_CFLAGS = $(BASEFLAGS) $(CPPFLAGS) -O1 -g $(NIFSANITIZE)
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -mllvm -inline-threshold=5000 -std=gnu11 -fms-extensions \
	-Wno-microsoft-anon-tag -ffreestanding -fno-builtin -D_GNU_SOURCE= -iquote c_src -Iinclude -D__x86_64__ \
	-I/usr/include/$(shell $(CC) -print-multiarch 2>/dev/null) -include c_src/kernel/bpf/shim.h

Q := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1)  $(2)')

# A program or a library, of all that it needs: the linker with its flags, libraries. It is there whole or
# not at all: one that runs, or is started meanwhile, is the old one.
define link
$(call say,LINK,$@)
$(Q)mkdir -p $(@D)
$(Q)$(1) -o $@.new $(filter %.o %.a %.c,$^) $(2)
$(Q)mv -f $@.new $@
endef

# ---- Erlang, if it is there ---------------------------------------------------------------

# Where erl says its files are, without asking it if its place in PATH tells.
ERL ?= erl
ERLC ?= erlc
ERL_PATH := $(realpath $(shell command -v $(ERL)))
ERL_ROOT := $(patsubst %/bin/,%,$(dir $(ERL_PATH)))
ifneq ($(ERL_PATH),)
ifeq ($(wildcard $(ERL_ROOT)/usr/include/erl_nif.h),)
ERL_ROOT := $(shell $(ERL) -noshell -eval 'io:format("~s", [code:root_dir()]), halt().' 2>/dev/null)
endif
ERL_INCLUDE := $(patsubst %/erl_nif.h,%,$(wildcard $(ERL_ROOT)/usr/include/erl_nif.h))
endif
HAVE_ERLANG := $(and $(ERL_INCLUDE),$(shell command -v $(ERLC)))

# ---- sources ------------------------------------------------------------------------------

LIB_DIRS := c_src $(addprefix c_src/,d d/check d/cg btf bpf prog engine engine/tables engine/rt provider replay \
	symbols term consume stream json api)
LIB_SRC := $(sort $(foreach d,$(LIB_DIRS),$(wildcard $(d)/*.c)))

# The kernel engine: its half in the kernel is built by clang (KERNEL=: without). The linker of
# bpf/link/ is for it alone.
KERNEL ?= $(shell $(CLANG) -target bpf -mcpu=v3 -c -o /dev/null -x c /dev/null 2>/dev/null && echo yes)
ifneq ($(KERNEL),)
KERNEL_SRC := $(sort $(wildcard c_src/kernel/*.c c_src/kernel/erlang/*.c c_src/kernel/events/*.c c_src/kernel/fbt/*.c c_src/bpf/link/*.c))
BPF_SRC := $(addprefix c_src/engine/,fire.c ring.c str.c $(addprefix tables/,agg.c dyn.c spec.c) \
	$(addprefix rt/,rt_cpu.c rt_json.c rt_mem.c rt_net.c rt_path.c rt_rec.c rt_str.c)) c_src/prog/aggfn.c \
	$(sort $(wildcard c_src/kernel/bpf/*.c))
BPF_OBJ := $(BPF_SRC:%.c=$(BUILD)/bpf/%.o)
endif

# The live page's server and that of metrics, where libwebsockets and jansson are there (WEB=: without).
WEB ?= $(shell pkg-config --exists libwebsockets jansson libcrypto 2>/dev/null && echo yes)
ifneq ($(WEB),)
WEB_CFLAGS := $(shell pkg-config --cflags libwebsockets jansson libcrypto)
WEB_LIB := $(shell pkg-config --libs libwebsockets jansson libcrypto)
endif
METRICS_SRC := $(sort $(wildcard c_src/metrics/*.c))
TEST_SRC := $(sort $(wildcard $(addsuffix /*.c,test/c $(if $(WEB),test/web) \
	$(if $(KERNEL),test/kernel))))
FUZZ_SRC := $(sort $(wildcard test/fuzz/*.c))
PROMISE_SRC := $(sort $(wildcard test/promises/*.c))
HOOK_SRC := $(sort $(wildcard test/hooks/*.c))
BENCH_SRC := $(filter-out bench/null_% bench/bench_%,$(sort $(wildcard bench/*.c)))
D_LIBS := $(BUILD)/erlang.d $(BUILD)/state.d $(sort $(wildcard c_src/d/lib/*.d))

# The command reaches nodes where OTP's C library ei is there to link with (EI=: without). What is
# left out has a file that says so.
EI ?= $(firstword $(foreach d,$(addsuffix /usr,$(ERL_ROOT) /usr/lib/erlang), \
	$(if $(wildcard $(d)/include/ei.h),$(if $(wildcard $(d)/lib/libei.a),$(d)))))
ifneq ($(EI),)
EI_CFLAGS := -D_REENTRANT -I$(EI)/include
EI_LIB := $(EI)/lib/libei.a
LEFT_OUT := c_src/cli/without_nodes.c c_src/web/list_no_nodes.c c_src/serve/watch_no_nodes.c
else
LEFT_OUT := $(filter-out %/paths.c %/cancel.c,$(wildcard c_src/node/*.c)) $(wildcard c_src/cli/node/*.c) $(filter-out %/worker.c,$(wildcard c_src/client/*.c)) \
	c_src/web/list_nodes.c c_src/serve/watch_nodes.c
endif
LEFT_OUT += $(if $(WEB),c_src/cli/without_web.c c_src/post/no_poster.c, \
	$(wildcard c_src/web/*.c c_src/serve/*.c) $(METRICS_SRC) c_src/post/post.c c_src/post/poster.c)
CLI_SRC := $(filter-out $(LEFT_OUT),$(sort $(wildcard $(addsuffix /*.c,c_src/cli c_src/cli/* c_src/client \
	c_src/node c_src/output c_src/post c_src/web c_src/metrics c_src/serve))))

# Inside a node; beam/nif/erlang_provider.c has the list of providers that holds there. Its functions
# and many threads are tested with a VM that is none.
BEAM_SRC := $(sort $(wildcard c_src/beam/*.c c_src/beam/*/*.c))
BEAM_TEST_SRC := $(sort $(wildcard test/beam/*.c))
# The core of the fast way to function probes, a library inside of that: for one kind of processor.
CORE := $(if $(filter x86_64,$(shell uname -m)),$(BUILD)/erltrace_core.so)
# Events from files are for the command and the library outside of nodes.
NIF_SRC := $(filter-out %/provider/providers.c c_src/replay/% c_src/api/replaying.c c_src/api/recorder.c \
	c_src/json_read.c,$(LIB_SRC)) $(BEAM_SRC) $(filter-out %/otlp_json.c,$(METRICS_SRC))
NIF_OBJ := $(NIF_SRC:%.c=$(BUILD)/%.o)
NIFSAN_OBJ := $(NIF_SRC:%.c=$(NIFSAN)/%.o)

# What a node starts for probes of the kernel.
HELPER_SRC := $(if $(KERNEL),$(sort $(wildcard c_src/helper/*.c)))

ALL_SRC := $(sort $(LIB_SRC) $(KERNEL_SRC) $(BPF_SRC) $(CLI_SRC) $(HELPER_SRC) $(BEAM_SRC) $(BEAM_TEST_SRC) \
	c_src/core/core.c \
	$(TEST_SRC) $(FUZZ_SRC) $(BENCH_SRC) $(PROMISE_SRC) $(HOOK_SRC))

LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
KERNEL_OBJ := $(KERNEL_SRC:%.c=$(BUILD)/%.o) $(if $(KERNEL),$(BUILD)/c_src/kernel/files.o)
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
SAN_LIB_OBJ := $(LIB_SRC:%.c=$(SAN)/%.o)
SAN_CLI_OBJ := $(CLI_SRC:%.c=$(SAN)/%.o)
TSAN_LIB_OBJ := $(LIB_SRC:%.c=$(TSAN)/%.o)
TESTS := $(TEST_SRC:%.c=$(BUILD)/%)
# The sanitized library is without the kernel engine.
SAN_TESTS := $(patsubst %.c,$(SAN)/%,$(filter-out test/kernel/%,$(TEST_SRC)))
FUZZERS := $(FUZZ_SRC:%.c=$(SAN)/%)
BENCHES := $(BENCH_SRC:%.c=$(BUILD)/%)
PROMISES := $(PROMISE_SRC:%.c=$(BUILD)/%)

STATIC := $(LIB)/liberltrace.a
SHARED := $(LIB)/liberltrace.so.$(VERSION)
COMMAND := $(BIN)/erltrace
TEST_COMMAND := $(BUILD)/test/bin/erltrace

.PHONY: all demo demo-node test test-rabbit test-incidents test-trouble bench fuzz asan install clean deps deps-demo tests \
	san-tests san-cli fuzzers manual print-version

all: $(COMMAND) $(STATIC) $(LIB)/liberltrace.so $(BUILD)/erltrace.pc
ifeq ($(KERNEL),)
all: no-kernel
.PHONY: no-kernel
no-kernel:
	@echo 'erltrace: no clang that builds for BPF here (or told so: KERNEL=): built without probes' \
		'of the kernel'
endif

ifneq ($(HAVE_ERLANG),)
all: erlang
else
all: no-erlang
.PHONY: no-erlang
no-erlang:
	@echo 'erltrace: no Erlang here (erl, erlc, erl_nif.h): built without what runs in nodes'
endif

# ---- building -----------------------------------------------------------------------------

ifeq ($(shell command -v $(firstword $(CC))),)
$(BUILD)/d_libs.inc: no-cc
.PHONY: no-cc
no-cc:
	@echo "erltrace: no C compiler ($(CC)) here: 'make demo' installs one (Debian: gcc, libc6-dev);" \
		"CC= names another" >&2; exit 1
endif

# D libraries are built in: each a {name, text} of C.
$(BUILD)/erlang.d: c_src/erlang_probes.def tools/erlang-probes.awk
	$(Q)mkdir -p $(@D)
	$(Q)awk -f tools/erlang-probes.awk $< >$@

$(BUILD)/state.d: c_src/state.def tools/state.awk
	$(Q)mkdir -p $(@D)
	$(Q)awk -f tools/state.awk $< >$@

$(BUILD)/d_libs.inc: $(D_LIBS) tools/d-libs.awk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)awk -f tools/d-libs.awk $(D_LIBS) </dev/null >$@

# Objects of one kind: their folder, what is shown, how they are compiled; and what some files need
# beyond that.
define objects
$(1)/%.o: %.c $(BUILD)/.flags | $(BUILD)/d_libs.inc
	$$(call say,$(2),$$<)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(3) -MMD -MP -c -o $$@ $$<

$(1)/c_src/d/lib.o: $(BUILD)/d_libs.inc
$(1)/c_src/beam/%.o $(1)/test/beam/%.o: CPPFLAGS += $$(ERL_CPPFLAGS)
$(addprefix $(1)/c_src/,node/%.o cli/node/%.o client/%.o web/list_nodes.o serve/watch_nodes.o): CPPFLAGS += $(EI_CFLAGS)
$(1)/c_src/post/%.o $(1)/c_src/web/%.o $(1)/c_src/serve/%.o $(1)/test/web/%.o: CPPFLAGS += $(WEB_CFLAGS)
$(1)/c_src/beam/fast/fast_core.o: $(CORE)
$(1)/c_src/beam/fast/fast_core.o: CPPFLAGS += $(CORE:%=-DERLTRACE_CORE='"%"')
$(1)/c_src/node/paths.o: $(BUILD)/.prefix
$(1)/c_src/node/paths.o: CPPFLAGS += -DERLTRACE_LIBDIR='"$(LIBDIR)/erltrace"' \
	-DERLTRACE_SHARE='"$(PREFIX)/share/erltrace"'
$(1)/test/%.o: CPPFLAGS += -iquote test/lib
-include $$(wildcard $$(ALL_SRC:%.c=$(1)/%.d))
endef
ERL_CPPFLAGS = $(if $(ERL_INCLUDE),-I$(ERL_INCLUDE),$(error no erl_nif.h: install Erlang (Debian: \
	erlang-base erlang-dev), or name it with ERL=))

$(eval $(call objects,$(BUILD),CC,$$(CC) $$(ALL_CFLAGS)))
$(eval $(call objects,$(SAN),SAN,$$(CLANG) $$(SAN_CFLAGS)))
$(eval $(call objects,$(TSAN),TSAN,$$(CLANG) $$(TSAN_CFLAGS)))
$(eval $(call objects,$(NIFSAN),SAN,$$(CLANG) $$(NIFSAN_CFLAGS)))
$(eval $(call objects,$(BUILD)/bpf,BPF,$$(CLANG) $$(BPF_CFLAGS)))

$(BUILD)/erltrace_core.so: $(BUILD)/c_src/core/core.o
	$(call link,$(CC) $(ALL_LDFLAGS) -shared -Wl$(comma)-z$(comma)nodelete -Wl$(comma)-Bsymbolic)

# clang's own assembler does not know all of what the notes there are written with
$(addsuffix /c_src/beam/builtins/usdt_fire.o,$(TSAN) $(NIFSAN)): CPPFLAGS += -fno-integrated-as
ifneq ($(findstring clang,$(shell $(CC) --version 2>/dev/null)),)
$(BUILD)/c_src/beam/builtins/usdt_fire.o: CPPFLAGS += -fno-integrated-as
endif
# What every event runs: no stack is walked from there.
$(addprefix $(BUILD)/c_src/,beam/events/calls.o beam/events/sends.o beam/fast/fast_calls.o \
		engine/tables/dyn.o engine/tables/agg.o): \
	BASEFLAGS += -fomit-frame-pointer

# The engine's probe path for BPF, as files of this program.
$(BUILD)/c_src/kernel/files.S: $(BPF_OBJ)
	$(Q)mkdir -p $(@D)
	$(Q){ echo '.section .rodata'; echo '.balign 8'; \
		echo '.global k_files, k_files_end'; echo 'k_files:'; \
		for f in $^; do printf '.quad 2f - 1f\n1: .incbin "%s"\n2: .balign 8\n' $$f; done; \
		echo 'k_files_end:'; echo '.section .note.GNU-stack,"",@progbits'; } >$@

$(BUILD)/c_src/kernel/files.o: $(BUILD)/c_src/kernel/files.S
	$(Q)$(CC) -c -o $@ $<

$(BUILD)/syscalls.inc: $(BUILD)/.flags
	$(Q)echo '#include <asm/unistd.h>' | $(CC) -dM -E - | awk \
		'$$2 ~ /^__NR_[a-z]/ && $$3 ~ /^[0-9]+$$/ { print "SYSCALL(" substr($$2, 6) ", " $$3 ")" }' \
		| sort -t, -k2 -n >$@
$(BUILD)/c_src/kernel/syscall.o: $(BUILD)/syscalls.inc
ifneq ($(KERNEL),)
$(BUILD)/c_src/provider/providers.o $(BUILD)/c_src/cli/placement.o: CPPFLAGS += -DHAVE_KERNEL
endif

$(STATIC): $(LIB_OBJ) $(KERNEL_OBJ)
$(SAN)/liberltrace.a: $(SAN_LIB_OBJ)
$(TSAN)/liberltrace.a: $(TSAN_LIB_OBJ)
$(STATIC) $(SAN)/liberltrace.a $(TSAN)/liberltrace.a:
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)$(AR) rcs $@ $^

$(SHARED): $(LIB_OBJ) $(KERNEL_OBJ) c_src/api/liberltrace.map
	$(call link,$(CC) $(ALL_LDFLAGS) $(SHARED_LDFLAGS))

$(LIB)/liberltrace.so: $(SHARED)
	$(Q)ln -sf $(<F) $(LIB)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

$(COMMAND): $(CLI_OBJ) $(STATIC)
	$(call link,$(CC) -pie $(ALL_LDFLAGS),$(EI_LIB) $(WEB_LIB) -lm)

# Built elsewhere: -s NAME finds the scripts beside the command all the same.
ifneq ($(realpath $(O)),$(CURDIR))
$(COMMAND): | $(O)/scripts
$(O)/scripts:
	$(Q)mkdir -p $(@D)
	$(Q)ln -sfn $(CURDIR)/scripts $@
endif

$(BUILD)/erltrace.pc: erltrace.pc.in include/erltrace.h Makefile
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@VERSION@|$(VERSION)|' $< >$@

# Programs of test/ and bench/ use the library's inside, so they link with the archive.
$(TESTS) $(BENCHES) $(PROMISES): $(BUILD)/%: $(BUILD)/%.o $(STATIC)
	$(call link,$(CC) -pie $(ALL_LDFLAGS),$(TEST_LIB))

# The command with what only tests have in it: test/hooks/, and the list of providers with it.
$(TEST_COMMAND): $(CLI_OBJ) $(HOOK_SRC:%.c=$(BUILD)/%.o) $(BUILD)/test/hooks/providers.o $(STATIC)
	$(call link,$(CC) -pie $(ALL_LDFLAGS),$(EI_LIB) $(WEB_LIB) -lm)

$(BUILD)/test/hooks/providers.o: c_src/provider/providers.c $(BUILD)/.flags
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -DHAVE_KERNEL -DTEST_HOOKS -MMD -MP -c -o $@ $<

$(SAN)/bin/erltrace: $(SAN_CLI_OBJ) $(SAN)/liberltrace.a | $(addprefix $(SAN)/,scripts ebin priv)
	$(call link,$(CLANG) $(SANITIZE) -pthread,$(EI_LIB) $(WEB_LIB) -lm)

# What it finds beside itself, and brings to nodes, is as shipped.
$(SAN)/scripts:
	$(Q)mkdir -p $(@D) && ln -sfn $(CURDIR)/scripts $@
$(SAN)/ebin $(SAN)/priv:
	$(Q)mkdir -p $(@D) && ln -sfn $(abspath $(O))/$(@F) $@

$(SAN_TESTS): $(SAN)/%: $(SAN)/%.o $(SAN)/liberltrace.a
	$(call link,$(CLANG) $(SANITIZE) -pthread,$(TEST_LIB))

$(FUZZERS): $(SAN)/%: $(SAN)/%.o $(SAN)/liberltrace.a
	$(call link,$(CLANG) $(SANITIZE) -fsanitize=fuzzer -pthread)

$(BUILD)/test/web/auth_test $(SAN)/test/web/auth_test: TEST_LIB := $(WEB_LIB)
$(BUILD)/test/c/metrics_test: $(METRICS_SRC:%.c=$(BUILD)/%.o) $(BUILD)/c_src/json_write.o
$(SAN)/test/c/metrics_test: $(METRICS_SRC:%.c=$(SAN)/%.o) $(SAN)/c_src/json_write.o

# The sanitizer has its own allocator: that of the test comes before it.
$(SAN)/test/c/alloc_test: TEST_LIB := $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc \
	posix_memalign aligned_alloc strdup open_memstream mmap mprotect)

# The example program of the manual, as the manual has it.
$(BUILD)/example.c: man/liberltrace.3 tools/man-example.sed
	$(Q)mkdir -p $(@D)
	$(Q)sed -n -f tools/man-example.sed $< >$@

$(BUILD)/example: $(BUILD)/example.c $(LIB)/liberltrace.so include/erltrace.h
	$(call link,$(CC) $(BASEFLAGS) -O2 -Iinclude,-L$(LIB) -lerltrace -Wl$(comma)-rpath$(comma)$(abspath $(LIB)))

$(SAN)/example: $(BUILD)/example.c $(SAN)/liberltrace.a
	$(call link,$(CLANG) $(BASEFLAGS) $(SANITIZE) -g -Iinclude)

tests: all $(TESTS) $(BENCHES) $(if $(KERNEL),$(TEST_COMMAND)) $(BUILD)/example
san-cli: $(SAN)/bin/erltrace
san-tests: $(SAN_TESTS)
fuzzers: $(FUZZERS)

# ---- running ------------------------------------------------------------------------------

deps:
	$(if $(NO_DEPS),@:,@tools/install-deps.sh test)

deps-demo:
	$(if $(NO_DEPS),@:,@tools/install-deps.sh demo)

# The live page's files (make page), where npm is to make them.
.PHONY: web no-page
web: $(if $(and $(WEB),$(shell command -v npm 2>/dev/null)),page,no-page)
no-page:
	@echo 'erltrace: the live page (erltrace web) is not built:' \
		$(if $(WEB),'no npm here','without libwebsockets and jansson (or told so: WEB=)')

demo: deps-demo
	@$(MAKE) --no-print-directory -j"$$(nproc)" all web
	@PATH="$(abspath $(BIN)):$$PATH" tools/demo.sh

# +Bd: ^C ends it at once. No reports: some of its processes die on purpose.
demo-node: deps-demo
	@$(MAKE) --no-print-directory -j"$$(nproc)" all
	@mkdir -p $(BUILD)/demo && $(ERLC) +debug_info -o $(BUILD)/demo demo/*.erl
	@echo 'the node demo is at work; ^C ends it'
	@exec $(ERL) +Bd -noshell -sname demo -kernel logger_level none -pa $(BUILD)/demo -s demo_app

test: deps
	@$(MAKE) --no-print-directory -j"$$(nproc)" tests erl-tests san-tests fuzzers web
	@BUILD=$(BUILD) BIN=$(BIN) LIB=$(LIB) EBIN=$(EBIN) CC="$(CC)" tools/run-tests.sh all

# What of the kernel's probes takes longer than fits into make test.
.PHONY: test-kernel
test-kernel: all $(TEST_COMMAND)
	@BIN=$(BIN) CC="$(CC)" test/kernel/kernel_test.sh long
	@BUILD=$(BUILD) BIN=$(BIN) test/kernel/kernel_golden.sh all

# Under other kernels than this machine's.
.PHONY: test-kernel-vm
test-kernel-vm: all $(TEST_COMMAND)
	@BUILD=$(BUILD) tools/test-kernel-vm.sh $(KERNELS)

# Random scripts in a node in turmoil, for SECONDS; with make san-cli $(NIFSAN)/priv/erltrace.so also under the sanitizers.
.PHONY: test-random
test-random: all
	@BUILD=$(BUILD) BIN=$(BIN) test/random/random.sh $(or $(SECONDS),600)

# A real application under load, traced; where rabbitmq-server is installed.
test-rabbit: all
	@BIN=$(BIN) tools/test-rabbit.sh

# Problems planted there, each of which one command finds.
test-incidents: all
	@BIN=$(BIN) tools/test-incidents.sh

test-trouble: all
	@BIN=$(BIN) RECON=$(RECON) TIMES=$(TIMES) tools/test-trouble.sh

asan: deps
	@$(MAKE) --no-print-directory -j"$$(nproc)" all san-cli san-tests fuzzers $(SAN)/example
	@BUILD=$(BUILD) BIN=$(SAN)/bin LIB=$(LIB) CC="$(CC)" tools/run-tests.sh asan

# Tests of many threads, under ThreadSanitizer.
TSAN_TESTS := $(addprefix $(TSAN)/test/c/,percentile_test threads_test tables_test worker_test)
$(TSAN_TESTS): $(TSAN)/%: $(TSAN)/%.o $(TSAN)/liberltrace.a
	$(call link,$(CLANG) $(TSANITIZE) -pthread)

# The NIF library's too, with a VM that is none.
$(TSAN)/test/beam/beam_threads: $(patsubst %.c,$(TSAN)/%.o,$(BEAM_SRC) $(BEAM_TEST_SRC)) \
		$(TSAN)/liberltrace.a
	$(call link,$(CLANG) $(TSANITIZE) -pthread)

.PHONY: tsan tsan-tests
tsan-tests: $(TSAN_TESTS) $(if $(HAVE_ERLANG),$(TSAN)/test/beam/beam_threads)
tsan: deps
	@$(MAKE) --no-print-directory -j"$$(nproc)" tsan-tests
	@TSAN_OPTIONS="halt_on_error=1 $${TSAN_OPTIONS-}" BUILD=$(BUILD) tools/run-tests.sh tsan

# All that is measured, in one run (bench/run.sh); QUICK=1: in three minutes, PARTS: some of it.
bench: all $(BENCHES) $(if $(HAVE_ERLANG),bench-modules)
	$(if $(QUICK),,@$(MAKE) --no-print-directory web)
	@BUILD=$(BUILD) BIN=$(BIN) EBIN=$(EBIN) CC="$(CC)" ERL="$(ERL)" QUICK="$(QUICK)" PARTS="$(PARTS)" \
		USDT_OTP="$(USDT_OTP)" bench/run.sh

# The charts and doc/bench.md, from bench/results.json.
.PHONY: bench-doc
bench-doc: bench-modules
	@$(ERL) -noshell -pa $(EBIN) $(BUILD)/erl \
		-eval 'bench_report:doc("bench/results.json", "doc"), halt().'

fuzz: deps
	@$(MAKE) --no-print-directory -j"$$(nproc)" fuzzers
	@BUILD=$(BUILD) BIN=$(BIN) LIB=$(LIB) FUZZ_SECONDS=$(FUZZ_SECONDS) tools/run-tests.sh fuzz

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/man/man3
	install -m 755 $(COMMAND) $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(STATIC) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(SHARED) $(DESTDIR)$(LIBDIR)/
	ln -sf liberltrace.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/liberltrace.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' \
		erltrace.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/erltrace.pc
	install -m 644 include/erltrace.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 man/erltrace.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 man/liberltrace.3 $(DESTDIR)$(PREFIX)/share/man/man3/
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 644 tools/erltrace.bash-completion \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/erltrace
	install -d $(DESTDIR)$(PREFIX)/share/erltrace/scripts
	install -m 755 scripts/*.d $(DESTDIR)$(PREFIX)/share/erltrace/scripts/
	if [ -e web/dist/index.html ]; then \
		install -d $(DESTDIR)$(PREFIX)/share/erltrace/web && \
		install -m 644 web/dist/* $(DESTDIR)$(PREFIX)/share/erltrace/web/; fi
ifneq ($(HAVE_ERLANG),)
	install -d $(DESTDIR)$(LIBDIR)/erltrace/ebin $(DESTDIR)$(LIBDIR)/erltrace/priv
	install -m 644 $(EBIN)/*.beam $(EBIN)/erltrace.app $(DESTDIR)$(LIBDIR)/erltrace/ebin/
	install -m 755 $(PRIV)/erltrace.so $(HELPER) $(DESTDIR)$(LIBDIR)/erltrace/priv/
endif

# Debian packages, in build/deb.
.PHONY: deb test-deb
deb:
	$(if $(NO_DEPS),@:,@tools/install-deps.sh deb)
	@$(MAKE) --no-print-directory web
	@tools/make-deb.sh $(BUILD)/deb

# ... installed in a Debian that has nothing else, and used there.
test-deb: deb
	@tools/test-deb.sh $(BUILD)/deb

# ---- the live page ------------------------------------------------------------------------

.PHONY: page test-page screenshots
PAGE := web/dist/index.html
NPM_QUIET := --ignore-scripts --no-audit --no-fund --loglevel=error

# A page that has been built is kept as new as its server.
ifneq ($(and $(wildcard $(PAGE)),$(WEB),$(shell command -v npm 2>/dev/null)),)
all: page
endif
page: $(PAGE)
$(PAGE): $(wildcard web/src/*) $(addprefix web/,build.js words.js package-lock.json) \
		c_src/prog/builtins.def c_src/options.def
	@cd web && npm ci $(NPM_QUIET) >/dev/null && npm run --silent build || { \
		echo 'erltrace: the live page could not be built: npm ci in web/ needs the registry of npm' \
			'(a network, or a mirror: npm config set registry URL). Without the page: make ...' \
			'WEB=' >&2; exit 1; }
	@touch $@

test-page: page
	cd web && npm test --silent

# The pictures of doc/img, by Debian's chromium.
screenshots: all page
	@tools/screenshots.sh doc/img

# The tables of the manual, from those of the source.
manual:
	tools/manual-tables.sh >$(BUILD)/erltrace.1
	cat $(BUILD)/erltrace.1 >man/erltrace.1

# ---- inside Erlang ------------------------------------------------------------------------
#
# The NIF library, its modules and their tests.

ERL_SRC := $(sort $(wildcard src/*.erl src/*/*.erl))
PRIV := $(patsubst ./%,%,$(O)/priv)
EBIN := $(patsubst ./%,%,$(O)/ebin)
HELPER := $(if $(HELPER_SRC),$(PRIV)/erltrace-kernel)
HRL := erltrace_nifs.hrl erltrace_needs.hrl erltrace_state.hrl erltrace_modules.hrl

.PHONY: erlang nif test-erlang erl-tests
erlang: nif $(EBIN)/erltrace.app
nif: $(PRIV)/erltrace.so $(HELPER) $(HRL:%=$(BUILD)/%)

$(PRIV)/erltrace.so: $(NIF_OBJ)
	$(call link,$(CC) $(ALL_LDFLAGS) $(NIF_LDFLAGS))

# For probes of the kernel: a program, which may have capabilities.
$(PRIV)/erltrace-kernel: $(HELPER_SRC:%.c=$(BUILD)/%.o) $(STATIC)
	$(call link,$(CC) -pie $(ALL_LDFLAGS),-lm)

$(BUILD)/test/beam/beam_threads: $(NIF_OBJ) $(BEAM_TEST_SRC:%.c=$(BUILD)/%.o)
	$(call link,$(CC) -pie $(ALL_LDFLAGS))

# What erltrace_nif.erl exports, the types of erltrace_needs.erl and erltrace_objects.erl, and which modules are
# ours. rebar3 and mix find them in build/ after make nif.
MADE_HRL := $(HRL:%=$(BUILD)/%)
$(filter-out %_modules.hrl,$(MADE_HRL)): %.hrl:
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)awk -f $(filter %.awk,$^) $(filter %.def,$^) >$@
$(filter %_nifs.hrl,$(MADE_HRL)): c_src/beam/nifs.def tools/nifs.awk
$(filter %_needs.hrl,$(MADE_HRL)): c_src/beam/needs.def tools/needs.awk
$(filter %_state.hrl,$(MADE_HRL)): c_src/state.def tools/state-types.awk
$(filter %_modules.hrl,$(MADE_HRL)): $(ERL_SRC)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)echo '-define(OURS, [$(subst $(space),$(comma) ,$(notdir $(ERL_SRC:.erl=)))]).' >$@

$(EBIN)/erltrace.app: src/erltrace.app.src $(ERL_SRC) include/erltrace.h $(MADE_HRL)
	$(call say,ERLC,$(EBIN))
	$(Q)mkdir -p $(@D) && rm -f $(EBIN)/*.beam # the command brings all that are there to nodes
	$(Q)$(ERLC) +debug_info $(if $(filter 1,$(WERROR)),-Werror) -I $(O) -o $(EBIN) $(ERL_SRC)
	$(Q)sed -e 's|{cmd, .make -s print-version.}|"$(VERSION)"|' \
		-e 's|{modules, \[\]}|{modules, [$(subst $(space),$(comma),$(notdir $(ERL_SRC:.erl=)))]}|' \
		$< >$@

# Of test/erl every *_tests.erl is an EUnit module, *_SUITE.erl one of Common Test, prop_*.erl
# one of PropEr's, if that is here; every test/node/*.sh runs the command against nodes.
PROPER := $(firstword $(wildcard $(addsuffix /proper-*/include/proper.hrl,$(ERL_ROOT)/lib \
	/usr/lib/erlang/lib)))
ERL_TESTS := $(sort $(filter-out $(if $(PROPER),,test/erl/prop_%),$(wildcard test/erl/*.erl)))
$(BUILD)/erl/.built: $(ERL_TESTS) tools/erl_run.erl | $(EBIN)/erltrace.app
	$(call say,ERLC,$(@D))
	$(Q)mkdir -p $(@D)
	$(Q)$(ERLC) +debug_info -pa $(EBIN) -o $(@D) $^
	$(Q)touch $@

ifneq ($(HAVE_ERLANG),)
erl-tests: erlang $(COMMAND) $(BUILD)/erl/.built $(BUILD)/erl/probe_drv.so \
		$(BUILD)/test/beam/beam_threads
else
erl-tests:
endif

test-erlang: erl-tests
	@BUILD=$(BUILD) BIN=$(BIN) LIB=$(LIB) EBIN=$(EBIN) CC="$(CC)" tools/run-tests.sh erlang

# On other releases: OTP=27 one of them; tools/test-otp.sh says what else can be set.
.PHONY: test-otp
test-otp: all
	@BIN=$(BIN) tools/test-otp.sh $(OTP)
	@BUILD=$(BUILD) BIN=$(BIN) LIB=$(LIB) CC="$(CC)" tools/run-tests.sh releases

# The same tests with the NIF library built by clang with AddressSanitizer, in a VM that has its
# runtime loaded. A fault that a script makes is ours to handle, not the sanitizer's.
$(NIFSAN)/priv/erltrace.so: $(NIFSAN_OBJ)
	$(call link,$(CLANG) $(NIFSANITIZE) -pthread $(NIF_LDFLAGS))

$(NIFSAN)/test/beam/beam_threads: $(NIFSAN_OBJ) $(BEAM_TEST_SRC:%.c=$(NIFSAN)/%.o)
	$(call link,$(CLANG) $(filter-out -shared-libsan,$(NIFSANITIZE)) -pthread)

.PHONY: asan-erlang
asan-erlang: erl-tests $(NIFSAN)/priv/erltrace.so $(NIFSAN)/test/beam/beam_threads
	$(Q)mkdir -p $(NIFSAN)/ebin && cp $(EBIN)/* $(NIFSAN)/ebin/
	@PRELOAD=$$($(CLANG) -print-file-name=libclang_rt.asan-x86_64.so) \
	ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigbus=0:allow_user_segv_handler=1:use_sigaltstack=0:abort_on_error=1 \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	BUILD=$(BUILD) BIN=$(BIN) LIB=$(LIB) EBIN=$(NIFSAN)/ebin CC="$(CC)" tools/run-tests.sh nif

# What users may rely on: test/promises/promises.tab, tools/promises.sh.
.PHONY: promises soak promise-tests
$(BUILD)/erl/promise.beam: $(wildcard test/promises/*.erl) $(BUILD)/erl/.built
	$(Q)$(ERLC) -o $(BUILD)/erl $(filter %.erl,$^)
promise-tests: $(PROMISES) $(BUILD)/erl/promise.beam $(BUILD)/erl/.bench

promises: deps
	@$(MAKE) --no-print-directory -j"$$(nproc)" tests erl-tests promise-tests san-cli fuzzers web
	@BUILD=$(BUILD) BIN=$(BIN) LIB=$(LIB) EBIN=$(EBIN) CC="$(CC)" tools/promises.sh

soak: deps
	@$(MAKE) --no-print-directory -j"$$(nproc)" tests erl-tests promise-tests
	@BUILD=$(BUILD) BIN=$(BIN) LIB=$(LIB) EBIN=$(EBIN) CC="$(CC)" tools/promises.sh soak $(or $(SOAK),$(SECONDS))

# Types and documentation of the modules. The table of OTP's types takes a minute, once.
.PHONY: dialyzer edoc
dialyzer: $(EBIN)/erltrace.app $(BUILD)/otp.plt
	dialyzer --quiet --plt $(BUILD)/otp.plt -Werror_handling $(EBIN)

$(BUILD)/otp.plt:
	$(call say,PLT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)dialyzer --quiet --build_plt --output_plt $@ --apps erts kernel stdlib

# Warnings are errors.
EDOC = edoc:files([$(subst $(space),$(comma),$(ERL_SRC:%="%"))], [{dir, "$(BUILD)/edoc"}])
edoc:
	$(Q)mkdir -p $(BUILD)/edoc
	$(Q)$(ERL) -noshell -eval 'try $(EDOC) catch _:R -> io:format("~p~n", [R]) end, halt().' \
		>$(BUILD)/edoc.log 2>&1
	$(Q)if [[ -s $(BUILD)/edoc.log ]]; then cat $(BUILD)/edoc.log; exit 1; fi

# Costs inside a node, against a tracer that does nothing.
.PHONY: bench-erlang bench-modules
bench-erlang: bench-modules
	$(Q)$(ERL) +S 1 -noshell -pa $(EBIN) $(BUILD)/erl -eval 'erl_bench:main(), halt().'

bench-modules: erlang $(BUILD)/erl/null_tracer.so $(BUILD)/erl/bench_stalls.so $(BUILD)/erl/.bench
$(BUILD)/erl/.bench: $(wildcard bench/*.erl)
	$(call say,ERLC,bench)
	$(Q)mkdir -p $(@D) && $(ERLC) -o $(@D) $^ && touch $@

# Programs of C that nodes load.
$(BUILD)/erl/probe_drv.so: test/erl/probe_drv.c
$(BUILD)/erl/null_tracer.so: bench/null_tracer.c
$(BUILD)/erl/bench_stalls.so: bench/bench_stalls.c
$(BUILD)/erl/%.so:
	$(call link,$(CC) -O2 -shared -fPIC -I$(ERL_INCLUDE))

# Very many functions, step by step, for several scripts: MODULES of a hundred each.
.PHONY: bench-arming
bench-arming: bench-modules
	$(Q)$(ERL) -noshell -pa $(EBIN) $(BUILD)/erl \
		-eval 'arming_bench:main(["$(or $(MODULES),1000)"]), halt().'

# What objects are built with: when that changes, they are built anew. A note is written, and so is
# new, when its text changes.
note = $(if $(subst <$(strip $(file <$(1)))>,,<$(2)>),$(shell mkdir -p $(dir $(1)))$(file >$(1),$(2)))
FLAGS := $(strip $(CC) $(CLANG) $(filter-out -Werror,$(ALL_CFLAGS) $(SAN_CFLAGS) $(TSANITIZE) \
	$(NIFSANITIZE) $(BPF_CFLAGS)) $(ERL_INCLUDE) $(EI) $(WEB) $(WEB_CFLAGS) $(KERNEL))
$(BUILD)/.flags $(BUILD)/.prefix: ;
dry_run = $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
ifeq ($(filter clean print-version,$(MAKECMDGOALS))$(dry_run),)
$(call note,$(BUILD)/.flags,$(FLAGS))
$(call note,$(BUILD)/.prefix,$(PREFIX) $(LIBDIR))
endif

print-version:
	@echo $(VERSION)

clean:
	rm -rf $(BUILD) $(BIN) $(LIB) $(PRIV) $(EBIN)
