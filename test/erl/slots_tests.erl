%% SPDX-License-Identifier: Apache-2.0
%% Tables of processes (c_src/beam/proc/processes.c, proc_names.c): memory of those that have ended
%% is given back, also where nobody tells of their ends, and of the living nothing is lost.
-module(slots_tests).
-include_lib("eunit/include/eunit.hrl").
-export([f/1, stay/1]).

-define(MANY, 120000). % of 262,144 slots, which take 192 bytes each
-define(MOST, 9000).   % KB that they may leave

f(X) -> X.

%% In a call until it is told to return.
stay(Parent) ->
    Parent ! {self(), is_in},
    receive return -> ok end,
    Parent.

memory_of_processes_that_have_ended_test_() ->
    [{timeout, 120, {Way, fun() -> memory(Options, Key) end}} ||
        {Way, Options, Key} <- [{"ends are told", [{"calls", "traced"}], "erlproc"},
                                {"ends are not told", [{"calls", "fast"}], "probefunc"}]].

memory(Options, Key) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, Name, Value) || {Name, Value} <- [{"maxrate", "0"}, {"watchdog", "0"} | Options]],
    ok = erltrace:compile(H, ["erlang*:slots_tests:f:function-entry { @f[", Key, "] = count(); self->n = 1; }\n"
                              "erlang*:slots_tests:stay:function-entry { self->at[arg2] = 1; }\n"
                              "erlang*:slots_tests:stay:function-return /self->at[arg2]/ { @stayed = sum(1); }"]),
    ok = erltrace:go(H),
    spawn_many(1000),
    Me = self(),
    Living = [begin P = spawn(?MODULE, stay, [Me]), receive {P, is_in} -> P end end
              || _ <- lists:seq(1, 200), spawn_many(5) =:= ok],
    Before = resident(),
    spawn_many(?MANY),
    left(Before, 400),
    [begin Mon = erlang:monitor(process, P), P ! return, receive {'DOWN', Mon, _, _, _} -> ok end end || P <- Living],
    ok = erltrace:stop(H),
    {ok, Aggs} = erltrace:walk(H),
    ?assertEqual(?MANY + 2000, lists:sum([N || {count, _, N} <- Aggs])),
    ?assertEqual([200], [N || {sum, [], N} <- Aggs]),
    ok = erltrace:close(H).

spawn_many(N) ->
    [begin
         {P, Mon} = spawn_monitor(fun() -> ?MODULE:f(1) end),
         receive {'DOWN', Mon, process, P, _} -> ok end
     end || _ <- lists:seq(1, N)],
    ok.

left(Before, Tries) ->
    case resident() - Before of
        Kb when Kb < ?MOST -> ok;
        Kb when Tries =:= 0 -> error({kb, Kb});
        _ -> timer:sleep(100), left(Before, Tries - 1)
    end.

resident() ->
    erlang:garbage_collect(),
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [Kb]} = re:run(Status, "VmRSS:\\s+(\\d+)", [{capture, [1], list}]),
    list_to_integer(Kb).
