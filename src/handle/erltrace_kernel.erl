%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The helper of a handle whose script has probes of the kernel: priv/erltrace-kernel, a
%% program that may have privileges which the node has not (c_src/helper/helper.h: its orders and
%% answers). This process, a child of the handle's supervisor, holds the port. The helper ends with
%% the port, and so with this process, with the handle and with the node.
%%
%% The handle gives an order at a time, and waits for its answer. Meanwhile the helper may ask for
%% probes of this node (erltrace_bridge). What the helper says by itself the handle gets as
%% `{kernel, Pid, News}'.
-module(erltrace_kernel).
-behaviour(gen_server).
-export([start/1, killed/0, option/3, target/2, forbid/1, compile/4, list/2, go/1, ask/3,
         snapshot/2, stop/1, close/1]).
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2, handle_info/2, terminate/2,
         code_change/3, format_status/1]).
-export_type([status/0, news/0]).

-define(VERSION, 2).      % HELPER_VERSION
-define(HELLO, 10000).    % ms for its first frame
-define(QUIT, 5000).      % ms for it to end
-define(NULL, 16#ffffffff). % SB_NULL

-type state() :: idle | running | filled | stopped | {exited, integer()}.
%% Spent: ns of processor time; the last: the permille that this was of what all processors did.
-type status() :: {state(), Fired :: non_neg_integer(), Spent :: non_neg_integer(),
                   Permille :: non_neg_integer()}.
%% The script goes on or has ended by itself; the watchdog has ended it; the helper has ended; a
%% flight recorder says something.
-type news() :: status() | {aborted, status(), Why :: binary()} | {gone, failure()}
              | {said, Item :: tuple()}.
-type failure() :: {error, {binary(), integer(), integer(), binary()}}.
-type pace() :: {Ms :: non_neg_integer(), Beat :: non_neg_integer()}.
-type answer() :: {ok, status(), non_neg_integer()}
                | {stream, all | more | done, status(), binary()}
                | {rows, [tuple()]} | {files, [{snapshot | warning, binary()}]} | failure().

-record(st, {handle :: pid(),
             port :: port() | undefined,
             ready = false :: boolean(),               % it has said hello
             timer :: reference() | undefined,         % until it does
             from :: gen_server:from() | undefined,    % who waits for an answer
             waits :: iodata() | undefined,            % an order that is not sent yet
             gone :: failure() | undefined,            % why there is none
             bridge = erltrace_bridge:new() :: erltrace_bridge:bridge()}).

%% @doc Called by the handle.
-spec start(Sup :: pid()) -> {ok, pid()} | {error, shutdown}.
start(Sup) ->
    erltrace_handle_sup:start_helper(Sup, ?MODULE, self()).

-spec option(pid(), binary(), binary()) -> answer().
option(Pid, Name, <<>>) -> order(Pid, [$O, text(Name), <<?NULL:32/little>>]);
option(Pid, Name, Value) -> order(Pid, [$O, text(Name), text(Value)]).

%% @doc What `$target' is.
-spec target(pid(), OsPid :: pos_integer()) -> answer().
target(Pid, OsPid) -> order(Pid, [$T, <<OsPid:32/little>>]).

%% @doc No destructive actions.
-spec forbid(pid()) -> answer().
forbid(Pid) -> order(Pid, [$F]).

-spec compile(pid(), Source :: binary(), [binary()], [term()]) -> answer().
compile(Pid, Source, Args, Opts) ->
    Flags = lists:sum([N || {Opt, N} <- [{default_action, 1}, {zero_matches, 2}, {empty, 4}],
                            lists:member(Opt, Opts)]),
    File = case lists:keyfind(file, 1, Opts) of
               {file, Name} -> text(Name);
               false -> <<?NULL:32/little>>
           end,
    order(Pid, [$C, text(Source), File, Flags, <<(length(Args)):32/little>>,
                [text(Arg) || Arg <- Args]]).

-spec list(pid(), Description :: binary()) -> answer().
list(Pid, Description) -> order(Pid, [$L, text(Description)]).

-spec go(pid()) -> answer().
go(Pid) -> order(Pid, [$G]).

%% @doc The next part of the stream. `now': all that aggregations hold; `no_records': these only.
%% Without `now' aggregations come so many ms apart, and the time, where nothing else does.
-spec ask(pid(), [now | no_records], pace()) -> answer().
ask(Pid, How, {Ms, Beat}) ->
    Flags = lists:sum([N || {Word, N} <- [{now, 1}, {no_records, 2}], lists:member(Word, How)]),
    order(Pid, [$A, Flags, <<Ms:32/little, Beat:32/little>>]).

-spec snapshot(pid(), Why :: binary()) -> answer().
snapshot(Pid, Why) -> order(Pid, [$P, text(Why)]).

-spec stop(pid()) -> answer().
stop(Pid) -> order(Pid, [$S]).

%% @doc When this returns the helper has ended, and nothing of it is in the kernel.
-spec close(pid()) -> ok.
close(Pid) ->
    try gen_server:stop(Pid)
    catch exit:_ -> ok
    end.

order(Pid, Order) ->
    try gen_server:call(Pid, {order, Order}, infinity)
    catch exit:_ -> killed()
    end.

%% @doc What orders are answered with by one that was killed.
-spec killed() -> failure().
killed() -> gone("it was killed").

text(Text) ->
    B = iolist_to_binary(Text),
    [<<(byte_size(B)):32/little>>, B].

gone(Why) ->
    failure(<<"ET_KERNEL">>, ["the helper for probes of the kernel has ended: ", Why]).

failure(Tag, Text) ->
    {error, {Tag, 0, 0, unicode:characters_to_binary(Text)}}.

%% ---- the process -----------------------------------------------------------------------------

-spec init({Sup :: pid(), Handle :: pid()}) -> {ok, #st{}, {continue, open}}.
init({_, Handle}) ->
    process_flag(sensitive, true),
    process_flag(trap_exit, true),
    {ok, #st{handle = Handle}, {continue, open}}.

-spec handle_continue(open, #st{}) -> {noreply, #st{}}.
handle_continue(open, St) ->
    Helper = helper(),
    try open_port({spawn_executable, Helper}, [{packet, 4}, binary, exit_status, hide]) of
        Port ->
            Timer = erlang:start_timer(?HELLO, self(), hello),
            {noreply, St#st{port = Port, timer = Timer}}
    catch
        error:enoent ->
            {noreply, St#st{gone = failure(
                <<"ET_KERNEL">>, ["this erltrace was built without probes of the kernel: there is "
                                  "no ", Helper])}};
        error:eacces ->
            {noreply, St#st{gone = failure(
                <<"ET_PERMISSION">>, ["the user of this node may not run ", Helper,
                                      ", which probes of the kernel need: ls -l ", Helper])}};
        error:Reason ->
            {noreply, St#st{gone = failure(
                <<"ET_KERNEL">>, io_lib:format("cannot run ~ts, which probes of the kernel "
                                               "need: ~0p", [Helper, Reason]))}}
    end.

-spec handle_call({order, iodata()}, gen_server:from(), #st{}) ->
          {noreply, #st{}} | {reply, failure(), #st{}}.
handle_call({order, _}, _, #st{gone = Gone} = St) when Gone =/= undefined ->
    {reply, Gone, St};
handle_call({order, Order}, From, #st{ready = false, from = undefined} = St) ->
    {noreply, St#st{from = From, waits = Order}};
handle_call({order, Order}, From, #st{from = undefined} = St) ->
    {noreply, send(Order, St#st{from = From})}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, term(), #st{}}.
handle_info({Port, {data, <<$h, Version:16/little>>}}, #st{port = Port, ready = false} = St) ->
    _ = erlang:cancel_timer(St#st.timer),
    case Version of
        ?VERSION -> {noreply, send(St#st.waits, St#st{ready = true, waits = undefined})};
        _ -> {noreply, leave(gone("it is of another version of erltrace"), St)}
    end;
handle_info({Port, {data, <<Letter, Rest/bits>>}}, #st{port = Port, handle = Handle} = St)
  when Letter =:= $c; Letter =:= $o; Letter =:= $w ->
    Handle ! {kernel, self(), news(status(Rest, St))},
    {noreply, St};
handle_info({Port, {data, <<$m, Rest/bits>>}}, #st{port = Port, handle = Handle} = St) ->
    Handle ! {kernel, self(), {said, said(Rest)}},
    {noreply, St};
handle_info({Port, {data, <<Letter, Rest/bits>>}}, #st{port = Port} = St)
  when Letter =:= $l; Letter =:= $a; Letter =:= $n; Letter =:= $d ->
    {Reply, Bridge} = requested(Letter, Rest, St#st.bridge),
    {noreply, send(Reply, St#st{bridge = Bridge})};
handle_info({Port, {data, Answer}}, #st{port = Port, from = From} = St) when From =/= undefined ->
    gen_server:reply(From, answer(Answer, St)),
    {noreply, St#st{from = undefined}};
handle_info({Port, {exit_status, Status}}, #st{port = Port, ready = false} = St) ->
    {noreply, left(not_started(Status), St)};
handle_info({Port, {exit_status, Status}}, #st{port = Port} = St) ->
    {noreply, left(gone(ended(Status)), St)};
handle_info({timeout, Timer, hello}, #st{timer = Timer, ready = false} = St) ->
    {noreply, leave(gone("it has not answered"), St)};
handle_info({'EXIT', Port, _}, #st{port = Port} = St) ->
    {noreply, left(gone("its port was closed"), St)};
handle_info({'EXIT', Pid, _}, St) when is_pid(Pid) ->
    {stop, shutdown, St};
handle_info(_, St) ->
    {noreply, St}.

-spec terminate(term(), #st{}) -> term().
terminate(_, St) ->
    leave(gone("it was closed"), St).

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{handle = Handle, port = Port, gone = Gone}} = Status) ->
    Status#{state := #{handle => Handle, gone => Gone,
                       os_pid => Port =/= undefined andalso erlang:port_info(Port, os_pid)}};
format_status(Status) ->
    Status.

send(undefined, St) -> St;
send(Order, #st{port = Port} = St) ->
    _ = (catch port_command(Port, Order)), % where that is closed, a message comes that says so
    St.

%% It ends when its input does; what it had in the kernel is gone then.
leave(_, #st{port = undefined} = St) ->
    St;
leave(Gone, #st{port = Port} = St) ->
    _ = (catch port_command(Port, [$Q])), % no order: it ends, and says so
    await_end(Port, erlang:start_timer(?QUIT, self(), quit)),
    catch port_close(Port),
    left(Gone, St).

await_end(Port, Timer) ->
    receive
        {Port, {exit_status, _}} -> ok;
        {'EXIT', Port, _} -> ok;
        {timeout, Timer, quit} -> ok;
        {Port, {data, _}} -> % it disarms the node: left/2 does
            _ = (catch port_command(Port, [$K])),
            await_end(Port, Timer)
    end.

left(Gone, #st{handle = Handle, from = From, bridge = Bridge} = St) ->
    Disarmed = erltrace_bridge:disarm(Bridge),
    _ = From =/= undefined andalso gen_server:reply(From, Gone),
    Handle ! {kernel, self(), {gone, Gone}},
    St#st{port = undefined, from = undefined, waits = undefined, gone = Gone, bridge = Disarmed}.

not_started(3) -> % HELPER_SET_ID
    failure(<<"ET_PERMISSION">>, [helper(), " may not be set-user-ID or set-group-ID: give it "
                                  "capabilities instead (chmod ug-s; setcap)"]);
not_started(Status) ->
    failure(<<"ET_PERMISSION">>,
            ["cannot run ", helper(), ", which probes of the kernel need (it ended ", ended(Status),
             "): if it has capabilities, this node must be one that may pass them on (CapBnd in "
             "/proc/", os:getpid(), "/status)"]).

helper() ->
    filename:join(erltrace_nif:priv_dir(), "erltrace-kernel").

ended(Status) when Status > 128 -> io_lib:format("by signal ~b", [Status - 128]);
ended(Status) -> io_lib:format("with ~b", [Status]).

%% ---- requests --------------------------------------------------------------------------------

requested($l, Rest, Bridge) ->
    {Description, <<>>} = get_text(Rest),
    {case erltrace_bridge:list(Description) of
         {ok, Probes} -> [$R | [[text(element(I, P)) || I <- [2, 3, 4, 5]] || P <- Probes]];
         Error -> refused(Error)
     end, Bridge};
requested($a, Rest, Bridge) ->
    {Script, <<N:32/little, Rest1/binary>>} = get_text(Rest),
    {Options, <<>>} = texts(N, Rest1),
    case erltrace_bridge:arm(Script, [name_and_value(O) || O <- Options], Bridge) of
        {ok, Bridge1} -> {[$K], Bridge1};
        {Error, Bridge1} -> {refused(Error), Bridge1}
    end;
requested($n, <<>>, Bridge) ->
    case erltrace_bridge:news(Bridge) of
        {none, Bridge1} -> {[$N, 0, text("")], Bridge1};
        {ended, Bridge1} -> {[$N, 255, text("")], Bridge1};
        {Line, Bridge1} -> {[$N, 1, text(Line)], Bridge1}
    end;
requested($d, <<>>, Bridge) ->
    {[$K], erltrace_bridge:disarm(Bridge)}.

name_and_value(Option) ->
    [Name | Value] = binary:split(Option, <<"=">>),
    {Name, iolist_to_binary(Value)}.

refused({error, {Tag, Line, Column, Text}}) ->
    [$X, text(Tag), <<Line:32/little, Column:32/little>>, text(Text)].

%% ---- answers ---------------------------------------------------------------------------------

answer(<<$k, Rest/bits>>, St) ->
    {Status, <<N:32/little>>} = status(Rest, St),
    {ok, Status, N};
answer(<<$s, More, Rest/bits>>, St) ->
    {Status, Bytes} = status(Rest, St),
    {stream, element(More + 1, {all, more, done}), Status, Bytes};
answer(<<$e, Rest0/bits>>, _) ->
    {Tag, <<Line:32/little, Column:32/little, Rest/binary>>} = get_text(Rest0),
    {Text, _} = get_text(Rest),
    {error, {Tag, Line, Column, Text}};
answer(<<$f, Files/bits>>, _) ->
    {files, files(Files)};
answer(<<$r, Rows/bits>>, _) ->
    {rows, rows(Rows)}.

files(<<>>) -> [];
files(<<Written, Rest0/bits>>) ->
    {Text, Rest} = get_text(Rest0),
    [{case Written of 1 -> snapshot; 0 -> warning end, Text} | files(Rest)].

%% As of a script in the node.
said(<<2, Rest/bits>>) ->
    {[Provider, Module, Function, Name, Alert, Text], <<>>} = texts(6, Rest),
    {alert, {Provider, Module, Function, Name}, {Alert, Text}};
said(<<Kind, Rest/bits>>) ->
    {Text, <<>>} = get_text(Rest),
    {case Kind of 0 -> text; 1 -> warning end, Text}.

news({Status, <<>>}) ->
    Status;
news({Status, Rest}) ->
    {Why, <<>>} = get_text(Rest),
    {aborted, Status, Why}.

%% Handing over events of this node is the script's too.
status(<<State, Code:32/little-signed, Fired:64/little, Spent:64/little, Permille:32/little,
         Rest/binary>>, #st{bridge = Bridge}) ->
    Word = case element(State + 1, {idle, running, exited, filled, stopped}) of
               exited -> {exited, Code};
               Other -> Other
           end,
    {{Word, Fired, Spent + erltrace_bridge:spent(Bridge), Permille}, Rest}.

get_text(<<?NULL:32/little, Rest/binary>>) -> {<<>>, Rest};
get_text(<<Len:32/little, Text:Len/binary, Rest/binary>>) -> {Text, Rest}.

%% As erltrace_nif:probes/3 has them.
rows(<<>>) -> [];
rows(<<Id:32/little, Rest0/binary>>) ->
    {[Provider, Module, Function, Name], <<N:32/little-signed, Rest1/binary>>} = texts(4, Rest0),
    {Types, Rest} = texts(max(0, N), Rest1),
    Args = case N of -1 -> unknown; _ -> Types end,
    [{Id, Provider, Module, Function, Name, Args, false, <<>>} | rows(Rest)].

texts(0, Rest) -> {[], Rest};
texts(N, Rest) ->
    {Text, Rest1} = get_text(Rest),
    {Texts, Rest2} = texts(N - 1, Rest1),
    {[Text | Texts], Rest2}.
