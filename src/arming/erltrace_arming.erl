%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What a running script has armed in the node: trace flags and patterns (erltrace_vm), the
%% fast way to calls (erltrace_fastcalls) if that is taken (erltrace_calls), the VM's counters
%% (erltrace_counters), the messages of the system monitor and of net_kernel
%% (erltrace_sysmon), the sequential system tracer (erltrace_flows), modules loaded while the script
%% runs (erltrace_rearm). It is a value that the handle's process keeps from go until disarm/1.
-module(erltrace_arming).
-export([arm/5, disarm/1, counts/2, counts_interval/1, rearm/1, rearm_interval/1, sweeps/1,
         stacks/1, key/2, about/1]).
-export_type([arming/0]).

-define(COUNT, 10). % ms between two checks whether the VM's counters are due to be read

-record(arming, {nif :: reference(),
                 sup :: pid(),                     % of the helpers
                 armed :: erltrace_vm:armed() | undefined,
                 calls :: erltrace_calls:calls() | undefined,
                 fast :: erltrace_fastcalls:fast() | undefined,
                 counters :: erltrace_counters:counters() | undefined,
                 sysmon :: pid() | undefined,
                 flows :: pid() | undefined,       % holds the sequential system tracer
                 wall :: pid() | undefined,        % for profile-wall-N
                 state :: erltrace_state:walker() | undefined, % for the provider state
                 missing = <<>> :: binary(),       % which probes cannot fire here, and why
                 rearm :: erltrace_rearm:rearm() | undefined,
                 stack :: boolean() | undefined, % is it known?
                 stacks = false :: boolean(),      % Erlang stacks are recorded
                 sweeps = false :: boolean(),      % exits of processes are not traced
                 skipped = 0 :: non_neg_integer(), % processes left to other tracers
                 left = 0 :: non_neg_integer()}).  % functions left with somebody else's pattern
-opaque arming() :: #arming{}.

%% @doc Known: the modules that were loaded when the script was compiled. `gone': the owner ended
%% meanwhile, and what had been armed is off again.
-spec arm(reference(), pos_integer(), Owner :: pid(), Known :: [module()], Sup :: pid()) ->
          {ok, arming()} | {error, Tag :: binary(), Text :: binary()} | gone.
arm(Nif, Number, Owner, Known, Sup) ->
    A = #arming{nif = Nif, sup = Sup, counters = erltrace_counters:new(Nif, Number, Owner)},
    case arm_needs(Number, Owner, Known, A) of
        {ok, A1} -> _ = erltrace_nif:armed(Nif), {ok, A1};
        Error -> _ = uncount(A), Error
    end.

arm_needs(Number, Owner, Known, #arming{nif = Nif, sup = Sup} = A) ->
    Calls = erltrace_calls:choose(Nif),
    unflagged(Nif, erltrace_calls:is_fast(Calls)),
    case erltrace_nif:needs(Nif, node(), erlang:system_info(process_limit), self()) of
        Needs when is_list(Needs) ->
            A1 = A#arming{stack = prepare(Nif, Needs), sweeps = erltrace_needs:has(sweep, Needs),
                          stacks = erltrace_needs:has(stacks, Needs),
                          calls = erltrace_calls:note(Nif, Needs, Calls)},
            Names = erltrace_names:fill(Nif, Needs, Sup),
            case arm_flows(Number, Needs, Owner, Sup) of
                {ok, Flows, Fast, Armed} ->
                    erltrace_names:renew(Nif, Names),
                    erltrace_needs:has(atoms, Needs) andalso
                        erltrace_nif:vm_fact(Nif, atoms, erlang:system_info(atom_count)),
                    start_helpers(Number, Needs, Known,
                                  A1#arming{armed = Armed, fast = Fast, flows = Flows,
                                            skipped = erltrace_vm:skipped(Armed),
                                            left = erltrace_vm:left(Armed)});
                gone ->
                    erltrace_vm:forget(Number),
                    erltrace_fastcalls:forget(Number),
                    gone;
                Error ->
                    Error
            end;
        _ ->
            {error, <<"ET_NOMEM">>, <<"out of memory">>}
    end.

%% Where calls come by the fast way, or the script only samples, no process need be flagged: neither
%% exits nor registrations are traced then, if the script can do without. It must be known where the
%% VM keeps names. For tests the setting exit_events has that by the tracer's way too.
unflagged(Nif, IsFast) ->
    Asked = application:get_env(erltrace, exit_events, true) =:= false,
    Samples = erltrace_nif:samples(Nif) =:= true andalso erltrace_nif:calls(Nif) =:= none,
    _ = (Asked orelse Samples) andalso erltrace_nif:unflagged(Nif),
    _ = (IsFast orelse Asked) andalso erltrace_find:known(name),
    ok.

%% The system tracer is there before the first token is set.
arm_flows(Number, Needs, Owner, Sup) ->
    case erltrace_flows:start(Sup, Number, self(), Needs) of
        {ok, Flows} ->
            case arm_both(Number, Needs, Owner) of
                {ok, Fast, Armed} -> {ok, Flows, Fast, Armed};
                Error -> erltrace_flows:stop(Flows), Error
            end;
        Error ->
            Error
    end.

arm_both(Number, Needs, Owner) ->
    try erltrace_fastcalls:arm(Number, Needs, Owner) of
        Fast ->
            case erltrace_vm:arm(Number, [N || N <- Needs, not is_fast(N)], Owner) of
                {ok, Armed} -> {ok, Fast, Armed};
                Error -> erltrace_fastcalls:disarm(Fast), Error
            end
    catch throw:owner_gone -> gone
    end.

is_fast({fast, _, _, _}) -> true;
is_fast(_) -> false.

start_helpers(Number, Needs, Known, #arming{sup = Sup} = A) ->
    case erltrace_sysmon:start(Sup, Number, Needs) of
        {ok, Sysmon, Missing} ->
            Wall = erltrace_wall:start(Sup, Number, self(), Needs),
            State = erltrace_state:start(Sup, Number, Needs),
            {ok, start_rearm(Needs, Known, A#arming{sysmon = Sysmon, missing = Missing, wall = Wall,
                                                    state = State})};
        Error ->
            erltrace_fastcalls:disarm(A#arming.fast),
            erltrace_vm:disarm(A#arming.armed),
            erltrace_flows:stop(A#arming.flows),
            Error
    end.

%% Modules that were loaded while we were arming are armed before this returns.
start_rearm(Needs, Known, #arming{armed = Armed, fast = Fast} = A) ->
    case erltrace_needs:has(modules, Needs) of
        true ->
            Patterns = erltrace_needs:patterns(Needs),
            rearm_modules(A#arming{rearm = erltrace_rearm:new(Known, Patterns, {Armed, Fast})});
        false ->
            A
    end.

prepare(Nif, Needs) ->
    [code:ensure_loaded(M) || M <- [dyntrace, erl_ddll], erltrace_needs:has(M, Needs)],
    erltrace_needs:has(run_state, Needs) andalso erltrace_find:known(run_state),
    erltrace_needs:has(ports, Needs) andalso erltrace_nif:add_ports(Nif, ports(), drivers()),
    erltrace_needs:has(tables, Needs) andalso name_tables(Nif),
    case erltrace_needs:has(layout, Needs) orelse erltrace_needs:has('receive', Needs) of
        true ->
            Stack = erltrace_find:is_known(stack),
            erltrace_needs:has(stacks, Needs) andalso begin
                                                    erltrace_code:prepare(),
                                                    erltrace_nif:has_stacks(Nif)
                                                end,
            Stack;
        false ->
            undefined
    end.

%% Named tables have references too (ets:whereis/1).
name_tables(Nif) ->
    [erltrace_nif:vm_fact(Nif, Ref, Name) ||
        Table <- ets:all(), Name <- [ets:info(Table, name)], Name =/= undefined,
        Ref <- [case is_atom(Table) of true -> ets:whereis(Table); false -> Table end],
        Ref =/= undefined].

ports() ->
    [{P, Owner, Name} || P <- erlang:ports(),
                         {connected, Owner} <- [erlang:port_info(P, connected)],
                         {name, Name} <- [erlang:port_info(P, name)]].

drivers() ->
    {ok, Names} = erl_ddll:loaded_drivers(),
    Names.

%% @doc When this returns nothing is armed any more, and what the VM counted is in the results.
-spec disarm(arming()) -> arming().
disarm(#arming{armed = undefined} = A) ->
    A;
disarm(#arming{nif = Nif, armed = Armed, fast = Fast, calls = Calls} = A) ->
    %% First the hooks: to take breakpoints back is many times slower.
    _ = erltrace_calls:is_fast(Calls) andalso (catch erltrace_nif:set_calls(Nif, traced)),
    A1 = uncount(A),
    erltrace_wall:stop(A#arming.wall),
    erltrace_state:stop(A#arming.state),
    erltrace_sysmon:stop(A#arming.sysmon),
    erltrace_fastcalls:disarm(Fast),
    erltrace_vm:disarm(Armed),
    % when nobody gets a token any more
    _ =
        case erltrace_flows:stop(A#arming.flows) of
            ok -> ok;
            {warning, Text} -> catch erltrace_nif:warn(Nif, Text)
        end,
    A1#arming{
        armed = undefined,
        flows = undefined,
        fast = undefined,
        sysmon = undefined,
        wall = undefined,
        rearm = undefined
    }.

%% ---- what the VM counts ----------------------------------------------------------------------

%% @doc Add what the VM has counted to the results: `now'; `if_due', unless reading the counters
%% would take too much time, for a caller that asks a hundred times a second; or `background', now
%% and then without being asked.
-spec counts(now | if_due | background, arming()) -> arming().
counts(_, #arming{counters = undefined} = A) ->
    A;
counts(now, #arming{counters = C} = A) ->
    A#arming{counters = erltrace_counters:read(C)};
counts(if_due, #arming{counters = C} = A) ->
    A#arming{counters = erltrace_counters:read_if_due(C)};
counts(background, #arming{counters = C} = A) ->
    A#arming{counters = erltrace_counters:read_in_background(C)}.

%% @doc ms until the next counts(background, ..).
-spec counts_interval(arming()) -> pos_integer() | infinity.
counts_interval(#arming{counters = undefined}) ->
    infinity;
counts_interval(#arming{counters = Counters}) ->
    case erltrace_counters:any(Counters) of
        true -> ?COUNT;
        false -> infinity
    end.

uncount(#arming{counters = undefined} = A) ->
    A;
uncount(#arming{counters = Counters} = A) ->
    _ = erltrace_counters:off(Counters),
    A#arming{counters = undefined}.

%% ---- modules loaded while the script runs ----------------------------------------------------

%% @doc Arm what has been loaded since the last time.
-spec rearm(arming()) -> arming().
rearm(#arming{nif = Nif, armed = Armed} = A) ->
    case erltrace_vm:follow(Armed) of
        none ->
            rearm_modules(A);
        {Pid, Armed1} ->
            _ = [erltrace_nif:set_name(Nif, Pid, Name, true) ||
                    {registered_name, Name} <- [process_info(Pid, registered_name)]],
            rearm_modules(A#arming{armed = Armed1})
    end.

rearm_modules(#arming{rearm = undefined} = A) ->
    A;
rearm_modules(
    #arming{nif = Nif, rearm = Rearm, armed = Armed, fast = Fast, counters = Counters} = A
) ->
    {Rearm1, {Armed1, Fast1}, Counters1} =
        erltrace_rearm:poll(Nif, Rearm, {Armed, Fast}, Counters),
    A#arming{rearm = Rearm1, armed = Armed1, fast = Fast1, counters = Counters1}.

%% @doc ms until the next rearm/1.
-spec rearm_interval(arming()) -> pos_integer() | infinity.
rearm_interval(#arming{rearm = undefined, armed = Armed}) ->
    case Armed =/= undefined andalso erltrace_vm:is_selective(Armed) of
        true -> erltrace_rearm:interval();
        false -> infinity
    end;
rearm_interval(_) ->
    erltrace_rearm:interval().

%% @doc Is what is kept of processes freed by erltrace_nif:sweep/1?
-spec sweeps(arming()) -> boolean().
sweeps(#arming{sweeps = Sweeps}) -> Sweeps.

%% @doc Is the table of loaded code used (erltrace_code)?
-spec stacks(arming()) -> boolean().
stacks(#arming{stacks = Stacks}) -> Stacks andalso erltrace_nif:find(code, get) =:= ok.

%% @doc A key is pressed in the command's terminal.
-spec key({byte(), integer(), integer()}, arming()) -> ok.
key(Key, #arming{state = State}) -> erltrace_state:key(Key, State).

%% @doc For erltrace:status/1 and -v.
-spec about(arming()) -> map().
about(#arming{armed = Armed, fast = Fast, counters = Counters, stack = Stack} = A) ->
    What = case Armed of undefined -> []; _ -> erltrace_vm:about(Armed) end,
    NFast = case Fast of undefined -> 0; _ -> erltrace_fastcalls:count(Fast) end,
    Counted = case Counters of undefined -> []; _ -> erltrace_counters:about(Counters) end,
    #{skipped => A#arming.skipped, left => A#arming.left, missing => A#arming.missing,
      armed => What,
      calls => erltrace_calls:about(A#arming.calls, NFast, proplists:get_value(functions, What, 0),
                                    proplists:get_value(counted, Counted, 0)),
      counted => Counted,
      things => erltrace_state:about(A#arming.state),
      returns_by => case Stack of true -> stack; false -> names; undefined -> undefined end,
      stacks => case A#arming.stacks of true -> erltrace_code:about(); false -> undefined end}.
