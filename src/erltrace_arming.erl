%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What a running script has armed in the node: trace flags and patterns (erltrace_vm), the
%% VM's counters (erltrace_counters), the messages of the system monitor and of net_kernel
%% (erltrace_monitor), modules loaded later (erltrace_rearm). A value of the handle's process: made at
%% go, ended by disarm/1.
-module(erltrace_arming).
-export([arm/4, disarm/1, counts/2, counts_again/1, look/1, look_again/1, about/1]).
-export_type([arming/0]).

-define(COUNT, 10). % ms between two looks whether counted functions are to be read

-record(arming, {nif :: reference(),
                 armed :: erltrace_vm:armed() | undefined,
                 counters :: erltrace_counters:counters() | undefined,
                 watch :: pid() | undefined,
                 missing = <<>> :: binary(),       % which probes cannot fire here, and why
                 late :: erltrace_rearm:rearm() | undefined,
                 layout :: ok | names | undefined,
                 skipped = 0 :: non_neg_integer(), % processes left to other tracers
                 left = 0 :: non_neg_integer()}).  % and functions
-opaque arming() :: #arming{}.

%% @doc Seen: the modules that were loaded when the script was compiled. `gone': the owner has
%% ended meanwhile, and what was armed is off again.
-spec arm(reference(), pos_integer(), Owner :: pid(), Seen :: [module()]) ->
          {ok, arming()} | {error, Tag :: binary(), Text :: binary()} | gone.
arm(Nif, Number, Owner, Seen) ->
    A = #arming{nif = Nif, counters = erltrace_counters:new(Nif, Number, Owner)},
    case arm_needs(Number, Owner, Seen, A) of
        {ok, A1} -> {ok, A1};
        Error -> _ = uncount(A), Error
    end.

arm_needs(Number, Owner, Seen, #arming{nif = Nif} = A) ->
    case erltrace_nif:needs(Nif, node(), erlang:system_info(process_limit)) of
        Needs when is_list(Needs) ->
            A1 = A#arming{layout = prepare(Nif, Needs)},
            Names = [add_name(Nif, N) || lists:member(names, Needs), N <- registered()],
            case erltrace_vm:arm(Number, Needs, Owner) of
                {ok, Armed} ->
                    renew_names(Nif, Names),
                    watch(Number, Needs, Seen,
                          A1#arming{armed = Armed, skipped = erltrace_vm:skipped(Armed),
                                    left = erltrace_vm:left(Armed)});
                gone ->
                    erltrace_vm:forget(Number),
                    gone;
                Error ->
                    Error
            end;
        _ ->
            {error, <<"ET_NOMEM">>, <<"out of memory">>}
    end.

add_name(Nif, Name) ->
    Pid = whereis(Name),
    is_pid(Pid) andalso erltrace_nif:set_name(Nif, Pid, Name, true),
    {Name, Pid}.

%% From now on events tell of names: what has changed since they were noted.
renew_names(_, []) ->
    ok;
renew_names(Nif, Names) ->
    [erltrace_nif:set_name(Nif, Pid, Name, false) ||
        {Name, Pid} <- Names, is_pid(Pid), whereis(Name) =/= Pid],
    [add_name(Nif, Name) || Name <- registered()],
    ok.

watch(Number, Needs, Seen, A) ->
    case erltrace_monitor:start(Number, self(), Needs) of
        {ok, Watch, Missing} ->
            {ok, late(Needs, Seen, A#arming{watch = Watch, missing = Missing})};
        Error ->
            erltrace_vm:disarm(A#arming.armed),
            Error
    end.

%% Modules that come while it runs; those that came while it was armed are there on return.
late(Needs, Seen, #arming{armed = Armed} = A) ->
    case lists:member(modules, Needs) of
        true ->
            Patterns = [N || {_, _, _, _} = N <- Needs],
            look(A#arming{late = erltrace_rearm:new(Seen, Patterns, Armed)});
        false ->
            A
    end.

prepare(Nif, Needs) ->
    [code:ensure_loaded(M) || M <- [dyntrace, erl_ddll], lists:member(M, Needs)],
    lists:member(ports, Needs) andalso erltrace_nif:add_ports(Nif, ports(), drivers()),
    case lists:member(layout, Needs) orelse lists:member('receive', Needs) of
        true ->
            Layout = erltrace_vm:layout(),
            lists:member(stacks, Needs) andalso erltrace_nif:has_stacks(Nif),
            Layout;
        false ->
            undefined
    end.

ports() ->
    [{P, Owner, Name} || P <- erlang:ports(),
                         {connected, Owner} <- [erlang:port_info(P, connected)],
                         {name, Name} <- [erlang:port_info(P, name)]].

drivers() ->
    {ok, Names} = erl_ddll:loaded_drivers(),
    Names.

%% @doc Nothing is armed any more when it returns; what the VM counted is in the results.
-spec disarm(arming()) -> arming().
disarm(#arming{armed = undefined} = A) ->
    A;
disarm(#arming{armed = Armed, watch = Watch} = A) ->
    A1 = uncount(A),
    erltrace_monitor:stop(Watch),
    erltrace_vm:disarm(Armed),
    A1#arming{armed = undefined, watch = undefined, late = undefined}.

%% ---- what the VM counts ----------------------------------------------------------------------

%% @doc What the VM has counted is to be in the results: `now', or, for who asks a hundred times a
%% second, `if_due': where reading it is not too much; or `look': now and then.
-spec counts(now | if_due | look, arming()) -> arming().
counts(_, #arming{counters = undefined} = A) ->
    A;
counts(now, #arming{counters = C} = A) ->
    A#arming{counters = erltrace_counters:read(C)};
counts(if_due, #arming{counters = C} = A) ->
    A#arming{counters = erltrace_counters:read_if_due(C)};
counts(look, #arming{counters = C} = A) ->
    A#arming{counters = erltrace_counters:look(C)}.

%% @doc In how many ms counts/2 wants a `look'.
-spec counts_again(arming()) -> pos_integer() | infinity.
counts_again(#arming{counters = undefined}) ->
    infinity;
counts_again(#arming{counters = Counters}) ->
    case erltrace_counters:any(Counters) of
        true -> ?COUNT;
        false -> infinity
    end.

uncount(#arming{counters = undefined} = A) ->
    A;
uncount(#arming{counters = Counters} = A) ->
    _ = erltrace_counters:off(Counters),
    A#arming{counters = undefined}.

%% ---- modules loaded later --------------------------------------------------------------------

%% @doc Arm what has been loaded since the last look.
-spec look(arming()) -> arming().
look(#arming{late = undefined} = A) ->
    A;
look(#arming{nif = Nif, late = Late, armed = Armed, counters = Counters} = A) ->
    {Late1, Armed1, Counters1} = erltrace_rearm:look(Nif, Late, Armed, Counters),
    A#arming{late = Late1, armed = Armed1, counters = Counters1}.

%% @doc In how many ms look/1 is to be called again.
-spec look_again(arming()) -> pos_integer() | infinity.
look_again(#arming{late = undefined}) -> infinity;
look_again(_) -> erltrace_rearm:every().

%% @doc For erltrace:status/1 and -v.
-spec about(arming()) -> map().
about(#arming{armed = Armed, counters = Counters, layout = Layout} = A) ->
    #{skipped => A#arming.skipped, left => A#arming.left, missing => A#arming.missing,
      armed => case Armed of undefined -> []; _ -> erltrace_vm:about(Armed) end,
      counted => case Counters of undefined -> []; _ -> erltrace_counters:about(Counters) end,
      returns_by => case Layout of ok -> stack; Other -> Other end}.
