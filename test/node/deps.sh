#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# New projects that name erltrace as a dependency build it and run a script with it: one of rebar3's,
# one of mix's, without a network. The dependency is a git repository made of these sources. The
# last line is "N passed, N failed".

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
trap 'rm -rf "$tmp"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS ERL_LIBS
export HOME=$tmp/home REBAR_CACHE_DIR=$tmp/cache HEX_OFFLINE=1
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost
export GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
export CFLAGS=-O0 # quickly built
mkdir -p "$HOME" "$tmp/erltrace"

built() { # name, log, then a command that must succeed
	local name=$1 log=$2
	shift 2
	if "$@" >"$log" 2>&1 </dev/null; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $name"
		tail -n 40 "$log"
		return 1
	fi
}

if ! command -v git >/dev/null; then
	echo 'info: no git: left out'
	echo '1 passed, 0 failed'
	exit
fi
if ! command -v rebar3 >/dev/null && ! command -v mix >/dev/null; then
	echo 'info: neither rebar3 nor mix is here: left out'
	echo '1 passed, 0 failed'
	exit
fi

# What a user gets: sources, nothing that was built.
cp -a "$root"/{Makefile,rebar.config,mix.exs,src,c_src,include,tools} "$tmp/erltrace/"
cat >"$tmp/erltrace/.gitignore" <<'END'
/build/
/priv/
/ebin/
/_build/
END
(cd "$tmp/erltrace" && git init -q -b main && git add -A && git commit -qm erltrace) || exit 1
version=$(make -s -C "$root" print-version)

# The same in both: how many spawns, by a script.
count='count() ->
    {ok, H} = erltrace:script("erlang*:::process-spawn /copyinstr(arg1) == \"erlang:apply/2\"/"
                              "{ @ = count(); }"),
    [begin
         {P, M} = spawn_monitor(fun() -> ok end),
         receive {_, M, process, P, _} -> ok end
     end || _ <- lists:seq(1, 42)],
    {ok, [{count, [], N}]} = erltrace:walk(H),
    ok = erltrace:close(H),
    {_, _, Vsn} = lists:keyfind(erltrace, 1, application:which_applications()),
    io:format("~b ~s~n", [N, Vsn]).'

# ---- rebar3 -------------------------------------------------------------------------------

if command -v rebar3 >/dev/null; then
	mkdir -p "$tmp/one/src"
	cd "$tmp/one" || exit 1
	cat >rebar.config <<END
{deps, [{erltrace, {git, "file://$tmp/erltrace", {branch, "main"}}}]}.
END
	cat >src/one.app.src <<'END'
{application, one, [{description, "one"}, {vsn, "1"}, {applications, [kernel, stdlib, erltrace]}]}.
END
	printf -- '-module(one).\n-export([count/0]).\n%s\n' "$count" >src/one.erl
	if built 'rebar3 compile' log rebar3 compile; then
		is 'rebar3: counts' "42 $version" "$(erl -noshell -pa _build/default/lib/*/ebin -eval \
			'{ok, _} = application:ensure_all_started(one), one:count(), halt().' 2>&1)"
		built 'rebar3: again, nothing to do' log rebar3 compile
	fi
else
	echo 'info: no rebar3: left out'
fi

# ---- mix ----------------------------------------------------------------------------------

if command -v mix >/dev/null; then
	mkdir -p "$tmp/two/src"
	cd "$tmp/two" || exit 1
	cat >mix.exs <<END
defmodule Two.MixProject do
  use Mix.Project
  def project do
    [app: :two, version: "1.0.0", deps: [{:erltrace, git: "file://$tmp/erltrace", branch: "main"}]]
  end
  def application, do: []
end
END
	printf -- '-module(two).\n-export([count/0]).\n%s\n' "$count" >src/two.erl
	export MIX_ENV=dev LC_ALL=C.UTF-8
	if built 'mix deps.get' log mix deps.get && built 'mix compile' log mix compile; then
		is 'mix: counts' "42 $version" \
			"$(mix run --no-compile -e ':two.count()' 2>&1 | tail -n 1)"
	fi
else
	echo 'info: no mix: left out'
fi

finish
