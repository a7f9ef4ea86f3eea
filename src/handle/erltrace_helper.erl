%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc A handle's scripts in its helper, as the handle sees it: what was told to the handle so far
%% is told to the helper, and the helper's stream is brought into the library whenever somebody
%% reads. erltrace_kernel is the process that holds the helper's port.
-module(erltrace_helper).
-export([start/4, close/1, probes/2]).
-export([set/2, compile/2, go/1, pull/2, stop/1, told/2]).
-export([pid/1, state/1, fired/1, failure/1]).
-export_type([helper/0, script/0]).

-define(PARTS, 64). % of a stream that are taken at one go, a megabyte each

-record(helper, {pid :: pid(),
                 nif :: reference(),
                 status = {idle, 0} :: erltrace_kernel:status(), % as it said last
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
                ok -> {ok, Helper};
                Error -> close(Helper), Error
            end;
        {error, shutdown} ->
            {error, closed}
    end.

%% The settings of the node hold, whatever options there are.
prepare(Options, Scripts, #helper{pid = Pid} = Helper) ->
    Payload = [{<<"payload">>, <<"off">>} || not erltrace_limiter:is_payload()],
    in_turn([fun() -> done(erltrace_kernel:forbid(Pid)) end || erltrace_limiter:is_harmless()] ++
                [fun() -> target(Pid) end] ++
                [fun() -> set(Option, Helper) end || Option <- Payload ++ Options] ++
                [fun() -> compile(Script, Helper) end || Script <- Scripts]).

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
-spec compile(script(), helper()) -> ok | erltrace_compile:error().
compile({Source, Args, Opts, Names}, #helper{pid = Pid} = Helper) ->
    Node = {<<"erlnode">>, list_to_binary(os:getpid())},
    in_turn([fun() -> set(Node, Helper) end || Names -- [kernel] =/= []] ++
                [fun() -> done(erltrace_kernel:compile(Pid, Source, Args, Opts)) end]).

%% @doc The head of the stream comes at once: from there on results can be read.
-spec go(helper()) -> {ok, helper()} | erltrace_compile:error().
go(#helper{pid = Pid} = Helper) ->
    case erltrace_kernel:go(Pid) of
        {ok, Status, _} -> {ok, pull([now, no_records], Helper#helper{status = Status})};
        Error -> done(Error)
    end.

%% ---- from go on ------------------------------------------------------------------------------

%% @doc What the helper has, to the library. As much as it has now: what comes meanwhile is for the
%% next time, unless the script has ended.
-spec pull([now | no_records], helper()) -> helper().
pull(_, #helper{gone = true} = Helper) -> Helper;
pull(What, Helper) -> pull(What, ?PARTS, Helper).

pull(What, Parts, #helper{pid = Pid, nif = Nif} = Helper) ->
    case erltrace_kernel:ask(Pid, What) of
        {stream, More, Status, Bytes} ->
            Helper1 = Helper#helper{status = Status, gone = More =:= done},
            case feed(Nif, Bytes) of
                ok when More =:= more, Parts > 0 -> pull(What, Parts - 1, Helper1);
                ok when More =:= more, element(1, Status) =/= running -> pull(What, 0, Helper1);
                ok -> Helper1;
                Error -> told({gone, Error}, Helper1)
            end;
        Error ->
            told({gone, Error}, Helper)
    end.

feed(_, <<>>) -> ok;
feed(Nif, Bytes) -> erltrace_nif:stream(Nif, Bytes).

%% @doc Nothing fires when this returns.
-spec stop(helper()) -> helper().
stop(#helper{pid = Pid, status = {running, _}} = Helper) ->
    case erltrace_kernel:stop(Pid) of
        {ok, Status, _} -> Helper#helper{status = Status};
        Error -> told({gone, Error}, Helper)
    end;
stop(Helper) ->
    Helper.

%% @doc What a message of erltrace_kernel says, or `killed'. One that has gone without having ended
%% has an error; what was gathered can be read.
-spec told(erltrace_kernel:status() | {gone, term()} | killed, helper()) -> helper().
told(killed, Helper) ->
    told({gone, erltrace_kernel:killed()}, Helper);
told({gone, _}, #helper{gone = true} = Helper) ->
    Helper;
told({gone, Error}, #helper{nif = Nif, status = {_, Fired}} = Helper) ->
    _ = erltrace_nif:stream_end(Nif),
    Helper#helper{status = {stopped, Fired}, gone = true, error = erltrace_compile:reply(Error)};
told(Status, Helper) ->
    Helper#helper{status = Status}.

-spec pid(helper()) -> pid().
pid(#helper{pid = Pid}) -> Pid.

-spec fired(helper()) -> non_neg_integer().
fired(#helper{status = {_, Fired}}) -> Fired.

-spec state(helper()) -> erltrace:state().
state(#helper{status = {State, _}}) -> State.

-spec failure(helper()) -> erltrace_compile:error() | undefined.
failure(#helper{error = Error}) -> Error.
