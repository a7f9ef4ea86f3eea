%% SPDX-License-Identifier: Apache-2.0
%% @private
%% The command's end inside a node. bin/erltrace connects as a hidden C node, has start/3 called
%% and talks with two processes:
%%
%% The worker owns the handle: it compiles, starts, and sends what the script prints, one batch at
%% a time: the next one is made when the command has asked for it, so that a slow reader costs no
%% memory here. It is `sensitive': a script never sees it.
%%
%% The guard watches both. When the command goes away, by any death, it kills the worker, and with
%% it goes the handle. When the worker and the handle have ended it tells that all is done, and ends.
%% (What the command brought stays until then: erltrace_keeper.)
%%
%% It also ends the tracing when the command is silent: suspended, or stuck with a reader of its own
%% that does not read. The command gives a sign of life each second.
%%
%% To the command: `{matched, {N, ..}}', `{failed, {Script, {Tag, Line, Column, Text, File, Source}}}',
%% `{batch, [{text | err | system | reopen | truncate, Binary}]}', `{rows, [Probe | Brief]}', `{code,
%% Binary}', `{preview, {Items, Raw}}' (the aggregations so far, should the node die), `{ping, 0}',
%% `{done, ExitCode}' (-1: not by exit()). From it: `go', `more', `stop', `alive'.
%%
%% With several nodes one is told `go_first', the others `go_other': these send `{part, Binary}',
%% what they gathered, which the command gives to the first as `{import, Binary}'. The first one
%% tells `{ended, Code}' when its script has called exit(), and prints the end when it is told
%% `finish'. If it dies, another is told `lead'.
-module(erltrace_agent).
-export([start/3, guard/3, work/3]).

-type spec() :: [{settings, [{binary(), binary()}]}
               | {scripts, [{clause | file, Name :: binary(), Text :: binary()}]}
               | {args, [binary()]}
               | {list | json | terminal | zero | verbose | code, true}
               | {silence | preview | live, Ms :: pos_integer()}
               | {protocol, integer()}
               | {target, integer()}].

-define(POLL, 10).          % ms between two looks at what there is
-define(BEAT, 1000).        % ms between two looks at the command
-define(SILENCE, 30000).    % ms without a sign of the command: it does not read any more
-define(CUT, 3500).         % ms without an acknowledgement of its machine: it is cut off
-define(PART, 100).         % ms between two parts of the aggregations
-define(PREVIEW, 1000).     % ms between two previews; at first less: a node may live shortly
-define(SHARE, 20).         % they take a 20th of the time at most

%% Of these messages and of what start/3 is given: changed with any of them that would not be
%% understood, here and in c_src/cli/node.c.
-ifndef(PROTOCOL).
-define(PROTOCOL, 1).
-endif.

-record(guard, {command, connection, up, worker, mon, handle, heard, silence, silent = false,
                gone = false, stands = false}).
-record(st, {command, h, form, role = alone, part, preview, every = ?POLL, most = ?PREVIEW,
             ended = false, verbose = false, live, tick}).

%% @doc Called by the command: its pid, its connection (a port, with some carriers a process), and
%% what to do.
-spec start(pid(), port() | pid(), spec()) -> {ok, pid()} | {error, term()}.
start(Command, Connection, Spec) ->
    Args = [Command, Connection, Spec],
    case {proplists:get_value(protocol, Spec), whereis(erltrace_keeper)} of
        {?PROTOCOL, undefined} ->
            {ok, spawn(?MODULE, guard, Args)};
        {?PROTOCOL, Keeper} -> % nothing is taken out while it runs
            gen_server:call(Keeper, {run, Connection, ?MODULE, guard, Args}, infinity);
        _ ->
            {error, {protocol, ?PROTOCOL}}
    end.

%% ---- the guard ------------------------------------------------------------------------------

%% @private
-spec guard(pid(), port() | pid(), spec()) -> term().
guard(Command, Connection, Spec) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    %% Not the node's name: the next command may have been given it.
    Up = erlang:monitor(case is_port(Connection) of true -> port; false -> process end, Connection),
    cut_after(Connection, ?CUT),
    {Worker, Mon} = spawn_monitor(?MODULE, work, [Command, self(), Spec]),
    erlang:send_after(?BEAT, self(), beat),
    watch(#guard{command = Command, connection = Connection, up = Up, worker = Worker, mon = Mon,
                 heard = now_ms(),
                 silence = proplists:get_value(silence, Spec, ?SILENCE)}).

%% The kernel gives the connection up when what was sent is not acknowledged (TCP_USER_TIMEOUT).
cut_after(Connection, Ms) when is_port(Connection) ->
    catch inet:setopts(Connection, [{raw, 6, 18, <<Ms:32/native>>}]);
cut_after(_, _) ->
    ok.

%% A command that is suspended says nothing, and its machine acknowledges all the same, that it has
%% no room: with this the kernel would give up as well. So it gets the time of those that are silent,
%% as long as acknowledgements come: last_ack_recv of struct tcp_info.
stands(Silent, #guard{connection = Connection, stands = Stands, silence = Silence} = G)
  when is_port(Connection), Silent > ?BEAT ->
    case catch inet:getopts(Connection, [{raw, 6, 11, 60}]) of
        {ok, [{raw, 6, 11, <<_:56/binary, Ago:32/native>>}]}
          when not Stands, Ago + ?BEAT + ?BEAT div 5 < Silent ->
            cut_after(Connection, max(Silence, ?CUT)),
            G#guard{stands = true};
        _ ->
            G
    end;
stands(_, #guard{connection = Connection, stands = true} = G) ->
    cut_after(Connection, ?CUT),
    G#guard{stands = false};
stands(_, G) ->
    G.

watch(#guard{up = Up, worker = Worker, mon = Mon, handle = Handle} = G) ->
    receive
        {handle, Pid} ->
            watch(G#guard{handle = erlang:monitor(process, Pid)});
        {'DOWN', Up, _, _, _} ->
            exit(Worker, kill),
            watch(G#guard{gone = true});
        {'DOWN', Mon, process, Worker, Reason} ->
            handle_gone(Handle),
            leave(G, ended(Reason, G));
        {'DOWN', Handle, process, _, _} ->
            watch(G#guard{handle = undefined});
        beat ->
            watch(beat(G));
        alive ->
            watch(G#guard{heard = now_ms()});
        Word when is_atom(Word); element(1, Word) =:= import ->
            Worker ! Word,
            watch(G#guard{heard = now_ms()});
        _ ->
            watch(G)
    end.

beat(#guard{command = Command, heard = Heard, silence = Silence} = G) ->
    erlang:send_after(min(?BEAT, max(Silence div 4, 10)), self(), beat),
    case now_ms() - Heard of
        Silent when Silent > Silence ->
            exit(G#guard.worker, kill),
            G#guard{silent = true};
        Silent ->
            _ = erlang:send(Command, {ping, 0}, [noconnect, nosuspend]),
            stands(Silent, G)
    end.

%% Nobody is there to be told: the next command may have been given the same name by now.
ended(_, #guard{gone = true}) ->
    [];
ended(_, #guard{silent = true}) ->
    [failure(-1, {<<"ET_SILENCE">>, 0, 0, <<"Abort due to systemic unresponsiveness">>}),
     {done, 1}];
ended({done, Code}, _) -> [{done, Code}];
ended(killed, _) -> [{done, 1}];
ended(Reason, _) ->
    Text = unicode:characters_to_binary(io_lib:format("the agent failed: ~0P", [Reason, 30])),
    [failure(-1, {<<"ET_AGENT">>, 0, 0, Text}), {done, 1}].

now_ms() ->
    erlang:monotonic_time(millisecond).

%% The handle ends with its owner; what it armed is off before it ends.
handle_gone(undefined) -> ok;
handle_gone(Mon) -> receive {'DOWN', Mon, process, _, _} -> ok after 10000 -> ok end.

leave(#guard{command = Command, silent = true} = G, Messages) ->
    %% Nobody waits for who does not read; nor for it to say that it leaves.
    Sent = [erlang:send(Command, M, [noconnect, nosuspend]) || M <- Messages],
    lists:member(nosuspend, Sent) andalso erlang:disconnect_node(node(Command)),
    Keeper = whereis(erltrace_keeper),
    Keeper =/= undefined andalso (Keeper ! {left, G#guard.connection});
leave(#guard{command = Command}, Messages) ->
    [tell(Command, M) || M <- Messages].

%% ---- the worker -----------------------------------------------------------------------------

%% @private
-spec work(pid(), pid(), spec()) -> no_return().
work(Command, Guard, Spec) ->
    process_flag(sensitive, true),
    case erltrace_handle:start(self()) of
        {ok, H} ->
            Guard ! {handle, H},
            Code = prepare(Command, H, Spec),
            erltrace_handle:close(H),
            exit({done, Code});
        {error, Reason} ->
            exit({done, failed(Command, -1, Reason)})
    end.

prepare(Command, H, Spec) ->
    case settings(H, proplists:get_value(settings, Spec, [])) of
        ok ->
            target(H, proplists:get_value(target, Spec)),
            case proplists:get_bool(list, Spec) of
                false -> script(Command, H, Spec);
                true -> list(Command, H, Spec)
            end;
        {error, Reason} ->
            failed(Command, -1, Reason)
    end.

settings(_, []) -> ok;
settings(H, [{Name, Value} | Rest]) ->
    case erltrace_handle:call(H, {setopt, Name, Value}) of
        ok -> settings(H, Rest);
        Error -> Error
    end.

target(_, undefined) -> ok;
target(H, Pid) -> erltrace_handle:call(H, {target, Pid}).

script(Command, H, Spec) ->
    case compile(Command, H, proplists:get_value(scripts, Spec, []), Spec, 0, []) of
        {ok, Matched} ->
            tell(Command, {matched, list_to_tuple(Matched)}),
            Now = now_ms(), % may be below 0
            St = #st{command = Command, h = H, form = form(Spec), part = Now, preview = Now,
                     most = proplists:get_value(preview, Spec, ?PREVIEW),
                     verbose = proplists:get_bool(verbose, Spec),
                     live = proplists:get_value(live, Spec), tick = Now},
            receive
                go -> go(St);
                go_first -> go(St#st{role = first});
                go_other -> go(St#st{role = other});
                stop -> -1
            end;
        {error, Index, Reason} ->
            failed(Command, Index, Reason, place(H))
    end.

compile(_, _, [], _, _, Matched) -> {ok, lists:reverse(Matched)};
compile(Command, H, [Script | Rest], Spec, Index, Matched) ->
    case compile(H, Script, proplists:get_value(args, Spec, [])) of
        ok ->
            N = erltrace_handle:call(H, info),
            code(Command, H, proplists:get_bool(code, Spec)),
            compile(Command, H, Rest, Spec, Index + 1, [N | Matched]);
        {error, Reason} ->
            {error, Index, Reason}
    end.

compile(H, {clause, _, Text}, Args) ->
    erltrace_handle:call(H, {compile, Text, Args, [default_action]});
compile(H, {file, Name, Text}, Args) ->
    erltrace_handle:call(H, {compile, Text, Args, [{file, Name}]}).

%% -S: what the compiler made of the last script.
code(_, _, false) -> ok;
code(Command, H, true) -> tell(Command, {code, erltrace_handle:call(H, code)}).

%% How results are wanted: for the command, which runs programs and opens files itself.
form(Spec) ->
    case {proplists:get_bool(json, Spec), proplists:get_bool(terminal, Spec)} of
        {true, _} -> cmd_json;
        {_, true} -> cmd_terminal;
        _ -> cmd_text
    end.

go(#st{command = Command, h = H, role = Role} = St) ->
    case erltrace_handle:call(H, go) of
        ok ->
            _ = Role =/= alone andalso erltrace_handle:call(H, {role, Role}),
            tell_armed(St),
            Code = run(St),
            tell_cost(St),
            Code;
        {error, Reason} ->
            failed(Command, -1, Reason)
    end.

run(St) ->
    work(tick(St)).

work(#st{command = Command, h = H} = St) ->
    case erltrace_handle:call(H, {work, St#st.form}) of
        {error, Reason} ->
            failed(Command, -1, Reason);
        {Status, Items} ->
            give(Command, {batch, [item(I) || I <- Items]}),
            St1 = hand_on(Status, St),
            case Status of
                done ->
                    give_tick(St1),
                    exit_code(erltrace_handle:call(H, status));
                ok -> listen(tell_ended(St1), until_tick(St1))
            end
    end.

listen(#st{command = Command, h = H} = St, Timeout) ->
    receive
        stop ->
            stop(H),
            listen(St, 0);
        finish ->
            erltrace_handle:call(H, {hold, false}),
            stop(H),
            listen(St, 0);
        lead ->
            erltrace_handle:call(H, {role, first}),
            listen(St#st{role = first}, 0);
        {import, Part} ->
            case erltrace_handle:call(H, {import, Part}) of
                ok -> listen(St, 0);
                {error, Reason} -> failed(Command, -1, Reason)
            end
    after Timeout ->
        run(St)
    end.

%% --live: what came since the last one. A command that is slow gets fewer of them, with more each.
tick(#st{live = undefined} = St) ->
    St;
tick(#st{live = Every, tick = Due} = St) ->
    case now_ms() of
        Now when Now >= Due ->
            give_tick(St),
            St#st{tick = max(Due + Every, Now)};
        _ ->
            St
    end.

give_tick(#st{live = undefined}) ->
    ok;
give_tick(#st{command = Command, h = H}) ->
    {ok, Lines} = erltrace_handle:call(H, tick),
    give(Command, {batch, [{live, Line} || {text, Line} <- Lines]}).

until_tick(#st{live = undefined}) -> ?POLL;
until_tick(#st{tick = Due}) -> max(0, min(?POLL, Due - now_ms())).

%% What the others gathered goes to the first; what the end would print is kept by the command.
hand_on(Status, #st{role = other, part = Due} = St) ->
    case now_ms() of
        Now when Now >= Due; Status =:= done ->
            {ok, Part} = erltrace_handle:call(St#st.h, {export, false}),
            Part =:= <<>> orelse give(St#st.command, {part, Part}),
            St#st{part = next(Now, ?PART)};
        _ ->
            St
    end;
hand_on(done, St) ->
    St;
hand_on(ok, #st{preview = Due, every = Every, most = Most} = St) ->
    case now_ms() of
        Now when Now >= Due ->
            preview(St, erltrace_handle:call(St#st.h, {preview, St#st.form})),
            St#st{preview = next(Now, Every), every = min(2 * Every, Most)};
        _ ->
            St
    end.

next(Began, Every) ->
    Now = now_ms(),
    Now + max(Every, (Now - Began) * ?SHARE).

preview(#st{command = Command, h = H, role = Role}, {ok, Items}) ->
    Raw = case Role of
              first -> {ok, R} = erltrace_handle:call(H, {export, true}), R;
              alone -> <<>>
          end,
    tell(Command, {preview, {Items, Raw}});
preview(_, _) ->
    ok.

%% The first of several: its script has come to an end, those of the others will be ended.
tell_ended(#st{role = first, ended = false} = St) ->
    case erltrace_handle:call(St#st.h, status) of
        running -> St;
        Status -> tell(St#st.command, {ended, exit_code(Status)}), St#st{ended = true}
    end;
tell_ended(St) ->
    St.

stop(H) ->
    erltrace_handle:call(H, stop).

exit_code({exited, Code}) -> Code;
exit_code(_) -> -1.

%% A batch; the next one is made when the command has taken it. The guard sees to it that this
%% does not last for ever.
give(_, {_, []}) -> ok;
give(Command, Message) ->
    tell(Command, Message),
    receive more -> ok end.

item({drop, _Kind, _N, Message}) -> {err, Message};
item({warning, Message}) -> {err, Message};
item({fault, Message}) -> {err, Message};
item(Other) -> Other.

%% Never connects anew: a command that has gone is not looked for.
tell(Command, Message) ->
    erlang:send(Command, Message, [noconnect]).

failed(Command, Index, Reason) ->
    failed(Command, Index, Reason, {<<>>, <<>>}).

failed(Command, Index, {dtrace, Tag, Line, Column, Text}, {File, Source}) ->
    tell(Command, {failed, {Index, {Tag, Line, Column, Text, File, Source}}}),
    1;
failed(Command, Index, Reason, Place) ->
    Text = unicode:characters_to_binary(io_lib:format("~0P", [Reason, 30])),
    failed(Command, Index, {dtrace, <<"ET_AGENT">>, 0, 0, Text}, Place).

failure(Index, {Tag, Line, Column, Text}) ->
    {failed, {Index, {Tag, Line, Column, Text, <<>>, <<>>}}}.

place(H) ->
    case erltrace_handle:call(H, place) of
        {File, Source} when is_binary(File) -> {File, Source};
        _ -> {<<>>, <<>>}
    end.

%% ---- what it does to the node ---------------------------------------------------------------

tell_armed(#st{command = Command, h = H, verbose = Verbose}) ->
    case erltrace_handle:call(H, counts) of
        {ok, Counts} ->
            Armed = maps:get(armed, Counts, []) ++ maps:get(counted, Counts, []),
            Running = maps:get(running, Counts, true), % it may have ended already
            say(Command,
                [{"armed: ~ts", [lists:join(", ", [armed(A) || A <- Armed])]} || Verbose, Armed =/= []] ++
                [{"armed: nothing", []} || Verbose, Armed =:= [], Running] ++
                [{"returns are found by ~s", [returns(By)]} ||
                    Verbose, By <- [maps:get(returns_by, Counts, undefined)], By =/= undefined] ++
                [{"~ts", [Missing]} || Missing <- [maps:get(missing, Counts, <<>>)], Missing =/= <<>>] ++
                [{"~b process~s left out: traced by somebody else already",
                  [N, plural(N, "es")]} || N <- [maps:get(skipped, Counts, 0)], N > 0]);
        _ ->
            ok
    end.

tell_cost(#st{command = Command, h = H, verbose = Verbose}) ->
    case erltrace_handle:call(H, counts) of
        {ok, Counts} ->
            say(Command,
                [{"probes fired ~b time~s", [N, plural(N, "s")]} ||
                    Verbose, N <- [maps:get(fired, Counts, 0)]] ++
                [{"events took ~.1f % of the schedulers' time", [float(C)]} ||
                    Verbose, C <- [maps:get(cost, Counts, 0)]] ++
                [{"~b call~s or process~s found no room: returns and depth of these are missing",
                  [N, plural(N, "s"), plural(N, "es")]} ||
                    N <- [maps:get(lost, Counts, 0)], N > 0]);
        _ ->
            ok
    end.

armed({functions, N}) -> io_lib:format("~b function~s", [N, plural(N, "s")]);
armed({counted, N}) ->
    io_lib:format("~b function~s counted by the VM (call_count)", [N, plural(N, "s")]);
armed({called_by_us, N}) ->
    io_lib:format("~b function~s not counted by the VM: processes of erltrace may call them",
                  [N, plural(N, "s")]);
armed({counted_by_others, N}) ->
    io_lib:format("~b function~s not counted by the VM: somebody else has set a counter or a "
                  "global pattern", [N, plural(N, "s")]);
armed({too_many, N}) ->
    io_lib:format("~b function~s not counted by the VM: too many to read", [N, plural(N, "s")]);
armed(Flag) -> io_lib:format("~ts", [Flag]).

returns(stack) -> "the stack";
returns(Other) -> io_lib:format("~ts", [Other]).

plural(1, _) -> "";
plural(_, S) -> S.

say(Command, Lines) ->
    give(Command, {batch, [{err, unicode:characters_to_binary(io_lib:format(F, As))} ||
                              {F, As} <- Lines]}).

%% ---- the list -------------------------------------------------------------------------------

list(Command, H, Spec) ->
    case proplists:get_value(scripts, Spec, []) of
        [] -> rows(Command, H, -1, <<>>, [zero | Spec]);
        Scripts -> list(Command, H, Scripts, Spec, 0, -1)
    end.

list(_, _, [], _, _, Code) -> Code;
list(Command, H, [{clause, _, Text} | Rest], Spec, Index, Code) ->
    Codes = [rows(Command, H, Index, D, Spec) ||
                D <- binary:split(Text, <<"\n">>, [global, trim_all])],
    list(Command, H, Rest, Spec, Index + 1, lists:max([Code | Codes]));
list(Command, H, [{file, _, _} = Script | Rest], Spec, Index, Code) ->
    Code1 = case compile(H, Script, proplists:get_value(args, Spec, [])) of
                ok -> rows(Command, H, Index, script, [zero | Spec]);
                {error, Reason} -> failed(Command, Index, Reason, place(H))
            end,
    list(Command, H, Rest, Spec, Index + 1, max(Code, Code1)).

%% Types and notes of probes are for -v only.
rows(Command, H, Index, What, Spec) ->
    Verbose = proplists:get_bool(verbose, Spec),
    Zero = proplists:get_bool(zero, Spec),
    case erltrace_handle:call(H, {probes, What, case Verbose of true -> full; _ -> brief end}) of
        {ok, []} when not Zero ->
            Text = <<"no probe matches the description">>,
            failed(Command, Index, {dtrace, <<"D_PDESC_ZERO">>, 0, 0, Text});
        {ok, Rows} -> rows(Command, Rows);
        {error, {dtrace, Tag, Line, Column, <<"failed to match ", Rest/binary>>}} ->
            %% The command says that itself.
            [_, Text] = binary:split(Rest, <<": no probe">>),
            failed(Command, Index, {dtrace, Tag, Line, Column, <<"no probe", Text/binary>>});
        {error, Reason} -> failed(Command, Index, Reason)
    end.

%% A thousand at a time, as the command takes them; or a binary with as many.
rows(_, []) -> -1;
rows(Command, [Brief | Rest]) when is_binary(Brief) ->
    give(Command, {rows, [Brief]}),
    rows(Command, Rest);
rows(Command, Rows) ->
    {Some, Rest} = take(1000, Rows, []),
    give(Command, {rows, Some}),
    rows(Command, Rest).

%% There may be hundreds of thousands: not counted each time.
take(0, Rest, Some) -> {lists:reverse(Some), Rest};
take(_, [], Some) -> {lists:reverse(Some), []};
take(N, [Row | Rest], Some) -> take(N - 1, Rest, [Row | Some]).
