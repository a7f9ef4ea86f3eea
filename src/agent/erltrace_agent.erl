%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The command's end inside a node. bin/erltrace connects as a hidden C node, calls start/3 and
%% talks with two processes: erltrace_conn, which monitors both ends, and the worker,
%% which is this module. The worker owns the handle: it compiles, starts, and sends what the script
%% gathers as a stream, one batch at a time. The next batch is made when the command asks for it, so
%% that a slow reader costs no memory here. The worker is `sensitive': a script never sees it.
%%
%% To the command: `{matched, {N, ..}}', `{failed, {Script, {Tag, Line, Column, Text, File,
%% Source}}}', `{batch, [{stream | text | err | drop | live | alert | snapopen | snapalert | snap |
%% snapend, Binary}]}', `{rows, [Probe | Brief]}', `{unmatched, [{Line, Column, Sentence}]}',
%% `{code, Binary}', `{ping, 0}', `{done, ExitCode}' (-1: not by exit()).
%% From it: `go', `{go_stream, Nodes}' (in so many), `more', `stop', `alive', `snapshot' (SIGUSR1),
%% `{key, {Byte, Rows, Columns}}'.
%%
%% Streams are what doc/stream.md describes. Alerts of a flight recorder come as text.
%%
%% The worker's states:
%%
%%   preparing  gets its handle from erltrace_conn and compiles the script, or lists probes
%%   ready      waits for the command to say go
%%   running    polls for what the script has printed, less often while it prints nothing
%%   giving     has sent something, and waits for `more'; other messages are postponed. `next' says
%%              what comes then
-module(erltrace_agent).
-behaviour(gen_statem).
-export([start/3, start_worker/3, failure/1, killed/1]).
-export([init/1, callback_mode/0, handle_event/4, code_change/4, format_status/1]).
-export_type([spec/0]).

-type spec() :: [{settings, [{binary(), binary()}]}
               | {scripts, [{clause | file, Name :: binary(), Text :: binary()}]}
               | {args, [binary()]}
               | {headers, [{Name :: binary(), Text :: binary()}]} % -I FILE.hrl
               | {list | json | data | terminal | zero | verbose | code | kernel, true}
               | {silence | live, Ms :: pos_integer()}
               | {protocol, integer()}
               | {target, integer()}].

-define(POLL, 10).          % ms between two polls for output; where there was none longer, up to
-define(SLOW_POLL, 50).     % this, where trace buffers
-define(LARGE, 1048576).    % of so many bytes are not full by then
%% of a script that only samples: no flood comes from there; and if it prints
-define(SAMPLES_POLL, 100).
-define(SILENT_POLL, 1000). % nothing, this: what it gathers is wanted at its end
-define(GATHER, 1000).      % ms between two changes of aggregations in a stream, at most
%% where ticks of --live show them: twice as often as these, but not more often
-define(LEAST_GATHER, 20).
-define(BEAT, 100).         % ms after which a stream says the time, where several are read as one

%% The version of these messages and of the arguments of start/3. It changes, here and in
%% c_src/client/client_start.c, with any change that the other side would not understand.
-ifndef(PROTOCOL).
-define(PROTOCOL, 5).
-endif.

-type state() :: preparing | ready | running | giving.
-type message() :: {atom(), term()}.
-type out() :: {give | tell, message()}. % give: then wait until the command wants more
-type next() :: ready | {running, Ms :: non_neg_integer()} | {leave, ExitCode :: integer()}.

-record(data, {
    command :: pid(),
    conn :: pid(),
    spec :: spec(),
    % the handle
    h :: pid() | undefined,
    form :: text | terminal | json | data,
    out = [] :: [out()],
    next = ready :: next(),
    % ms: when it is due
    tick :: integer(),
    % what match_again/1 looked at, and found
    unmatched = {[], []} :: {Loaded :: [module()], [tuple()]},
    % ms between two polls, and
    poll = ?POLL :: pos_integer(),
    % the longest that may be
    slowest = ?POLL :: pos_integer(),
    stream :: {stream, Ms :: pos_integer(), Beat :: non_neg_integer(), Form :: atom()} | undefined
}).

%% @doc Called by the command: its pid, its connection (a port, with some carriers a process), and
%% what to do.
-spec start(pid(), port() | pid(), spec()) -> {ok, pid()} | {error, term()}.
start(Command, Connection, Spec) ->
    Args = [Command, Connection, Spec],
    case {proplists:get_value(protocol, Spec), whereis(erltrace_loader)} of
        {?PROTOCOL, undefined} ->
            {ok, {Conn, Mon}} = apply(erltrace_conn, start, Args),
            erlang:demonitor(Mon, [flush]),
            {ok, Conn};
        {?PROTOCOL, Loader} -> % the loader removes no module while it runs
            gen_server:call(Loader, {run, Connection, erltrace_conn, start, Args}, infinity);
        _ ->
            {error, {protocol, ?PROTOCOL}}
    end.

%% @doc Started by erltrace_conn.
-spec start_worker(pid(), pid(), spec()) -> {ok, {pid(), Monitor :: reference()}} | {error, term()}.
start_worker(Command, Conn, Spec) ->
    %% At normal priority it would wait for its turn at every step, in a busy node.
    gen_statem:start_monitor(?MODULE, {Command, Conn, Spec}, [{spawn_opt, [{priority, high}]}]).

%% ---- the state machine ----------------------------------------------------------------------

-spec callback_mode() -> gen_statem:callback_mode_result().
callback_mode() ->
    handle_event_function.

-spec init({pid(), pid(), spec()}) -> gen_statem:init_result(state()).
init({Command, Conn, Spec}) ->
    process_flag(sensitive, true),
    erltrace_room:make(),
    _ = erlang:monitor(process, Conn),
    {ok, preparing, #data{
        command = Command, conn = Conn, spec = Spec, form = form(Spec), tick = now_ms()
    }}.

-spec handle_event(gen_statem:event_type(), term(), state(), #data{}) ->
          gen_statem:event_handler_result(state()).
handle_event(info, {'DOWN', _, process, Conn, _}, _, #data{conn = Conn, h = H} = Data) ->
    %% It was killed: nobody monitors the command any more.
    tell(killed(erltrace_conn), Data),
    _ = H =/= undefined andalso erltrace_handle:close(H),
    tell({done, 1}, Data),
    {stop, {shutdown, unconnected}};
handle_event(info, {handle, {ok, H}}, preparing, Data) ->
    prepare(Data#data{h = H});
handle_event(info, {handle, {error, Reason}}, preparing, Data) ->
    failed(-1, Reason, Data);
handle_event(info, _, preparing, _) ->
    {keep_state_and_data, postpone};
handle_event(info, more, giving, #data{out = Out, next = Next} = Data) ->
    give(Out, Next, Data);
handle_event(info, _, giving, _) ->
    {keep_state_and_data, postpone};
handle_event(info, go, ready, Data) ->
    go(Data);
handle_event(info, {go_stream, Nodes}, ready, #data{spec = Spec} = Data) ->
    %% Ticks of --live have what has come; of several nodes records are put in order of time.
    Ms = max(?LEAST_GATHER, min(proplists:get_value(live, Spec, 2 * ?GATHER) div 2, ?GATHER)),
    Beat = case Nodes of 1 -> 0; _ -> ?BEAT end,
    go(Data#data{stream = {stream, Ms, Beat, Data#data.form}});
handle_event(info, stop, ready, Data) ->
    give([], {leave, -1}, Data);
handle_event(info, _, ready, _) ->
    {keep_state_and_data, postpone};
handle_event(state_timeout, work, running, Data) ->
    work(Data);
handle_event(info, stop, running, Data) ->
    _ = ask(stop, Data),
    work_now(Data);
handle_event(info, snapshot, running, Data) ->
    case ask({snapshot, <<"signal">>, Data#data.form}, Data) of
        {ok, Items} -> give([{give, {batch, [item(I) || I <- Items]}}], {running, 0}, Data);
        {error, Reason} -> give([{give, {batch, [{err, no_snapshot(Reason)}]}}], {running, 0}, Data)
    end;
handle_event(info, {key, Key}, running, Data) ->
    _ = ask({key, Key}, Data),
    keep_state_and_data;
handle_event(_, _, _, _) ->
    keep_state_and_data.

-spec code_change(term(), state(), #data{}, term()) -> {ok, state(), #data{}}.
code_change(_, State, Data, _) ->
    {ok, State, Data}.

-spec format_status(gen_statem:format_status()) -> gen_statem:format_status().
format_status(#{data := #data{} = Data} = Status) ->
    Status#{data := #{command => Data#data.command, conn => Data#data.conn,
                      handle => Data#data.h,
                      out => length(Data#data.out), next => Data#data.next}};
format_status(Status) ->
    Status.

work_now(Data) ->
    {keep_state, Data, {state_timeout, 0, work}}.

%% Send messages. After a `give' we wait for `more'; erltrace_conn sees to it that this ends.
give([], ready, Data) ->
    {next_state, ready, Data#data{out = []}};
give([], {running, Ms}, Data) ->
    {next_state, running, Data#data{out = []}, poll_after(Ms)};
give([], {leave, Code}, #data{h = H} = Data) ->
    _ = H =/= undefined andalso erltrace_handle:close(H),
    {stop, {shutdown, {done, Code}}, Data};
give([{tell, Message} | Rest], Next, Data) ->
    tell(Message, Data),
    give(Rest, Next, Data);
give([{give, {batch, []}} | Rest], Next, Data) ->
    give(Rest, Next, Data);
give([{give, Message} | Rest], Next, Data) ->
    tell(Message, Data),
    {next_state, giving, Data#data{out = Rest, next = Next}}.

poll_after(Ms) when Ms >= ?SLOW_POLL -> {state_timeout, erltrace_timer:next(Ms), work, {abs, true}};
poll_after(Ms) -> {state_timeout, Ms, work}.

%% Never reconnects to a command that has gone.
tell(Message, #data{command = Command}) ->
    erlang:send(Command, Message, [noconnect]).

ask(Request, #data{h = H}) ->
    erltrace_handle:call(H, Request).

failed(Index, Reason, Data) ->
    give([{tell, failed(Index, Reason)}], {leave, 1}, Data).

failed(Index, Reason) ->
    failed_at(Index, Reason, {<<>>, <<>>}).

failed_at(Index, {dtrace, Tag, Line, Column, Text}, {File, Source}) ->
    {failed, {Index, {Tag, Line, Column, Text, File, Source}}};
failed_at(Index, Reason, Position) ->
    Text = unicode:characters_to_binary(io_lib:format("~0P", [Reason, 30])),
    failed_at(Index, {dtrace, <<"ET_AGENT">>, 0, 0, Text}, Position).

%% @doc An error message to the command that is not about one of its scripts.
-spec failure({binary(), integer(), integer(), binary()}) -> message().
failure({Tag, Line, Column, Text}) ->
    failed(-1, {dtrace, Tag, Line, Column, Text}).

%% @doc The same, of a process of this command.
-spec killed(module()) -> message().
killed(Module) ->
    Text = unicode:characters_to_binary(["erltrace's process there was killed (",
                                         atom_to_list(Module), ")"]),
    failure({<<"ET_KILLED">>, 0, 0, Text}).

%% The file and the source line of a compile error.
position(Data) ->
    case ask(position, Data) of
        {File, Source} when is_binary(File) -> {File, Source};
        _ -> {<<>>, <<>>}
    end.

now_ms() ->
    erlang:monotonic_time(millisecond).

%% The form of what is printed at once.
form(Spec) ->
    hd([Form || Form <- [json, data, terminal], proplists:get_bool(Form, Spec)] ++ [text]).

%% ---- preparing ------------------------------------------------------------------------------

prepare(#data{spec = Spec} = Data) ->
    case settings(proplists:get_value(settings, Spec, []), Data) of
        ok ->
            target(proplists:get_value(target, Spec), Data),
            case proplists:get_bool(list, Spec) of
                false -> compile(Data);
                true -> list(Data)
            end;
        {error, Reason} ->
            failed(-1, Reason, Data)
    end.

settings([], _) -> ok;
settings([{Name, Value} | Rest], Data) ->
    case ask({setopt, Name, Value}, Data) of
        ok -> settings(Rest, Data);
        Error -> Error
    end.

target(undefined, _) -> ok;
target(Pid, Data) -> ask({target, Pid}, Data).

compile(#data{spec = Spec} = Data) ->
    compile(proplists:get_value(scripts, Spec, []), 0, {[], []}, Data).

compile([], _, {Code, Matched}, Data) ->
    Counts = list_to_tuple(lists:reverse(Matched)),
    give(lists:reverse(Code, [{tell, {matched, Counts}}]), ready, Data);
compile([Script | Rest], Index, {Code, Matched}, #data{spec = Spec} = Data) ->
    case compile_one(Script, Data) of
        ok ->
            N = ask(info, Data),
            %% -S: what the compiler made of the last script
            New = [{tell, {code, ask(code, Data)}} || proplists:get_bool(code, Spec)],
            compile(Rest, Index + 1, {New ++ Code, [N | Matched]}, Data);
        {error, Reason} ->
            Failed = {tell, failed_at(Index, Reason, position(Data))},
            give(lists:reverse(Code, [Failed]), {leave, 1}, Data)
    end.

compile_one({clause, _, Text}, Data) ->
    compile_one(Text, default_action, Data);
compile_one({file, Name, Text}, Data) ->
    compile_one(Text, {file, Name}, Data).

compile_one(Text, Opt, #data{spec = Spec} = Data) ->
    Opts = [Opt | [{headers, Hs} || {headers, Hs} <- Spec]] ++ kernel(Data),
    ask({compile, Text, proplists:get_value(args, Spec, []), Opts}, Data).

%% May the script have probes of the kernel? Whoever has started the page says so (erltrace:web/1).
kernel(#data{spec = Spec}) ->
    [kernel || proplists:get_bool(kernel, Spec)].

%% ---- running --------------------------------------------------------------------------------

go(Data) ->
    case ask(go, Data) of
        ok ->
            Counts = ask(counts, Data),
            tell_conn(Counts, Data),
            {Unmatched, Data1} = unmatched(Data),
            give([{give, armed_lines(Data)} | calls_object(Data) ++ Unmatched], {running, 0},
                 Data1#data{slowest = slowest(Counts)});
        {error, Reason} ->
            failed(-1, Reason, Data)
    end.

%% Calls that go the fast way must end sooner if the network is cut.
tell_conn({ok, #{calls := #{way := Way}}}, #data{conn = Conn}) -> Conn ! {calls, Way};
tell_conn(_, _) -> ok.

slowest(
    {ok, #{
        samples := #{},
        calls := #{way := none},
        armed := [],
        things := undefined,
        prints := Prints
    }}
) ->
    case Prints of
        true -> ?SAMPLES_POLL;
        false -> ?SILENT_POLL
    end;
slowest({ok, #{kernel := true}}) -> ?SLOW_POLL;
slowest({ok, #{bufsize := Size}}) when Size >= ?LARGE -> ?SLOW_POLL;
slowest(_) -> ?POLL.

%% A script that prints is read often, one that does not wakes the node up less.
next_poll([], #data{poll = Poll, slowest = Slowest} = Data) ->
    Data#data{poll = min(2 * Poll, Slowest)};
next_poll(_, Data) -> Data#data{poll = ?POLL}.

work(Data0) ->
    {Since, Data} = tick(Data0),
    Ticks = Data#data.tick =/= Data0#data.tick,
    case ask({work, results(Ticks, Data)}, Data) of
        {error, Reason} ->
            give(Since ++ [{tell, failed(-1, Reason)}, {give, cost_lines(Data)}], {leave, 1}, Data);
        {Status, Items} ->
            Batch = Since ++ [{give, {batch, [item(I) || I <- Items]}}],
            worked(Status, Batch, next_poll(Items, Data))
    end.

%% An idle node sends the time for each tick: one that sends nothing has none.
results(_, #data{stream = undefined, form = Form}) -> Form;
results(true, #data{stream = {stream, Ms, _, Form}}) -> {stream, Ms, 1, Form};
results(false, #data{stream = Stream}) -> Stream.

worked(done, Out, Data) ->
    give(Out ++ [{give, cost_lines(Data)}], {leave, exit_code(ask(status, Data))}, Data);
worked(ok, Out, Data) ->
    give(Out, {running, until_tick(Data)}, Data).

%% drop: of events, by which a request that is followed may lack something.
item({drop, Kind, _N, Message}) ->
    {case lists:member(Kind, [<<"PRINCIPAL">>, <<"RATE">>, <<"THREADS">>, <<"FLOWS">>]) of
         true -> drop;
         false -> err
     end, Message};
item({warning, Message}) -> {err, Message};
item({fault, Message}) -> {err, Message};
item(Other) -> Other.

no_snapshot({dtrace, _, _, _, Text}) -> <<"no snapshot: ", Text/binary>>;
no_snapshot(_) -> <<"no snapshot: the script has ended">>.

exit_code({exited, Code}) -> Code;
exit_code(_) -> -1.

%% --live: the command makes the ticks; here is what they do not have.
tick(#data{spec = Spec, tick = Due} = Data) ->
    case {proplists:get_value(live, Spec), now_ms()} of
        {Every, Now} when is_integer(Every), Now >= Due ->
            {Unmatched, Data1} = match_again(Data),
            {Unmatched, Data1#data{tick = max(Due + Every, Now)}};
        _ ->
            {[], Data}
    end.

until_tick(#data{spec = Spec, tick = Due, poll = Poll}) ->
    case proplists:get_value(live, Spec) of
        undefined -> Poll;
        _ -> max(0, min(Poll, Due - now_ms()))
    end.

%% ---- what tracing costs the node ------------------------------------------------------------

armed_lines(#data{spec = Spec} = Data) ->
    Verbose = proplists:get_bool(verbose, Spec),
    case ask(counts, Data) of
        {ok, Counts} ->
            Armed = maps:get(armed, Counts, []) ++ maps:get(counted, Counts, []),
            #{way := Way, functions := N} = Calls = maps:get(calls, Counts),
            Nothing =
                Armed =:= [] andalso (Way =/= fast orelse N =:= 0) andalso
                    % it may have ended already
                    maps:get(running, Counts, true),
            lines(
                [
                    {"armed: ~ts", [lists:join(", ", [armed(A) || A <- Armed])]}
                 || Verbose, Armed =/= []
                ] ++
                    [{"armed: nothing", []} || Verbose, Nothing] ++
                    [
                        {"~ts", [Line]}
                     || Verbose, Line <- [erltrace_calls:line(Calls)], Line =/= none
                    ] ++
                    [
                        {"returns are found by ~s", [returns(By)]}
                     || Verbose, By <- [maps:get(returns_by, Counts, undefined)], By =/= undefined
                    ] ++
                    [
                        {"ustack() has no lines: ~ts", [Why]}
                     || Verbose,
                        #{table := {refused, Why}} <- [maps:get(stacks, Counts, undefined)]
                    ] ++
                    [
                        {"samples: signal ~b, ~b scheduler~s", [
                            Signal, Threads, plural(Threads, "s")
                        ]}
                     || Verbose,
                        #{signal := Signal, threads := Threads} <-
                            [maps:get(samples, Counts, undefined)]
                    ] ++
                    [
                        {"~ts", [Missing]}
                     || Missing <- [maps:get(missing, Counts, <<>>)],
                        Missing =/= <<>>
                    ] ++
                    [{"warning: ~ts", [Text]} || Text <- unmatched_texts(Data)] ++
                    [
                        {"~b process~s left out: traced by somebody else already", [
                            Left, plural(Left, "es")
                        ]}
                     || Left <- [maps:get(skipped, Counts, 0)], Left > 0
                    ]
            );
        _ ->
            lines([])
    end.

%% --live: which way function probes go, before the first tick.
calls_object(#data{spec = Spec} = Data) ->
    case proplists:is_defined(live, Spec) andalso ask(counts, Data) of
        {ok, #{calls := Calls}} ->
            [{give, {batch, [{live, erltrace_calls:json(node(), Calls)}]}}];
        _ ->
            []
    end.

%% Likewise: which of the script's descriptions match nothing, as it may with -Z.
unmatched(#data{spec = Spec, unmatched = {_, Before}} = Data) ->
    case proplists:is_defined(live, Spec) andalso {erlang:loaded(), ask(unmatched, Data)} of
        {Loaded, Unmatched} when is_list(Unmatched) ->
            {[{give, {unmatched, Unmatched}} || Unmatched =/= Before],
             Data#data{unmatched = {Loaded, Unmatched}}};
        _ -> % it has ended
            {[], Data}
    end.

%% -Z: the person who gave it is told what it leaves out. (Of several nodes one may have it: the
%% command tells what none has.)
unmatched_texts(#data{spec = Spec, stream = {stream, _, 0, _}} = Data) ->
    ByUser = lists:keymember(<<"zdefs">>, 1, proplists:get_value(settings, Spec, [])),
    case ByUser andalso not proplists:is_defined(live, Spec) andalso ask(unmatched, Data) of
        Unmatched when is_list(Unmatched) -> [Text || {_, _, Text} <- Unmatched];
        _ -> []
    end;
unmatched_texts(_) ->
    [].

%% Modules that are loaded later may have what they name.
match_again(#data{unmatched = {_, []}} = Data) ->
    {[], Data};
match_again(#data{unmatched = {Loaded, _}} = Data) ->
    case erlang:loaded() of
        Loaded -> {[], Data};
        _ -> unmatched(Data)
    end.

cost_lines(#data{spec = Spec} = Data) ->
    Verbose = proplists:get_bool(verbose, Spec),
    case ask(counts, Data) of
        {ok, Counts} ->
            lines(
                [
                    {"probes fired ~b time~s", [N, plural(N, "s")]}
                 || Verbose, N <- [maps:get(fired, Counts, 0)]
                ] ++
                    [
                        {"it took ~.1f % of the schedulers' busy time", [float(C)]}
                     || Verbose, C <- [maps:get(cost, Counts, 0)]
                    ] ++
                    [
                        {"~b frame~s of stacks shown as addresses: their code was being loaded "
                         "or removed",
                            [N, plural(N, "s")]}
                     || Verbose, #{unknown := N} <- [maps:get(stacks, Counts, undefined)], N > 0
                    ] ++
                    [
                        {"no room for ~b call~s or process~s: their returns and depth are missing",
                            [N, plural(N, "s"), plural(N, "es")]}
                     || N <- [maps:get(lost, Counts, 0)], N > 0
                    ] ++
                    [
                        {"no room for ~b name~s: these processes are shown by their pids", [
                            N, plural(N, "s")
                        ]}
                     || N <- [maps:get(unnamed, Counts, 0)], N > 0
                    ] ++
                    [
                        {
                            "~b return~s or exception~s without the arguments of the call: there "
                            "was no room "
                            "to keep them, or a tail call had ended it",
                            [N, plural(N, "s"), plural(N, "s")]
                        }
                     || N <- [maps:get(no_args, Counts, 0)], N > 0
                    ] ++
                    [
                        {
                            "at ~b return~s, the script asked about parts of arguments that were "
                            "not kept "
                            "(too large, or not to be copied): it may have another answer at the "
                            "entry",
                            [N, plural(N, "s")]
                        }
                     || N <- [maps:get(cut_args, Counts, 0)], N > 0
                    ]
            );
        _ ->
            lines([])
    end.

lines(Lines) ->
    {batch, [{err, unicode:characters_to_binary(io_lib:format(F, As))} || {F, As} <- Lines]}.

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

%% ---- the list -------------------------------------------------------------------------------

list(#data{spec = Spec} = Data) ->
    {Out, Code} = case proplists:get_value(scripts, Spec, []) of
                      [] -> rows(-1, <<>>, true, Data);
                      Scripts -> list(Scripts, 0, {[], -1}, Data)
                  end,
    give(Out, {leave, Code}, Data).

list([], _, {Out, Code}, _) ->
    {lists:append(lists:reverse(Out)), Code};
list([{clause, _, Text} | Rest], Index, {Out, Code}, #data{spec = Spec} = Data) ->
    Zero = proplists:get_bool(zero, Spec),
    {Outs, Codes} = lists:unzip([rows(Index, D, Zero, Data) ||
                                    D <- binary:split(Text, <<"\n">>, [global, trim_all])]),
    list(Rest, Index + 1, {[lists:append(Outs) | Out], lists:max([Code | Codes])}, Data);
list([{file, _, _} = Script | Rest], Index, {Out, Code}, Data) ->
    {Out1, Code1} = case compile_one(Script, Data) of
                        ok -> rows(Index, script, true, Data);
                        {error, Reason} -> {[{tell, failed_at(Index, Reason, position(Data))}], 1}
                    end,
    list(Rest, Index + 1, {[Out1 | Out], max(Code, Code1)}, Data).

%% Types and notes of probes are for -v only. Zero: it is no error if there are none.
rows(Index, What, Zero, #data{spec = Spec} = Data) ->
    Form = case proplists:get_bool(verbose, Spec) of true -> full; false -> brief end,
    case ask(question(What, Form, kernel(Data)), Data) of
        {error, {dtrace, <<"D_PDESC_ZERO">>, _, _, _}} when Zero ->
            {[], -1};
        {ok, []} when not Zero ->
            Text = <<"no probe matches the description">>,
            {[{tell, failed(Index, {dtrace, <<"D_PDESC_ZERO">>, 0, 0, Text})}], 1};
        {ok, Rows} ->
            {[{give, {rows, Some}} || Some <- rows(Rows)], -1};
        {error, Reason} ->
            {[{tell, failed(Index, Reason)}], 1}
    end.

question(What, _, [kernel]) when is_binary(What) -> {probes, What, full, [kernel]};
question(What, Form, _) -> {probes, What, Form}.

%% A thousand rows at a time, or a binary that has as many.
rows([]) -> [];
rows([Brief | Rest]) when is_binary(Brief) ->
    [[Brief] | rows(Rest)];
rows(Rows) ->
    {Some, Rest} = take(1000, Rows, []),
    [Some | rows(Rest)].

%% Instead of lists:split/2: length/1 of hundreds of thousands each time would be slow.
take(0, Rest, Some) -> {lists:reverse(Some), Rest};
take(_, [], Some) -> {lists:reverse(Some), []};
take(N, [Row | Rest], Some) -> take(N - 1, Rest, [Row | Some]).
