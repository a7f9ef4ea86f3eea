%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc A handle's scripts in its helper, as the handle sees it: what was told to the handle so far
%% is told to the helper, and the helper's stream is brought into the library whenever somebody
%% reads. erltrace_kernel is the process that holds the helper's port.
-module(erltrace_helper).
-export([start/4, close/1, probes/2]).
-export([set/2, compile/2, go/1, pull/2, forward/3, snapshot/2,
         stop/1, told/2]).
-export([pid/1, state/1, fired/1, spent/1, permille/1, matches/1, failure/1]).
-export_type([helper/0, script/0]).

-define(PARTS, 64). % of a stream that are taken at one go, a megabyte each

-record(helper, {pid :: pid(),
                 nif :: reference(),
                 status = {idle, 0, 0, 0} :: erltrace_kernel:status(), % as it said last
                 matches = 0 :: non_neg_integer(),               % of the script compiled last
                 %% the first part of the stream, until it is known who reads that
                 first = <<>> :: binary(),
                 gone = false :: boolean(),                      % nothing more comes from it
                 error :: erltrace_compile:error() | undefined}). % why, if it should not have
-opaque helper() :: #helper{}.
-type option() :: {binary(), binary()}.
-type script() :: {Source :: binary(), [binary()], [term()],
                   Names :: [erlang | kernel | processes]}.

%% @doc Called by the handle, which gets the messages of erltrace_kernel and a `DOWN' message.
-spec start(Sup :: pid(), reference(), [option()], [script()]) ->
          {ok, helper()} | erltrace_compile:error().
start(Sup, Nif, Options, Scripts) ->
    case erltrace_kernel:start(Sup) of
        {ok, Pid} ->
            _ = erlang:monitor(process, Pid),
            Helper = #helper{pid = Pid, nif = Nif},
            case prepare(Options, Scripts, Helper) of
                {ok, Helper1} -> {ok, Helper1};
                Error -> close(Helper), Error
            end;
        {error, shutdown} ->
            {error, closed}
    end.

%% The settings of the node hold, whatever options there are.
prepare(Options, Scripts, #helper{pid = Pid} = Helper) ->
    Payload = [{<<"payload">>, <<"off">>} || not erltrace_limiter:is_payload()],
    Prepared =
        in_turn([fun() -> done(erltrace_kernel:forbid(Pid)) end || erltrace_limiter:is_harmless()]
                ++ [fun() -> target(Pid) end] ++
                    [fun() -> set(Option, Helper) end || Option <- Payload ++ Options]),
    lists:foldl(fun(Script, {ok, Helper1}) -> compile(Script, Helper1);
                   (_, Error) -> Error
                end, case Prepared of ok -> {ok, Helper}; Error -> Error end, Scripts).

target(Pid) ->
    done(erltrace_kernel:target(Pid, list_to_integer(os:getpid()))).

in_turn([]) -> ok;
in_turn([Do | Rest]) ->
    case Do() of
        ok -> in_turn(Rest);
        Error -> Error
    end.

done({ok, _, _}) -> ok;
done(Error) -> erltrace_compile:reply(Error).

-spec close(helper()) -> ok.
close(#helper{pid = Pid}) ->
    erltrace_kernel:close(Pid).

%% @doc Probes of the kernel, by a helper for that alone.
-spec probes(Sup :: pid(), binary()) -> {ok, [tuple()]} | erltrace_compile:error().
probes(Sup, Description) ->
    case erltrace_kernel:start(Sup) of
        {ok, Pid} ->
            _ = target(Pid),
            Answer = erltrace_kernel:list(Pid, Description),
            erltrace_kernel:close(Pid),
            case Answer of
                {rows, Probes} -> {ok, Probes};
                Error -> erltrace_compile:reply(Error)
            end;
        {error, shutdown} ->
            {error, closed}
    end.

%% ---- before go -------------------------------------------------------------------------------

-spec set(option(), helper()) -> ok | erltrace_compile:error().
set({Name, Value}, #helper{pid = Pid}) ->
    done(erltrace_kernel:option(Pid, Name, Value)).

%% @doc This node is looked at only for scripts that ask for it.
-spec compile(script(), helper()) -> {ok, helper()} | erltrace_compile:error().
compile({Source, Args, Opts, Names}, #helper{pid = Pid} = Helper) ->
    Node = {<<"erlnode">>, list_to_binary(os:getpid())},
    case in_turn([fun() -> set(Node, Helper) end || Names -- [kernel] =/= []]) of
        ok ->
            case erltrace_kernel:compile(Pid, Source, Args, Opts) of
                {ok, _, Matches} -> {ok, Helper#helper{matches = Matches}};
                Error -> done(Error)
            end;
        Error ->
            Error
    end.

%% @doc The head of the stream comes at once: from there on results can be read.
-spec go(helper()) -> {ok, helper()} | erltrace_compile:error().
go(#helper{pid = Pid} = Helper) ->
    case erltrace_kernel:go(Pid) of
        {ok, Status, _} ->
            {_, Bytes, Helper1} =
                part([now, no_records], {0, 0}, Helper#helper{status = Status}),
            {ok, (fed(Bytes, Helper1))#helper{first = Bytes}};
        Error -> done(Error)
    end.

%% ---- from go on ------------------------------------------------------------------------------

%% @doc What the helper has, to the library. As much as it has now: what comes meanwhile is for the
%% next time, unless the script has ended.
-spec pull([now | no_records], helper()) -> helper().
pull(_, #helper{gone = true} = Helper) -> Helper#helper{first = <<>>};
pull(What, Helper) -> pull(What, ?PARTS, Helper#helper{first = <<>>}).

pull(What, Parts, Helper) ->
    {More, Bytes, Helper1} = part(What, {0, 0}, Helper),
    case fed(Bytes, Helper1) of
        #helper{gone = false} = Helper2 when More =:= more ->
            case Parts > 1 orelse state(Helper2) =/= running of
                true -> pull(What, Parts - 1, Helper2);
                false -> Helper2
            end;
        Helper2 ->
            Helper2
    end.

%% @doc The same, to be read elsewhere: the next part, with aggregations so many ms apart, and the
%% time.
-spec forward(Ms :: pos_integer(), Beat :: non_neg_integer(), helper()) ->
          {ok | done, binary(), helper()}.
forward(_, _, #helper{gone = true, first = First} = Helper) ->
    {done, First, Helper#helper{first = <<>>}};
forward(Ms, Beat, #helper{first = First} = Helper) ->
    {_, Bytes, Helper1} = part([], {Ms, Beat}, Helper#helper{first = <<>>}),
    {case Helper1#helper.gone of true -> done; false -> ok end, <<First/binary, Bytes/binary>>,
     Helper1}.

part(What, Pace, #helper{pid = Pid} = Helper) ->
    case erltrace_kernel:ask(Pid, What, Pace) of
        {stream, More, Status, Bytes} ->
            {More, Bytes, aborted(Helper#helper{status = Status, gone = More =:= done})};
        Error ->
            {done, <<>>, told({gone, Error}, Helper)}
    end.

%% The watchdog has said so before this answer came.
aborted(#helper{pid = Pid} = Helper) ->
    receive {kernel, Pid, {aborted, _, _} = Aborted} -> told(Aborted, Helper)
    after 0 -> Helper
    end.

fed(Bytes, #helper{nif = Nif} = Helper) ->
    case feed(Nif, Bytes) of
        ok -> Helper;
        Error -> told({gone, Error}, Helper#helper{gone = false})
    end.

feed(_, <<>>) -> ok;
feed(Nif, Bytes) -> erltrace_nif:stream(Nif, Bytes).

%% @doc Of a flight recorder: the files, and what went wrong.
-spec snapshot(binary(), helper()) ->
          {ok, [{snapshot | warning, binary()}]} | erltrace_compile:error().
snapshot(Why, #helper{pid = Pid}) ->
    case erltrace_kernel:snapshot(Pid, Why) of
        {files, Files} -> {ok, Files};
        Error -> erltrace_compile:reply(Error)
    end.

%% @doc Nothing fires when this returns.
-spec stop(helper()) -> helper().
stop(#helper{pid = Pid, status = {running, _, _, _}} = Helper) ->
    case erltrace_kernel:stop(Pid) of
        {ok, Status, _} -> Helper#helper{status = Status};
        Error -> told({gone, Error}, Helper)
    end;
stop(Helper) ->
    Helper.

%% @doc What a message of erltrace_kernel says, or `killed'. One that has gone without having ended,
%% or was aborted, has an error; what was gathered can be read.
-spec told(erltrace_kernel:news() | killed, helper()) -> helper().
told(killed, Helper) ->
    told({gone, erltrace_kernel:killed()}, Helper);
told({gone, _}, #helper{gone = true} = Helper) ->
    Helper;
told({gone, Error}, #helper{nif = Nif, status = Status} = Helper) ->
    _ = erltrace_nif:stream_end(Nif),
    Helper#helper{status = setelement(1, Status, stopped), gone = true,
                  error = erltrace_compile:reply(Error)};
told({aborted, Status, Why}, Helper) ->
    Helper#helper{status = Status, error = {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, Why}}};
told(Status, Helper) ->
    Helper#helper{status = Status}.

-spec pid(helper()) -> pid().
pid(#helper{pid = Pid}) -> Pid.

-spec fired(helper()) -> non_neg_integer().
fired(#helper{status = {_, Fired, _, _}}) -> Fired.

%% @doc ns of processor time: of its firings in the kernel, and of the helper itself.
-spec spent(helper()) -> non_neg_integer().
spent(#helper{status = {_, _, Spent, _}}) -> Spent.

%% @doc What that was of the time in which processors were busy, the last while.
-spec permille(helper()) -> non_neg_integer().
permille(#helper{status = {_, _, _, Permille}}) -> Permille.

%% @doc Probes of the script that was compiled last.
-spec matches(helper()) -> non_neg_integer().
matches(#helper{matches = Matches}) -> Matches.

-spec state(helper()) -> erltrace:state().
state(#helper{status = {State, _, _, _}}) -> State.

-spec failure(helper()) -> erltrace_compile:error() | undefined.
failure(#helper{error = Error}) -> Error.
